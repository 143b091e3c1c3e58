/**
 * JSON of a page of many lines, written as bytes: a tree of objects for each line costs more than the line.
 *
 * Owns: how head and lists are put together. Knows nothing of: what the lines say.
 */
import { JsonBytes } from './json-bytes.ts'
import type { Answer } from './route.ts'

/** Writes the elements of a list with the commas between them. */
export type JsonList = (into: JsonBytes) => void

/** One page is written at a time, without a wait in between. */
const PAGE = new JsonBytes()

/** `lists` follow the members of `head`, which has at least one. */
export function jsonPage(head: object, lists: Readonly<Record<string, JsonList>>): Answer {
  PAGE.begin()
  PAGE.encoded(JSON.stringify(head).slice(0, -1))
  for (const [name, write] of Object.entries(lists)) {
    PAGE.plain(`,"${name}":[`)
    write(PAGE)
    PAGE.plain(']')
  }
  PAGE.plain('}')
  return { kind: 'ready', contentType: 'application/json', bytes: PAGE.take() }
}

/** `write`: of one line. */
export function jsonLines<L>(lines: readonly L[], write: (line: L, into: JsonBytes) => void): JsonList {
  return (into) => {
    let isFirst = true
    for (const line of lines) {
      if (!isFirst) into.plain(',')
      isFirst = false
      write(line, into)
    }
  }
}

export const jsonTexts = (texts: readonly string[]): JsonList =>
  jsonLines(texts, (text, into) => into.text(text))
