/**
 * Estimates how many rows a command may change, before it is applied.
 *
 * Owns: the estimate. Knows nothing of: how it is used. Rules: for a bucket without hooks it is at least the number of rows that apply
 * changes; it reads at most two rows. A view that lags makes it slightly wrong, which only moves the end of a batch.
 */
import type { View } from './base/view.ts'
import {
  AUDIT_SEGMENT_LINKS_MAX,
  AUDIT_SEGMENT_SPOOLS_MAX,
  AUDIT_TRIM_LINKS_MAX,
  AUDIT_TRIM_SEGMENTS_MAX,
} from './audit/records.ts'
import type { BodyRecord } from './bodies/records.ts'
import { presentBucket } from './buckets/find-bucket.ts'
import {
  ACCESS_KEYS_PER_TENANT_MAX,
  ADMIN_SESSIONS_PER_USER_MAX,
  ENDED_SESSIONS_PER_STEP,
} from './tenants/records.ts'
import type { PutBody } from './chunks/commands.ts'
import type { Command } from './commands.ts'
import type { RestoreItem } from './restoring/commands.ts'
import { WORK_PER_STEP } from './bodies/discards.ts'
import { LINKS_PER_PAGE } from './bodies/manifests.ts'
import { PARTS_PER_UPLOAD_PAGE } from './bodies/upload-parts.ts'
import { versionAt } from './versions/versions.ts'

/** Bucket, tenant, usage, version and its neighbours, idempotency answer and its expiry, audit. */
const ROWS_OF_ANY = 24
/** A version that is removed, an answer that expires, a task, a secret: each with its indexes. */
const ROWS_OF_ITEM = 12
/** The row of a chunk, its making row, its place in the queue; tasks and drops are extra. */
const ROWS_OF_CHUNK = 4
const ROWS_OF_COPY = 2
/** A chunk, its place in the queue of condemned chunks, and the manifest of a body of one link. */
const ROWS_OF_LINK = 3
/** Nodes that were listed, or owed a copy, before a chunk is made again. */
const HOLDERS = 8

export function commandCost(view: View, command: Command): number {
  return ROWS_OF_ANY + workOf(view, command)
}

function workOf(view: View, command: Command): number {
  switch (command.type) {
    case 'putObject':
    case 'putPart':
      return costOfStored(command.body)
    case 'copyObject':
      return command.stored === undefined ? costOfCopy(view, command) : costOfStored(command.stored.body)
    case 'completeUpload':
      // A page of the upload and one of the object may be cut at either end.
      return 2 * Math.ceil(command.parts.length / PARTS_PER_UPLOAD_PAGE) + ROWS_OF_ITEM
    case 'releaseDue':
    case 'releaseDiscarded':
      return ROWS_OF_LINK * WORK_PER_STEP + ROWS_OF_ITEM * listed(command)
    case 'trimAudit':
      return 2 * AUDIT_TRIM_LINKS_MAX + ROWS_OF_ITEM * AUDIT_TRIM_SEGMENTS_MAX
    case 'sealAudit':
      return AUDIT_SEGMENT_LINKS_MAX + AUDIT_SEGMENT_SPOOLS_MAX
    case 'resealBodies':
      return costOfChunks(command.chunks) + ROWS_OF_COPY * command.bodies.length
    case 'restoreStep':
      return command.items.reduce((rows, item) => rows + ROWS_OF_ITEM + costOfRestored(item), 0)
    case 'openAdminSession':
      return ROWS_OF_ITEM * (ENDED_SESSIONS_PER_STEP + 1)
    case 'endAdminSessions':
      return ROWS_OF_ITEM * ADMIN_SESSIONS_PER_USER_MAX
    case 'disableTenant':
      return ACCESS_KEYS_PER_TENANT_MAX
    case 'eraseTenant':
      return ROWS_OF_ITEM * listed(command.step)
    default:
      return ROWS_OF_ITEM * listed(command)
  }
}

function costOfRestored(item: RestoreItem): number {
  // A page of the upload and one of the object may be cut at either end.
  if (item.what === 'assembled') return 2 * Math.ceil(item.parts / PARTS_PER_UPLOAD_PAGE) + ROWS_OF_ITEM
  return 'body' in item ? costOfStored(item.body) : 0
}

function costOfStored(body: PutBody): number {
  return body.kind === 'chunks' ? costOfChunks(body.chunks) : 0
}

function costOfChunks(
  chunks: readonly { readonly replicas: readonly string[]; readonly missing: readonly string[] }[],
): number {
  return chunks.reduce(
    (rows, { replicas, missing }) =>
      rows + ROWS_OF_CHUNK + HOLDERS + ROWS_OF_COPY * (replicas.length + missing.length),
    Math.ceil(chunks.length / LINKS_PER_PAGE),
  )
}

/** One row for each chunk that is claimed again, and the manifest pages that name the chunks. */
function costOfCopy(view: View, { tenantId, source }: Extract<Command, { type: 'copyObject' }>): number {
  const from = presentBucket(view, tenantId, source.bucket)
  const found = from.ok ? versionAt(view, from.value.id, source.key, source.versionId) : undefined
  return found?.kind === 'object' ? costOfBody(found.body, found.size) : 0
}

function costOfBody(body: BodyRecord, size: number): number {
  if (body.kind === 'chunks') return body.count + Math.ceil(body.count / LINKS_PER_PAGE)
  // Each part has a manifest, and the last chunk of each may be short.
  return body.kind === 'parts' ? 3 * body.count + Math.ceil(size / BYTES_OF_CHUNK) : 1
}

/** Plain bytes of a full chunk. */
const BYTES_OF_CHUNK = 4 * 1024 * 1024

/** Total length of all lists of a command. */
function listed(command: object): number {
  return Object.values(command).reduce<number>(
    (count, value: unknown) => count + (Array.isArray(value) ? value.length : 0),
    0,
  )
}
