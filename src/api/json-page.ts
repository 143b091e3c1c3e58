/**
 * JSON of a page of many lines, written as text: a tree of objects for each line costs more than the line.
 *
 * Owns: how head and lists are put together. Knows nothing of: what the lines say.
 */
import type { Answer } from './route.ts'

/** `lists`: for each member, its elements as JSON; they follow those of `head`, which has at least one. */
export function jsonPage(head: object, lists: Readonly<Record<string, readonly string[]>>): Answer {
  let text = JSON.stringify(head).slice(0, -1)
  for (const [name, elements] of Object.entries(lists)) text += `,"${name}":[${elements.join(',')}]`
  return { kind: 'ready', contentType: 'application/json', bytes: Buffer.from(`${text}}`, 'utf8') }
}

export const jsonTexts = (texts: readonly string[]): readonly string[] =>
  texts.map((text) => JSON.stringify(text))
