/**
 * The parts that an object was assembled of. [AWS S3 API reference: GetObjectAttributes, `partNumber` of GetObject]
 *
 * Rules: parts are numbered by their place in the object, from 1, whatever they were uploaded under. An object that was not assembled
 * has one part, all of it.
 */
import { BodyGoneError } from '../../content/read-content.ts'
import type { ByteRange } from '../../content/range.ts'
import type { BucketId } from '../../state-machine/base/record-ids.ts'
import type { View } from '../../state-machine/base/view.ts'
import type { Checksums, ObjectPart } from '../../state-machine/bodies/records.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { partAt, partsBehind } from '../../store/reads/object-parts.ts'

export interface DescribedPart {
  readonly number: number
  readonly size: number
  /** Null: the object was assembled below feature level 4, and they were not kept. */
  readonly checksums: Checksums | null
  /** The number it was uploaded under. Null: not kept, or the object was not assembled. */
  readonly uploadedAs: number | null
}

export interface PlacedPart extends DescribedPart {
  readonly range: ByteRange
}

/** Null: it was not assembled. */
export function partCountOf({ body }: Pick<ObjectRecord, 'body'>): number | null {
  return body.kind === 'parts' ? body.count : null
}

/** Null: there is no such part. Throws BodyGoneError when the object was replaced since it was found. */
export function placedPart(
  view: View,
  { bucketId, object }: { readonly bucketId: BucketId; readonly object: ObjectRecord },
  number: number,
): PlacedPart | null {
  const { versionId, size, checksums, body } = object
  if (!Number.isInteger(number) || number < 1 || number > (partCountOf(object) ?? 1)) return null
  if (body.kind !== 'parts')
    return { number, size, checksums, uploadedAs: null, range: { start: 0, end: size } }
  const found = partAt(view, { bucketId, versionId, body }, number)
  if (found === null) throw gone(object)
  const { part, start } = found
  return { ...described(part, number), range: { start, end: start + part.size } }
}

/** Of an assembled object, those behind number `after`. Throws BodyGoneError as above. */
export function describedParts(
  view: View,
  { bucketId, object }: { readonly bucketId: BucketId; readonly object: ObjectRecord },
  { after, limit }: { readonly after: number; readonly limit: number },
): readonly DescribedPart[] {
  const { versionId, body } = object
  if (body.kind !== 'parts') return []
  const parts = partsBehind(view, { bucketId, versionId, body }, { after, limit })
  if (parts === null) throw gone(object)
  return parts.map((part, n) => described(part, after + n + 1))
}

function described({ size, checksums, partNumber }: ObjectPart, number: number): DescribedPart {
  return { number, size, checksums: checksums ?? null, uploadedAs: partNumber ?? null }
}

function gone({ key }: ObjectRecord): BodyGoneError {
  return new BodyGoneError(`Object '${key}' was replaced or deleted while its parts were read`)
}
