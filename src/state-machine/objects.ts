/**
 * Objects: a put replaces what the key held, a delete removes it.
 *
 * Owns: the object row, its inline body or manifest pages, and the order in which chunks are claimed and released.
 * Rule: nothing is written until every chunk the body counts on is known to be safe; the old body goes last.
 */
import { assert } from './assert.ts'
import { bucketOf, countUsage } from './buckets.ts'
import { claimChunks, endedBirths, releaseChunks, unsafeChunks } from './chunks.ts'
import type { ChunkUse, Command, PutBody, PutCommand, ReplyValues } from './commands.ts'
import type { Draft } from './draft.ts'
import { isKeyPart, keys } from './keys.ts'
import { dropManifest, writeManifest } from './manifests.ts'
import type { BodyRecord, BucketRecord, ChunkId, ChunkRecord, ObjectRecord, VersionId } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from './reply.ts'
import { activeTenant } from './tenants.ts'
import { countTenant } from './usage.ts'
import { versionIdAt } from './version-id.ts'
import type { ApplyContext, View } from './view.ts'

interface ChunksGone {
  readonly ok: false
  readonly code: 'chunks_gone'
  readonly message: string
  readonly chunks: readonly ChunkId[]
}

interface SessionEnded {
  readonly ok: false
  readonly code: 'session_ended'
  readonly message: string
  readonly births: readonly string[]
}

export function putObject(
  draft: Draft,
  command: PutCommand,
  context: ApplyContext,
): Accepted<ObjectRecord> | Refused | ChunksGone | SessionEnded {
  const target = bucketFor(draft, command)
  if (!target.ok) return target
  const fault = bodyFault(command)
  if (fault !== null) return refuse('invalid_argument', `Cannot put object: ${fault}`)
  const births = endedBirths(draft, chunksOf(command.body))
  if (births.length > 0) {
    const message = `Cannot put object: the sessions of ${births.length} uploads are closed or not open yet`
    return { ok: false, code: 'session_ended', message, births }
  }
  const chunks = unsafeChunks(draft, command)
  if (chunks.length > 0) {
    const message = `Cannot put object: ${chunks.length} chunks it counts on are gone or have too few copies`
    return { ok: false, code: 'chunks_gone', message, chunks }
  }

  const bucket = target.value
  const old = draft.get(keys.object(bucket.id, command.key))
  const versionId = versionIdAt(context)
  // Claim before release: a chunk that both bodies share must not look unreferenced in between.
  claimChunks(draft, command, context)
  const body = writeBody(draft, bucket, versionId, command.body)
  if (old !== undefined) dropBody(draft, bucket, old, context)
  const object = objectRecord(command, versionId, body, context)
  draft.put(keys.object(bucket.id, command.key), object)
  const replaced = old === undefined ? { objects: 0, bytes: 0 } : { objects: 1, bytes: old.size }
  countUsage(draft, bucket, { objects: 1 - replaced.objects, bytes: object.size - replaced.bytes })
  return accept(object)
}

/** What is not there cannot be deleted, and that is no error: the wish is fulfilled. */
export function deleteObject(
  draft: Draft,
  command: Extract<Command, { type: 'deleteObject' }>,
  context: ApplyContext,
): Accepted<ReplyValues['deleteObject']> | Refused {
  const target = bucketFor(draft, command)
  if (!target.ok) return target
  const bucket = target.value
  const old = draft.get(keys.object(bucket.id, command.key))
  if (old === undefined) return accept({ existed: false })
  dropBody(draft, bucket, old, context)
  draft.remove(keys.object(bucket.id, command.key))
  countUsage(draft, bucket, { objects: -1, bytes: -old.size })
  return accept({ existed: true })
}

function bucketFor(
  view: View,
  command: { readonly tenantId: string; readonly bucket: string; readonly key: string },
): Accepted<BucketRecord> | Refused {
  const tenant = activeTenant(view, command.tenantId)
  if (!tenant.ok) return tenant
  if (!isKeyPart(command.key)) {
    return refuse('invalid_key', 'The object key is empty, holds a NUL or is no valid Unicode')
  }
  return bucketOf(view, command.tenantId, command.bucket)
}

/** What a gateway must never propose: accepting it would lose bytes or count them wrongly. */
function bodyFault(command: PutCommand): string | null {
  const { body, size } = command
  if (!Number.isSafeInteger(size) || size < 0) return `the size ${size} is no number of bytes`
  if (body.kind === 'inline') return size === 0 ? 'an inline body cannot be empty' : null
  const uses = chunksOf(body)
  const sum = uses.reduce((bytes, use) => bytes + use.size, 0)
  if (sum !== size) return `its parts make ${sum} bytes and its size is ${size}`
  if (body.kind === 'chunks' && uses.length === 0) return 'it names no chunk'
  const lost = uses.find((use) => !use.existing && use.replicas.length === 0)
  return lost === undefined ? null : `chunk "${lost.id}" has no durable copy`
}

function chunksOf(body: PutBody): readonly ChunkUse[] {
  return body.kind === 'chunks' ? body.chunks : []
}

function writeBody(draft: Draft, bucket: BucketRecord, versionId: VersionId, body: PutBody): BodyRecord {
  switch (body.kind) {
    case 'empty':
      return { kind: 'empty' }
    case 'inline':
      draft.put(keys.inlineBody(bucket.id, versionId), { sealed: body.sealed })
      countTenant(draft, bucket.tenantId, { inlineBytes: body.sealed.length })
      return { kind: 'inline', chunkId: body.chunkId, sealedSize: body.sealed.length }
    case 'chunks': {
      const links = body.chunks.map(({ id, size }) => ({ id, size }))
      writeManifest(draft, bucket.id, versionId, links)
      const isCompressed = links.some(({ id }) => isSmallerSealed(draft.get(keys.chunk(bucket.tenantId, id))))
      const about = { kind: 'chunks', count: links.length } as const
      return isCompressed ? { ...about, compression: 'zstd' } : about
    }
  }
}

/** Sealing alone only adds: what is smaller than its plain bytes is compressed. */
function isSmallerSealed(chunk: ChunkRecord | undefined): boolean {
  return chunk !== undefined && chunk.sealedSize < chunk.size
}

function dropBody(draft: Draft, bucket: BucketRecord, old: ObjectRecord, context: ApplyContext): void {
  switch (old.body.kind) {
    case 'empty':
      return
    case 'inline':
      draft.remove(keys.inlineBody(bucket.id, old.versionId))
      countTenant(draft, bucket.tenantId, { inlineBytes: -old.body.sealedSize })
      return
    case 'chunks': {
      const links = dropManifest(draft, bucket.id, old.versionId, old.body.count)
      assert(links.length === old.body.count, 'a manifest holds as many links as its object says')
      releaseChunks(draft, bucket.tenantId, links, context)
      return
    }
  }
}

function objectRecord(
  command: PutCommand,
  versionId: VersionId,
  body: BodyRecord,
  context: ApplyContext,
): ObjectRecord {
  const { key, size, etag, contentType, checksums, metadata, masterKeyId } = command
  const lastModified = context.time
  return { key, versionId, size, etag, contentType, lastModified, checksums, metadata, masterKeyId, body }
}
