/**
 * Compares what a restore made with the backup, version by version.
 *
 * Owns: what has to be equal. Knows nothing of: cursors, what becomes of a difference. Rules: everything that is kept is compared, and the bytes are read back from
 * the cluster and have the ids that the backup has for them under the key of its tenant; versions of a key are compared from the newest on, so one that did not come back
 * is passed over, and each version of the cluster must have met its like at the end.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Content } from '../../content/content.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { VersionId } from '../../state-machine/base/record-ids.ts'
import type { View } from '../../state-machine/base/view.ts'
import type { MissingVersion } from '../../state-machine/long-operations/records.ts'
import type { TenantRecord } from '../../state-machine/tenants/records.ts'
import type { ObjectRecord, VersionRecord } from '../../state-machine/versions/records.ts'
import { newestVersion, versionAt } from '../../state-machine/versions/versions.ts'
import type { OpenedSource } from './opened-source.ts'
import type { Checked } from './restore-cursor.ts'
import { factsOf, type Making, missingVersion, prepareBodies } from './restored-items.ts'
import { sealedFault } from './sealed-copies.ts'
import { placeOf } from './version-walk.ts'

/** One step ends behind the version that reaches one of these. */
const STEP_VERSIONS = 256
const STEP_BYTES: number = 32 * 1024 * 1024

export interface Comparing {
  readonly source: Pick<OpenedSource, 'rows' | 'tenant' | 'bodies'>
  /** Of the backup. */
  readonly from: BucketRecord
  /** Of the cluster. */
  readonly bucket: BucketRecord
  readonly tenant: TenantRecord
  readonly state: View
  readonly content: Pick<Content, 'read'>
  readonly sealed: Making['sealed']
  readonly pace: (bytes: number) => Promise<void>
}

export interface Compared {
  /** Null: nothing was left to compare. */
  readonly checked: Checked | null
  readonly equal: number
  /** Versions of the backup without one in the cluster. */
  readonly absent: number
  readonly different: readonly MissingVersion[]
}

/** Throws TargetError, Condition, and what `pace` throws. */
export async function compareVersions(
  walk: AsyncGenerator<VersionRecord>,
  before: Checked | null,
  comparing: Comparing,
): Promise<Compared> {
  const { state, bucket, from } = comparing
  const versions = await nextOf(walk)
  await prepareBodies(versions, comparing.source, from.id)
  let [checked, equal, absent]: [Checked | null, number, number] = [before, 0, 0]
  const different: MissingVersion[] = []
  for (const version of versions) {
    const { key } = version
    const twin =
      checked?.after.key === key
        ? twinAt(state, bucket, key, checked.twin)
        : newestVersion(state, bucket.id, key)
    const isTwin = twin !== undefined && areAlike(version, twin, comparing.tenant)
    const met = (checked?.met ?? 0) + Number(isTwin)
    checked = { after: placeOf(version), twin: (isTwin ? twin.older : twin?.versionId) ?? null, met }
    if (!isTwin) absent += 1
    else {
      const why = await bodyFault(version, twin, comparing)
      if (why === null) equal += 1
      else different.push(missingVersion(from.name, version, why))
    }
  }
  return { checked: checked === before ? null : checked, equal, absent, different }
}

async function nextOf(walk: AsyncGenerator<VersionRecord>): Promise<readonly VersionRecord[]> {
  const versions: VersionRecord[] = []
  let bytes = 0
  for await (const version of walk) {
    versions.push(version)
    bytes += version.kind === 'object' ? version.size : 0
    if (versions.length >= STEP_VERSIONS || bytes >= STEP_BYTES) break
  }
  return versions
}

function twinAt(
  state: View,
  bucket: BucketRecord,
  key: string,
  id: VersionId | null,
): VersionRecord | undefined {
  return id === null ? undefined : versionAt(state, bucket.id, key, id)
}

function areAlike(version: VersionRecord, twin: VersionRecord, tenant: TenantRecord): boolean {
  if (version.kind === 'deleteMarker' || twin.kind === 'deleteMarker')
    return (
      version.kind === twin.kind &&
      version.isNull === twin.isNull &&
      version.lastModified === twin.lastModified
    )
  return isDeepStrictEqual(factsOf(version, tenant), factsOf(twin, tenant))
}

/** Null: the cluster gives the bytes of the backup. */
async function bodyFault(
  version: VersionRecord,
  twin: VersionRecord,
  { source, from, bucket, tenant, content, pace, sealed }: Comparing,
): Promise<string | null> {
  if (version.kind === 'deleteMarker' || twin.kind === 'deleteMarker') return null
  const { size, body, versionId: id } = version
  const at = { bucketId: from.id, id, size }
  if (version.customerSeal !== undefined)
    return sealedFault(at, body, { ...sealed, bodies: source.bodies, tenantId: tenant.id, pace })
  const read = new Reading(
    content.read(
      tenant,
      { bucketId: bucket.id, object: twin as ObjectRecord, pinned: {} },
      { start: 0, end: size },
    ),
  )
  try {
    for await (const piece of source.bodies.pieces(at, body)) {
      await pace(piece.size)
      if (source.bodies.idOf(await read.take(piece.size)) !== piece.id)
        return 'the bytes that were read back are not those of the backup'
    }
    return (await read.take(1)).length === 0 ? null : 'more bytes were read back than the backup has'
  } finally {
    await read.end()
  }
}

/** Bytes in pieces of other sizes than they come in. */
class Reading {
  readonly #source: AsyncIterator<Uint8Array>
  #left: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Fewer at the end. */
  async take(size: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for (let missing = size; missing > 0; ) {
      if (this.#left.length === 0) {
        const { value, done } = await this.#source.next()
        if (done === true) break
        this.#left = Buffer.from(value)
      }
      const piece = this.#left.subarray(0, missing)
      this.#left = this.#left.subarray(piece.length)
      pieces.push(piece)
      missing -= piece.length
    }
    return Buffer.concat(pieces)
  }

  async end(): Promise<void> {
    await this.#source.return?.()
  }
}
