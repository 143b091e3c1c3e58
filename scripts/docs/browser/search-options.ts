/**
 * What the index of the search holds, for the program that makes it and for the script of a page that reads it.
 */
import type { Options } from 'minisearch'

export const SEARCH_OPTIONS: Options = {
  fields: ['heading', 'title', 'text'],
  storeFields: ['url', 'heading', 'title', 'excerpt'],
}
