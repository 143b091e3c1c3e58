/**
 * What handlers of the S3 API take out of XML bodies, and what they refuse in them.
 *
 * Rule: an element that a handler does not know is refused by its name, because a client that sends it relies on it.
 */
import { S3Fault } from './s3-errors.ts'
import type { S3Call, S3Facts } from './s3-route.ts'
import type { ReadElement } from '../xml/read-xml.ts'
import { MalformedXmlError } from '../xml/read-xml.ts'

/** As with S3, of configurations of a bucket. */
const CONFIGURATION_BYTES_MAX = 64 * 1024
const CONFIGURATION_ELEMENTS_MAX = 10_000
const SHOWN = 80

export function configurationBody(root: string, isRequired = true): NonNullable<S3Facts['body']> {
  const bounds = { bytesMax: CONFIGURATION_BYTES_MAX, elementsMax: CONFIGURATION_ELEMENTS_MAX }
  return { kind: 'xml', root, isRequired, ...bounds }
}

/** The root, of routes whose body is required. */
export function bodyOf({ xml }: S3Call): ReadElement {
  if (xml === null) throw new MalformedXmlError('The body is empty')
  return xml
}

/** Throws S3Fault NotImplemented. */
export function takeOnly(parent: ReadElement, names: readonly string[]): void {
  const other = parent.children.find(({ name }) => !names.includes(name))
  if (other === undefined) return
  throw new S3Fault(
    'NotImplemented',
    `The element ${other.name.slice(0, SHOWN)} of ${parent.name} is not supported; it is refused rather than ignored`,
  )
}

/** The trimmed text of the one child. Throws MalformedXmlError when it is not there or none of these. */
export function oneOf<T extends string>(parent: ReadElement, name: string, values: readonly T[]): T {
  const text = parent.needed(name).text.trim()
  const found = values.find((value) => value === text)
  if (found !== undefined) return found
  throw new MalformedXmlError(
    `${name} is "${text.slice(0, SHOWN)}": expected ${values.length === 1 ? '' : 'one of '}${values.join(', ')}`,
  )
}

/** The texts of all children of this name, trimmed. */
export function textsOf(parent: ReadElement, name: string): readonly string[] {
  return parent.childrenNamed(name).map(({ text }) => text.trim())
}

/** Null: there is no such child. Throws MalformedXmlError for what is no whole number. */
export function countIn(parent: ReadElement, name: string): number | null {
  const text = parent.textOf(name)?.trim() ?? null
  if (text === null) return null
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  throw new MalformedXmlError(`${name} is "${text.slice(0, SHOWN)}": expected a whole number`)
}

/** Null: there is no such child. Throws MalformedXmlError where there is more than one. */
export function onlyChild(parent: ReadElement, name: string): ReadElement | null {
  const [first = null, ...more] = parent.childrenNamed(name)
  if (more.length > 0)
    throw new MalformedXmlError(`${parent.name} has more than one ${name}: expected one at most`)
  return first
}

/** The tags of a filter, in their order. */
export function tagsIn(parent: ReadElement): readonly (readonly [name: string, value: string])[] {
  return parent.childrenNamed('Tag').map((tag) => {
    takeOnly(tag, ['Key', 'Value'])
    return [tag.needed('Key').text, tag.needed('Value').text]
  })
}

/**
 * Where the conditions of a rule are: a filter has one, or several inside `And`. Null: there is no filter. Throws MalformedXmlError, S3Fault
 * NotImplemented.
 */
export function filterConditions(rule: ReadElement, conditions: readonly string[]): ReadElement | null {
  const filter = onlyChild(rule, 'Filter')
  if (filter === null) return null
  if (rule.textOf('Prefix') !== null)
    throw new MalformedXmlError('Rule has Filter and Prefix: expected one of them')
  takeOnly(filter, [...conditions, 'And'])
  if (filter.children.length > 1)
    throw new MalformedXmlError('Filter has more than one condition: expected them inside And')
  const all = onlyChild(filter, 'And')
  if (all === null) return filter
  takeOnly(all, conditions)
  return all
}
