/**
 * Manifests: which chunks make up a body, in pages.
 *
 * Owns: the paging of links. Rule: a page is never rewritten; it is written with its version and removed with it.
 */
import { assert } from './assert.ts'
import type { Draft } from './draft.ts'
import { keys } from './keys.ts'
import type { BucketId, ChunkLink, VersionId } from './records.ts'

export const LINKS_PER_PAGE = 1024

export function writeManifest(
  draft: Draft,
  bucket: BucketId,
  version: VersionId,
  links: readonly ChunkLink[],
): void {
  for (let page = 0; page * LINKS_PER_PAGE < links.length; page++) {
    const first = page * LINKS_PER_PAGE
    draft.put(keys.manifestPage(bucket, version, page), { links: links.slice(first, first + LINKS_PER_PAGE) })
  }
}

/** Removes the pages and returns the links that stood in them. */
export function dropManifest(
  draft: Draft,
  bucket: BucketId,
  version: VersionId,
  count: number,
): readonly ChunkLink[] {
  const links: ChunkLink[] = []
  for (let page = 0; page * LINKS_PER_PAGE < count; page++) {
    const key = keys.manifestPage(bucket, version, page)
    const row = draft.get(key)
    assert(row !== undefined, 'every page of a manifest lives as long as its object')
    links.push(...row.links)
    draft.remove(key)
  }
  return links
}
