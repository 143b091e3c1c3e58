/**
 * Versions of a backup as items of a step: their bytes are stored in the cluster first.
 *
 * Owns: what a version becomes, how much one step takes. Knows nothing of: cursors, the commit. Rules: bytes are opened with the keys of the backup, compared with the
 * ids that it has for them, and stored as an upload of the destination stores them, under its keys; a version whose bytes are not there whole is named, and the rest
 * comes back.
 */
import type { IngestedBody } from '../../content/content.ts'
import { nodeSource } from '../../content/node-source.ts'
import type { UploadOutcome } from '../../content/uploads.ts'
import type { MissingVersion } from '../../state-machine/long-operations/records.ts'
import type { ObjectPart } from '../../state-machine/bodies/records.ts'
import { bodyKeys } from '../../state-machine/bodies/keys.ts'
import { chunkKeys } from '../../state-machine/chunks/keys.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { RestoredFacts, RestoreItem } from '../../state-machine/restoring/commands.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { ObjectRecord, VersionRecord } from '../../state-machine/versions/records.ts'
import type { Content } from '../../content/content.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { RowKey } from '../../state-machine/base/row-key.ts'
import { type BodyAt, PieceMissing } from './source-bodies.ts'
import type { OpenedSource } from './opened-source.ts'
import { copySealed, type SealedCopying } from './sealed-copies.ts'

/** One step ends behind the item that reaches one of these. */
const STEP_ITEMS = 64
const STEP_BYTES: number = 16 * 1024 * 1024
/** Bodies that are stored at the same time. */
const AT_ONCE = 8

export interface Making {
  readonly source: OpenedSource
  readonly bucket: BucketRecord
  /** Of the destination. */
  readonly tenant: TenantRecord
  readonly content: Pick<Content, 'ingest'>
  /** For bodies that only their clients can open. */
  readonly sealed: Omit<SealedCopying, 'bodies' | 'tenantId' | 'pace'>
  readonly signal: AbortSignal
  /** Resolves when so many bytes more may be read. Throws when the work is not wanted any more. */
  readonly pace: (bytes: number) => Promise<void>
}

/** What a step commits. `end`: call it after the last proposal of the items. */
export interface MadeItems {
  readonly items: readonly RestoreItem[]
  readonly missing: readonly MissingVersion[]
  /** Plain ones of the items. */
  readonly bytes: number
  readonly end: (outcome: UploadOutcome) => void
}

/** The versions of the next step, up to the first that is assembled of parts, which needs steps of its own. */
export async function nextVersions(walk: AsyncGenerator<VersionRecord>): Promise<{
  readonly versions: readonly VersionRecord[]
  /** Null: none comes now. */
  readonly assembled: ObjectRecord | null
}> {
  const versions: VersionRecord[] = []
  let bytes = 0
  for await (const version of walk) {
    if (version.kind === 'object' && version.body.kind === 'parts') return { versions, assembled: version }
    versions.push(version)
    bytes += version.kind === 'object' ? version.size : 0
    if (versions.length >= STEP_ITEMS || bytes >= STEP_BYTES) break
  }
  return { versions, assembled: null }
}

/** Throws TargetError when the target is away, Condition, and what `pace` throws. */
export async function versionItems(versions: readonly VersionRecord[], making: Making): Promise<MadeItems> {
  await prepareBodies(versions, making.source, making.bucket.id)
  const made = await inTurns(versions, (version) => itemOf(version, making))
  return gathered(made)
}

/** Parts of an assembled object from number `first` on, counted from 0. Throws as `versionItems`, and PieceMissing. */
export async function partItems(object: ObjectRecord, first: number, making: Making): Promise<MadeItems> {
  if (object.body.kind !== 'parts') throw new Error('only an assembled object has parts')
  const { source, bucket } = making
  const parts: ObjectPart[] = []
  let bytes = 0
  const at = { bucketId: bucket.id, id: object.versionId, size: object.size }
  for await (const part of source.bodies.objectParts(at, object.body.count, first)) {
    parts.push(part)
    bytes += part.size
    if (parts.length >= STEP_ITEMS || bytes >= STEP_BYTES) break
  }
  const made = await inTurns(parts, async (part, n): Promise<Made> => {
    const { partId: id, size, body, checksums = {} } = part
    const { key } = object
    const stored = await storedBody(object, { bucketId: bucket.id, id, size }, body, making)
    return {
      item: { what: 'part', key, partNumber: first + n + 1, size, checksums, body: stored.body },
      bytes: size,
      end: stored.end,
    }
  })
  return gathered(made)
}

/** What the backup says of an object, as it is kept. */
export function factsOf(
  object: ObjectRecord,
  { masterKeyId }: Pick<TenantRecord, 'masterKeyId'>,
): RestoredFacts {
  const { key, isNull, lastModified, size, etag, contentType, checksums, composite, metadata } = object
  const { representation, customerSeal, tags, retention, legalHold } = object
  return {
    key,
    isNull,
    lastModified,
    size,
    etag,
    contentType,
    checksums,
    metadata,
    masterKeyId,
    tags,
    retention,
    legalHold,
    ...(composite === undefined ? {} : { composite }),
    ...(representation === undefined ? {} : { representation }),
    ...(customerSeal === undefined ? {} : { customerSeal }),
  }
}

export function missingVersion(bucket: string, version: VersionRecord, why: string): MissingVersion {
  const { key, versionId, isNull, newer } = version
  return {
    bucket,
    key,
    versionId: isNull ? 'null' : versionId,
    isLatest: newer === null,
    why: why.slice(0, 256),
  }
}

type Made =
  | { readonly item: RestoreItem; readonly bytes: number; readonly end: IngestedBody['end'] }
  | { readonly missing: MissingVersion }

async function itemOf(version: VersionRecord, making: Making): Promise<Made> {
  const { key, isNull, lastModified } = version
  if (version.kind === 'deleteMarker')
    return { item: { what: 'marker', key, isNull, lastModified }, bytes: 0, end: () => undefined }
  const { bucket, tenant } = making
  const at = { bucketId: bucket.id, id: version.versionId, size: version.size }
  try {
    const { body, end } = await storedBody(version, at, version.body, making)
    return { item: { what: 'version', ...factsOf(version, tenant), body }, bytes: version.size, end }
  } catch (error) {
    if (!(error instanceof PieceMissing)) throw error
    return { missing: missingVersion(bucket.name, version, error.message) }
  }
}

/** Of a piece of this object, or of all of it. */
async function storedBody(
  { customerSeal }: Pick<ObjectRecord, 'customerSeal'>,
  at: BodyAt,
  body: ObjectRecord['body'],
  making: Making,
): Promise<Pick<IngestedBody, 'body' | 'end'>> {
  const { source, tenant, content, signal, pace, sealed } = making
  if (customerSeal !== undefined)
    return copySealed(at, body, { ...sealed, bodies: source.bodies, tenantId: tenant.id, pace })
  let fault: unknown = null
  const pieces = nodeSource(
    (async function* () {
      try {
        for await (const piece of source.bodies.pieces(at, body)) {
          await pace(piece.size)
          yield await source.bodies.plain(piece)
        }
      } catch (error) {
        fault = error
        throw error
      }
    })(),
  )
  try {
    const caller = { tenantId: tenant.id, accessKeyId: 'restore', address: '' }
    const about = { expectedSize: at.size, sizeMax: at.size, claimed: new Map(), signal }
    return await content.ingest({ tenant, caller, source: pieces, ...about })
  } catch (error) {
    throw fault ?? error
  } finally {
    // The upload may have ended before the source did.
    await pieces.return(undefined)
  }
}

/** The rows that the bodies need, first those that name chunks and then those of the chunks. */
export async function prepareBodies(
  versions: readonly VersionRecord[],
  { rows, tenant }: Pick<OpenedSource, 'rows' | 'tenant'>,
  bucketId: BucketId,
): Promise<void> {
  const ofBodies = versions.flatMap(({ versionId, ...version }): readonly RowKey[] => {
    if (version.kind === 'deleteMarker') return []
    if (version.body.kind === 'inline') return [bodyKeys.inlineBody(bucketId, versionId)]
    return version.body.kind === 'chunks' ? [bodyKeys.manifestPage(bucketId, versionId, 0)] : []
  })
  await rows.prepare(ofBodies)
  const ofChunks: RowKey[] = []
  for (const version of versions) {
    if (version.kind === 'deleteMarker' || version.body.kind !== 'chunks') continue
    const page = await rows.get(bodyKeys.manifestPage(bucketId, version.versionId, 0))
    for (const { id } of page?.links ?? []) ofChunks.push(chunkKeys.chunk(tenant.id, id))
  }
  await rows.prepare([...ofBodies, ...ofChunks])
}

/** All have settled when it resolves or throws: what was stored for the others is given up then. */
async function inTurns<T>(
  all: readonly T[],
  make: (one: T, n: number) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = []
  const left = [...all.entries()]
  const faults: unknown[] = []
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined && faults.length === 0; next = left.shift()) {
      const [n, one] = next
      try {
        made[n] = await make(one, n)
      } catch (error) {
        faults.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, all.length) }, work))
  if (faults.length === 0) return made
  for (const one of made) if (one !== undefined && 'end' in one) one.end('known')
  throw faults[0]
}

function gathered(made: readonly Made[]): MadeItems {
  const whole = made.flatMap((one) => ('item' in one ? [one] : []))
  return {
    items: whole.map(({ item }) => item),
    missing: made.flatMap((one) => ('missing' in one ? [one.missing] : [])),
    bytes: whole.reduce((sum, { bytes }) => sum + bytes, 0),
    end: (outcome) => {
      for (const one of whole) one.end(outcome)
    },
  }
}
