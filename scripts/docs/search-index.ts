/**
 * The index of the search, one entry for each heading, and how both sides split words.
 *
 * Rule: the options here are those of the page's script: an index is only read with the options that it was made with.
 */
import MiniSearch from 'minisearch'
import { SEARCH_OPTIONS } from './browser/search-options.ts'
import type { PageContent } from './html.ts'

const EXCERPT_CHARS = 110
/** Of one heading; what stands further below is not found. */
const TEXT_CHARS_MAX = 20_000

/** As JSON. `pages`: path in the site -> content. */
export function searchIndex(pages: ReadonlyMap<string, PageContent>): string {
  const index = new MiniSearch(SEARCH_OPTIONS)
  let id = 0
  for (const [path, { title, parts }] of pages)
    for (const { anchor, heading, text } of parts) {
      const url = anchor === '' ? path : `${path}#${encodeURIComponent(anchor)}`
      index.add({
        id: id++,
        url,
        heading,
        title,
        text: text.slice(0, TEXT_CHARS_MAX),
        excerpt: text.replace(/\s+/g, ' ').slice(0, EXCERPT_CHARS),
      })
    }
  return JSON.stringify(index)
}
