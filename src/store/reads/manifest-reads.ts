/** Bounded reads of manifests: some links of one body, or pages of all bodies of a bucket. */
import assert from 'node:assert/strict'
import type { BucketId, VersionId } from '../../state-machine/base/record-ids.ts'
import type { View } from '../../state-machine/base/view.ts'
import { bodyKeys, bodyRanges, manifestNameIn } from '../../state-machine/bodies/keys.ts'
import { LINKS_PER_PAGE } from '../../state-machine/bodies/manifests.ts'
import type { ChunkLink } from '../../state-machine/chunks/records.ts'
import type { RowReader } from './state-reader.ts'

/**
 * Links number `first`..`first + count - 1`; whole page rows are read. Fewer links come back where the manifest ends, and none once
 * its object was replaced or deleted.
 */
export function manifestLinks(
  view: View,
  { bucketId, versionId }: { readonly bucketId: BucketId; readonly versionId: VersionId },
  first: number,
  count: number,
): readonly ChunkLink[] {
  assert(first >= 0 && count >= 0 && count <= LINKS_PER_PAGE, 'a manifest is read in bounded steps')
  const firstPage = Math.floor(first / LINKS_PER_PAGE)
  const links: ChunkLink[] = []
  for (let page = firstPage; page * LINKS_PER_PAGE < first + count; page++) {
    const row = view.get(bodyKeys.manifestPage(bucketId, versionId, page))
    if (row === undefined) break
    links.push(...row.links)
  }
  const skipped = first - firstPage * LINKS_PER_PAGE
  return links.slice(skipped, skipped + count)
}

/** Links number `page * LINKS_PER_PAGE` and on of the body `version`. */
export interface ManifestPage {
  readonly version: VersionId
  readonly page: number
  readonly links: readonly ChunkLink[]
}

/** Of all bodies of a bucket, in the order of their ids, from one page of one body on. */
export async function manifestPages(
  state: RowReader,
  bucket: BucketId,
  { version, page }: { readonly version: VersionId; readonly page: number },
  limit: number,
): Promise<readonly ManifestPage[]> {
  const { start, end } = bodyRanges.manifestPages(bucket)
  const from = version === '' ? start : bodyKeys.manifestPage(bucket, version, page)
  const range: ReturnType<typeof bodyRanges.manifestPages> = { start: from, end }
  const { items, names } = await state.page(range, { limit })
  return items.map(({ links }, n) => ({ ...manifestNameIn(names[n] ?? ''), links }))
}
