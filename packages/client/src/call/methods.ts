/**
 * What a method of a client does with its arguments: an input with options in camel case becomes a call.
 *
 * Owns: where each option is sent, and what is said of one that does not exist. Knows nothing of: any operation; the generated
 * tables define them. Rules: a wrong option is refused before anything is sent; text in headers is sent as UTF-8.
 */
import type { ApiAnswer, CallOptions } from './api-client.ts'
import { ArgumentError } from './errors.ts'
import type { Call, OptionPlace, Route } from './operation.ts'
import { closest } from './closest.ts'

/** The second argument of every method. */
export interface MethodOptions extends CallOptions {
  /** Called with the status, the request id and the headers of the answer, before the method returns. */
  readonly onAnswer?: (answer: Omit<ApiAnswer<unknown>, 'answer'>) => void
}

type Input = Readonly<Record<string, unknown>>

/** Throws ArgumentError for an option that the operation does not have, or one that is missing. */
export function callOf(operation: string, route: Route, input: object = {}): Call {
  const params: Record<string, string> = {}
  const query: Record<string, string | number | boolean> = {}
  const headers: Record<string, string> = {}
  const fields: Record<string, unknown> = {}
  let body: unknown
  for (const [name, value] of Object.entries(input as Input)) {
    if (value === undefined) continue
    const place = Object.hasOwn(route.options, name) ? route.options[name] : undefined
    if (place !== undefined) {
      if (place.in === 'header') Object.assign(headers, headersOf(operation, name, place, value))
      else if (place.in === 'query') query[place.name] = plain(operation, name, value)
      else params[place.name] = String(plain(operation, name, value))
    } else if (route.body === 'json' && route.fields.includes(name)) fields[name] = value
    else if (route.body === 'bytes' && name === 'body') body = value
    else throw new ArgumentError(unknownOption(operation, route, name))
  }
  for (const [name, place] of Object.entries(route.options))
    if (place.required === true && ((input as Input)[name] ?? '') === '')
      throw new ArgumentError(`${operation} needs the option '${name}'`)
  if (route.body === 'json' && Object.keys(fields).length > 0) body = fields
  if (route.body === 'bytes' && body === undefined)
    throw new ArgumentError(`${operation} needs the option 'body'`)
  return { params, query, headers, ...(body === undefined ? {} : { body }) }
}

function plain(operation: string, name: string, value: unknown): string | number | boolean {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw new ArgumentError(
    `The option '${name}' of ${operation} is a text, a number or a boolean, not ${typeof value}`,
  )
}

function headersOf(
  operation: string,
  option: string,
  place: OptionPlace,
  value: unknown,
): Record<string, string> {
  if (place.form !== true && !place.name.endsWith('*'))
    return { [place.name]: headerText(plain(operation, option, value)) }
  if (typeof value !== 'object' || value === null)
    throw new ArgumentError(
      `The option '${option}' of ${operation} is an object of texts, not ${typeof value}`,
    )
  const pairs = Object.entries(value).map(
    ([key, text]) => [key, String(plain(operation, option, text))] as const,
  )
  if (place.form === true) {
    const text = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
    return text === '' ? {} : { [place.name]: text }
  }
  return Object.fromEntries(pairs.map(([key, text]) => [place.name.replace('*', key), headerText(text)]))
}

function unknownOption(operation: string, route: Route, name: string): string {
  const known = [...Object.keys(route.options), ...route.fields, ...(route.body === 'bytes' ? ['body'] : [])]
  const near = closest(name, known)
  const advice = near === null ? `it has ${known.join(', ') || 'none'}` : `did you mean '${near}'?`
  return `${operation} has no option '${name}': ${advice}`
}

const ENCODER = new TextEncoder()
const DECODER = new TextDecoder()

/** Values are UTF-8; `fetch` writes one byte for each character. */
export function headerText(value: string | number | boolean): string {
  return [...ENCODER.encode(`${value}`)].map((byte) => String.fromCharCode(byte)).join('')
}

/** The opposite of `headerText`. */
export function textOfHeader(value: string): string {
  return DECODER.decode(Uint8Array.from(value, (char) => char.charCodeAt(0)))
}
