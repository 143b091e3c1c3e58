/**
 * Walks over the names of a JSON text before it is parsed, and stops at the first that must not be there.
 *
 * JSON.parse keeps the last value of a repeated name silently, and makes objects of whatever is sent; so the text itself has to be walked.
 * Iterative and in one pass: nesting costs memory in proportion to its bounded depth, never stack. What is no JSON at all is left for JSON.parse.
 */
export const JSON_NAMES_MAX = 1000
/** Beside two for each name: no body has lists of more. */
const VALUES_MAX = 20_000
const DEPTH_MAX = 64

export interface NameRules {
  /** A JSON Schema; null: any names. Objects that it closes (`additionalProperties: false`) hold no others than its properties. */
  readonly schema: object | null
  /** In the whole text. */
  readonly namesMax: number
}

export type NameFault =
  | { readonly kind: 'twice' | 'unknown'; readonly name: string; readonly pointer: string }
  | { readonly kind: 'many'; readonly what: 'names' | 'values' }
  | { readonly kind: 'deep' }

/** An open bracket. */
interface Level {
  readonly isObject: boolean
  readonly schema: unknown
  /** The names seen so far; null: none. */
  names: Set<string> | null
  /** What is being read: a name, or an index. */
  at: string | number
}

/** The characters that mean something outside of strings. */
const QUOTE = 0x22
const COMMA = 0x2c
const OPENING = { object: 0x7b, array: 0x5b } as const
const CLOSING = { object: 0x7d, array: 0x5d } as const

export function firstNameFault(text: string, rules: NameRules): NameFault | null {
  const walk = new Walk(rules)
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    let fault: NameFault | null = null
    if (code === QUOTE) {
      const end = endOfString(text, at)
      if (walk.expectsName) {
        const name = unescaped(text.slice(at, end))
        if (name === null) return null
        fault = walk.named(name)
      }
      at = end - 1
    } else if (code === COMMA) fault = walk.separated()
    else if (code === OPENING.object || code === OPENING.array) fault = walk.opened(code === OPENING.object)
    else if (code === CLOSING.object || code === CLOSING.array) walk.closed()
    if (fault !== null) return fault
  }
  return null
}

class Walk {
  readonly #rules: NameRules
  readonly #open: Level[] = []
  #level: Level | undefined
  /** Of the value that comes next. */
  #schema: unknown
  #names = 0
  #values = 0
  /** What is quoted next is a name. */
  expectsName = false

  constructor(rules: NameRules) {
    this.#rules = rules
    this.#schema = rules.schema
  }

  opened(isObject: boolean): NameFault | null {
    if (this.#open.length === DEPTH_MAX) return { kind: 'deep' }
    this.#level = { isObject, schema: this.#schema, names: null, at: 0 }
    this.#open.push(this.#level)
    this.expectsName = isObject
    if (!isObject) this.#schema = memberOf(this.#schema, 'items')
    return this.#valueFault()
  }

  closed(): void {
    this.#open.pop()
    this.#level = this.#open.at(-1)
    this.expectsName = false
  }

  separated(): NameFault | null {
    const level = this.#level
    if (level === undefined) return null
    this.expectsName = level.isObject
    if (typeof level.at === 'number') level.at += 1
    if (!level.isObject) this.#schema = memberOf(level.schema, 'items')
    return this.#valueFault()
  }

  named(name: string): NameFault | null {
    const level = this.#level
    if (level === undefined) return null
    this.#names += 1
    if (level.names?.has(name) === true) return { kind: 'twice', name, pointer: pointerTo(this.#open) }
    if (this.#names > this.#rules.namesMax) return { kind: 'many', what: 'names' }
    if (isUnknown(level.schema, name)) return { kind: 'unknown', name, pointer: pointerTo(this.#open) }
    level.names ??= new Set()
    level.names.add(name)
    level.at = name
    this.#schema = memberOf(level.schema, 'properties', name)
    this.expectsName = false
    return null
  }

  #valueFault(): NameFault | null {
    this.#values += 1
    const isMany = this.#values > VALUES_MAX + 2 * this.#rules.namesMax
    return isMany ? { kind: 'many', what: 'values' } : null
  }
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
