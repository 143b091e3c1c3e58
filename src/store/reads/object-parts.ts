/**
 * Bounded reads of the parts of an assembled object.
 *
 * Owns: which pages hold them. Rule: the pages of an object go when it is replaced or deleted; a reader reads them in the cut of
 * its version, or is prepared for null.
 */
import assert from 'node:assert/strict'
import type { BucketId, VersionId } from '../../state-machine/base/record-ids.ts'
import type { View } from '../../state-machine/base/view.ts'
import { PARTS_PER_PAGE } from '../../state-machine/bodies/bodies.ts'
import { bodyKeys } from '../../state-machine/bodies/keys.ts'
import type { ObjectPart } from '../../state-machine/bodies/records.ts'

export interface PartsPlace {
  readonly bucketId: BucketId
  readonly versionId: VersionId
  /** Of the whole object. */
  readonly count: number
}

/** Parts number `after + 1` to `after + limit`, counted from 1; fewer at the end. Null: the object is gone. */
export function partsBehind(
  view: View,
  { bucketId, versionId, count }: PartsPlace,
  { after, limit }: { readonly after: number; readonly limit: number },
): readonly ObjectPart[] | null {
  assert(after >= 0 && limit >= 0 && limit <= PARTS_PER_PAGE, 'parts are read in bounded steps')
  const end = Math.min(after + limit, count)
  const firstPage = Math.floor(after / PARTS_PER_PAGE)
  const parts: ObjectPart[] = []
  for (let page = firstPage; page * PARTS_PER_PAGE < end; page++) {
    const row = view.get(bodyKeys.partPage(bucketId, versionId, page))
    if (row === undefined) return null
    parts.push(...row.parts)
  }
  const skipped = after - firstPage * PARTS_PER_PAGE
  return parts.slice(skipped, skipped + Math.max(0, end - after))
}

/** Where part `number`, from 1 to the count, starts: the sizes of all before it are summed up, at most PARTS_MAX. Null: the object is gone. */
export function partAt(
  view: View,
  place: PartsPlace,
  number: number,
): { readonly part: ObjectPart; readonly start: number } | null {
  assert(number >= 1 && number <= place.count, 'there is such a part')
  let start = 0
  for (let after = 0; ; after += PARTS_PER_PAGE) {
    const parts = partsBehind(view, place, { after, limit: PARTS_PER_PAGE })
    // The last page becomes shorter while a removed object is released.
    if (parts === null || parts.length === 0) return null
    const index = number - 1 - after
    for (const { size } of parts.slice(0, Math.min(index, PARTS_PER_PAGE))) start += size
    const part = parts[index]
    if (part !== undefined) return { part, start }
  }
}
