/**
 * Manifests: the chunks of a body, in pages.
 *
 * Owns: the paging of links. Rule: a page does not change while a row names its body; afterwards the last page shrinks until
 * it is gone.
 */
import { bodyKeys } from './keys.ts'
import type { View } from '../base/view.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import type { BucketId, VersionId } from '../base/record-ids.ts'
import type { ChunkLink } from '../chunks/records.ts'

export const LINKS_PER_PAGE = 1024

export function writeManifest(
  draft: Draft,
  bucket: BucketId,
  version: VersionId,
  links: readonly ChunkLink[],
): void {
  for (let page = 0; page * LINKS_PER_PAGE < links.length; page++) {
    const first = page * LINKS_PER_PAGE
    draft.put(bodyKeys.manifestPage(bucket, version, page), {
      links: links.slice(first, first + LINKS_PER_PAGE),
    })
  }
}

export function readManifest(
  view: View,
  bucket: BucketId,
  version: VersionId,
  count: number,
): readonly ChunkLink[] {
  const links: ChunkLink[] = []
  for (let page = 0; page * LINKS_PER_PAGE < count; page++) {
    const row = view.get(bodyKeys.manifestPage(bucket, version, page))
    assert(row !== undefined, 'every page of a manifest lives as long as its body')
    links.push(...row.links)
  }
  return links
}

/** Removes links from the end of a manifest of `count` links, at most `most` and only from one page; returns them. */
export function cutManifest(
  draft: Draft,
  {
    bucketId,
    bodyId,
    count,
  }: { readonly bucketId: BucketId; readonly bodyId: VersionId; readonly count: number },
  most: number,
): readonly ChunkLink[] {
  const key = bodyKeys.manifestPage(bucketId, bodyId, Math.ceil(count / LINKS_PER_PAGE) - 1)
  const row = draft.get(key)
  assert(row !== undefined, 'every page of a manifest lives as long as its body')
  const left = row.links.slice(0, Math.max(0, row.links.length - most))
  if (left.length === 0) draft.remove(key)
  else draft.put(key, { links: left })
  return row.links.slice(left.length)
}

/** Removes all pages and returns their links. */
export function dropManifest(
  draft: Draft,
  bucket: BucketId,
  version: VersionId,
  count: number,
): readonly ChunkLink[] {
  const links = readManifest(draft, bucket, version, count)
  for (let page = 0; page * LINKS_PER_PAGE < count; page++)
    draft.remove(bodyKeys.manifestPage(bucket, version, page))
  return links
}
