/**
 * Texts of fields as values, and back. Pure.
 *
 * Rule: an empty field is no value; what is no value is an InputError with the name of the field.
 */
import { TEXT } from '../words/strings.ts'
import { InputError } from './input-error.ts'

const SAYS = TEXT.rules

/** A whole number of zero or more. */
export function wholeOf(text: string, field: string): number | undefined {
  const given = text.trim()
  if (given === '') return undefined
  const value = Number(given)
  if (!/^\d+$/.test(given) || !Number.isSafeInteger(value)) throw new InputError(SAYS.noNumber(field, given))
  return value
}

/** `name=value` with commas between them; undefined: none. */
export function tagsOf(text: string): Readonly<Record<string, string>> | undefined {
  const pairs = listOf(text)
  if (pairs.length === 0) return undefined
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new InputError(SAYS.noTag(pair))
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    }),
  )
}

export const textOfTags = (tags: Readonly<Record<string, string>> = {}): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')

/** Texts with commas between them. */
export const listOf = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
