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
import type { AssembledRecord, ObjectPart } from '../../state-machine/bodies/records.ts'

export interface PartsPlace {
  readonly bucketId: BucketId
  readonly versionId: VersionId
  readonly body: AssembledRecord
}

/** Parts number `after + 1` to `after + limit`, counted from 1; fewer at the end. Null: the object is gone. */
export function partsBehind(
  view: View,
  { bucketId, versionId, body }: PartsPlace,
  { after, limit }: { readonly after: number; readonly limit: number },
): readonly ObjectPart[] | null {
  assert(after >= 0 && limit >= 0 && limit <= PARTS_PER_PAGE, 'parts are read in bounded steps')
  const end = Math.min(after + limit, body.count)
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

/** Where a page of parts starts, in bytes of the object. */
export interface PageStart {
  readonly page: number
  readonly start: number
}

/** The page that holds a byte, or the first one if the object was assembled before the starts of its pages were kept. */
export function pageWithByte({ pageStarts = [] }: AssembledRecord, position: number): PageStart {
  const page = pageStarts.filter((start) => start <= position).length
  return { page, start: pageStarts[page - 1] ?? 0 }
}

/** Where part `number` lies, from 1 to the count. Null: the object is gone. Reads one page, of an older object all before it too. */
export function partAt(
  view: View,
  place: PartsPlace,
  number: number,
): { readonly part: ObjectPart; readonly start: number } | null {
  const { count, pageStarts } = place.body
  assert(number >= 1 && number <= count, 'there is such a part')
  const pageOfPart = Math.floor((number - 1) / PARTS_PER_PAGE)
  let { page, start }: PageStart = { page: 0, start: 0 }
  if (pageStarts !== undefined) [page, start] = [pageOfPart, pageStarts[pageOfPart - 1] ?? 0]
  for (; page <= pageOfPart; page++) {
    const after = page * PARTS_PER_PAGE
    const parts = partsBehind(view, place, { after, limit: PARTS_PER_PAGE })
    if (parts === null) return null
    const index = number - 1 - after
    for (const { size } of parts.slice(0, Math.min(index, PARTS_PER_PAGE))) start += size
    const part = parts[index]
    if (part !== undefined) return { part, start }
  }
  // The last page becomes shorter while a removed object is released.
  return null
}
