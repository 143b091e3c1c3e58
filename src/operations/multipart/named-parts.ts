/**
 * The parts that a completion names: their list as the client sent it, and the records behind it.
 *
 * Owns: the early look, page by page. Apply looks again; a list that is in order here can still be refused there.
 */
import { createHash } from 'node:crypto'
import { Refusal } from '../../base/refusal.ts'
import { PART_TAG } from '../../content/etag.ts'
import { PARTS_MAX } from '../../state-machine/objects/limits.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { ChecksumAlgorithm, PartRecord } from '../../state-machine/bodies/records.ts'
import type { Services } from '../base/services.ts'
import { pageOfParts } from '../../store/reads/part-listing.ts'

export interface NamedPart {
  readonly partNumber: number
  readonly etag: string
  /** Digests that the client claims of this part. Absent: none. */
  readonly claimed?: ReadonlyMap<ChecksumAlgorithm, Uint8Array>
}

/** A tag of a part as a client may write it. */
export const PART_TAG_PATTERN = '^([0-9a-f]{32}(-1)?|"[0-9a-f]{32}(-1)?")$'
const PAGE_PARTS = 1000

/** With bare tags. Throws Refusal invalid_request, invalid_part_order, invalid_part. */
export function checkPartList(parts: readonly NamedPart[]): readonly NamedPart[] {
  if (parts.length === 0 || parts.length > PARTS_MAX)
    throw new Refusal(
      'invalid_request',
      `Cannot complete the upload: name 1 to ${PARTS_MAX} parts, not ${parts.length}`,
    )
  let before = 0
  return parts.map(({ partNumber, etag, ...others }) => {
    if (partNumber <= before)
      throw new Refusal(
        'invalid_part_order',
        `Part ${partNumber} comes after part ${before}: name the parts in ascending order, each once`,
      )
    before = partNumber
    const bare = etag.replace(/^"(.*)"$/, '$1')
    if (PART_TAG.test(bare)) return { partNumber, etag: bare, ...others }
    throw new Refusal(
      'invalid_part',
      `Part ${partNumber} is named with "${etag.slice(0, 64)}", which is no etag of a part: give the one that its upload answered`,
    )
  })
}

/** Of two lists that differ in a number or a tag it differs. Hex SHA-256 of their JSON. */
export function fingerprintOfParts(parts: readonly NamedPart[]): string {
  const named = parts.map(({ partNumber, etag }) => [partNumber, etag])
  return createHash('sha256').update(JSON.stringify(named)).digest('hex')
}

/** In the order of the list; or what is not as named, returned because the caller may know better. */
export async function namedParts(
  services: Services,
  bucketId: BucketId,
  { uploadId, parts }: { readonly uploadId: string; readonly parts: readonly NamedPart[] },
): Promise<readonly PartRecord[] | Refusal> {
  const records: PartRecord[] = []
  let named = 0
  for (let after: number | null = 0; after !== null && named < parts.length; ) {
    const page = await pageOfParts(services.state, { bucketId, uploadId }, { after, limit: PAGE_PARTS })
    for (const record of page.parts) {
      const wanted = parts[named]
      if (wanted === undefined) return records
      if (record.partNumber < wanted.partNumber) continue
      if (record.partNumber > wanted.partNumber) return neverUploaded(wanted)
      const fault = partFault(record, wanted)
      if (fault !== null) return fault
      records.push(record)
      named++
    }
    after = page.next
  }
  const missing = parts[named]
  return missing === undefined ? records : neverUploaded(missing)
}

function partFault({ partNumber, etag, checksums }: PartRecord, wanted: NamedPart): Refusal | null {
  if (etag !== wanted.etag)
    return new Refusal('invalid_part', `Part ${partNumber} has the etag "${etag}", not "${wanted.etag}"`)
  for (const [algorithm, claim] of wanted.claimed ?? []) {
    const claimed = Buffer.from(claim).toString('base64')
    const known = checksums[algorithm]
    if (known === claimed) continue
    const has = known === undefined ? `no ${algorithm} checksum` : `the ${algorithm} checksum '${known}'`
    return new Refusal('invalid_part', `Part ${partNumber} has ${has}, not the claimed '${claimed}'`)
  }
  return null
}

function neverUploaded({ partNumber }: NamedPart): Refusal {
  return new Refusal('invalid_part', `Part ${partNumber} was never uploaded`)
}
