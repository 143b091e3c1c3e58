/**
 * Walks over the names of a JSON text before it is parsed, and stops at the first that must not be there.
 *
 * JSON.parse keeps the last value of a repeated name silently, and makes objects of whatever is sent; so the text itself has to be walked.
 * Iterative and in one pass: nesting costs memory in proportion to its bounded depth, never stack. What is no JSON at all is left for JSON.parse.
 */
export const JSON_NAMES_MAX = 1000
const DEPTH_MAX = 64

export interface NameRules {
  /** A JSON Schema; null: any names. Objects that it closes (`additionalProperties: false`) hold no others than its properties. */
  readonly schema: object | null
  /** In the whole text. */
  readonly namesMax: number
}

export type NameFault =
  | { readonly kind: 'twice' | 'unknown'; readonly name: string; readonly pointer: string }
  | { readonly kind: 'many' | 'deep' }

/** An open bracket. */
interface Level {
  /** The names seen so far; null inside of an array. */
  readonly names: Set<string> | null
  readonly schema: unknown
  /** What is being read: a name, or an index. */
  at: string | number
}

export function firstNameFault(text: string, { schema, namesMax }: NameRules): NameFault | null {
  const open: Level[] = []
  let next: unknown = schema
  let expectsName = false
  let count = 0
  let at = 0
  while (at < text.length) {
    const character = text[at]
    const level = open.at(-1)
    if (character === '"') {
      const end = endOfString(text, at)
      if (expectsName && level?.names) {
        const name = unescaped(text.slice(at, end))
        if (name === null) return null
        count += 1
        if (level.names.has(name)) return { kind: 'twice', name, pointer: pointerTo(open) }
        if (count > namesMax) return { kind: 'many' }
        if (isUnknown(level.schema, name)) return { kind: 'unknown', name, pointer: pointerTo(open) }
        level.names.add(name)
        level.at = name
        next = memberOf(level.schema, 'properties', name)
        expectsName = false
      }
      at = end
      continue
    }
    if (character === '{' || character === '[') {
      if (open.length === DEPTH_MAX) return { kind: 'deep' }
      open.push({ names: character === '{' ? new Set() : null, schema: next, at: 0 })
      expectsName = character === '{'
      if (!expectsName) next = memberOf(next, 'items')
    } else if (character === '}' || character === ']') {
      open.pop()
      expectsName = false
    } else if (character === ',' && level !== undefined) {
      expectsName = level.names !== null
      if (typeof level.at === 'number') level.at += 1
      if (!expectsName) next = memberOf(level.schema, 'items')
    }
    at += 1
  }
  return null
}

function memberOf(schema: unknown, ...path: readonly string[]): unknown {
  let found = schema
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return null
    found = (found as Readonly<Record<string, unknown>>)[name]
  }
  return found
}

function isUnknown(schema: unknown, name: string): boolean {
  return memberOf(schema, 'additionalProperties') === false && memberOf(schema, 'properties', name) === null
}

/** Of the object that is being read. [RFC 6901] */
function pointerTo(open: readonly Level[]): string {
  return open
    .slice(0, -1)
    .map(({ at }) => `/${at}`)
    .join('')
}

/** Because "a" and "\u0061" are the same name; null: it is no text. */
function unescaped(quoted: string): string | null {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return String(JSON.parse(quoted))
  } catch {
    return null
  }
}

/** Index after the closing quote of the string that opens at `at`. */
function endOfString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first -= 1
  return (at - first) % 2 === 1
}
