/**
 * What a client says of an object: its content type, how it is handed out, and user metadata. [decisions 3, 17]
 *
 * Rule: everything that is accepted here can be handed out again as headers, byte for byte, and read back by any client.
 */
import { Refusal } from '../../base/refusal.ts'
import type { Representation } from '../../state-machine/versions/records.ts'

export const DEFAULT_CONTENT_TYPE = 'application/octet-stream'
export const CONTENT_TYPE_CHARACTERS_MAX = 256
const METADATA_BYTES_MAX = 2048
/** Of all headers of a representation together, names and values. */
export const REPRESENTATION_BYTES_MAX = 2048
/** Codings by name. [RFC 9110 8.4] */
export const CODINGS = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*$/
export const CONTENT_TYPE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/
/** A token of RFC 9110 5.6.2. */
export const METADATA_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Headers hold no control characters but the tab, have a UTF-8 form, and lose spaces at their ends. */
const NO_VALUE = /[^\P{Cc}\t]|[\ud800-\udfff]|^[ \t]|[ \t]$/u
/** The opposite, for JSON Schema, whose texts are whole characters. */
export const HEADER_TEXT_PATTERN =
  '^([^\\u0000-\\u0020\\u007f-\\u009f]([^\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u0020\\u007f-\\u009f])?)?$'

/** Throws Refusal invalid_request. */
export function checkContentType(type: string): string {
  if (type.length <= CONTENT_TYPE_CHARACTERS_MAX && CONTENT_TYPE.test(type)) return type
  throw new Refusal(
    'invalid_request',
    `The content type takes 1 to ${CONTENT_TYPE_CHARACTERS_MAX} printable ASCII characters`,
  )
}

/** Names in any case; they come out in lower case. Throws Refusal invalid_request. */
export function checkMetadata(
  entries: Iterable<readonly [string, string]>,
): Readonly<Record<string, string>> {
  const checked = new Map<string, string>()
  let bytes = 0
  for (const [given, value] of entries) {
    const name = given.toLowerCase()
    // "__proto__" means something to every object it is put into, here and in the clients that read it back.
    if (!METADATA_NAME.test(given) || name === '__proto__')
      throw new Refusal(
        'invalid_request',
        `"${given.slice(0, 80)}" is no name for user metadata: use letters, digits and hyphens`,
      )
    if (checked.has(name))
      throw new Refusal(
        'invalid_request',
        `The user metadata gives "${name}" more than once; case does not tell names apart`,
      )
    if (NO_VALUE.test(value))
      throw new Refusal(
        'invalid_request',
        `The value of user metadata "${name}" holds control characters, or a space at an end: a header cannot carry it`,
      )
    bytes += name.length + Buffer.byteLength(value)
    checked.set(name, value)
  }
  if (bytes <= METADATA_BYTES_MAX) return Object.fromEntries(checked)
  throw new Refusal(
    'invalid_request',
    `The user metadata has ${bytes} bytes in names and values, at most ${METADATA_BYTES_MAX}`,
  )
}

/** `name`: as clients write it, for messages. */
export interface SaidOfRepresentation {
  readonly member: keyof Representation
  readonly name: string
  readonly value: string | undefined
}

/** Undefined: nothing is said. An empty value says nothing. Throws Refusal invalid_request, not_implemented. */
export function checkRepresentation(said: readonly SaidOfRepresentation[]): Representation | undefined {
  const given = said.flatMap(({ value = '', ...one }) => (value === '' ? [] : [{ ...one, value }]))
  for (const { member, name, value } of given) {
    if (NO_VALUE.test(value))
      throw new Refusal(
        'invalid_request',
        `${name} holds control characters, or a space at an end: a header cannot carry it`,
      )
    if (member === 'contentEncoding') checkCodings(name, value)
  }
  const bytes = given.reduce((sum, { name, value }) => sum + name.length + Buffer.byteLength(value), 0)
  if (bytes > REPRESENTATION_BYTES_MAX)
    throw new Refusal(
      'invalid_request',
      `${given.map(({ name }) => name).join(', ')} have ${bytes} bytes in names and values together, at most ${REPRESENTATION_BYTES_MAX}`,
    )
  return given.length === 0
    ? undefined
    : Object.fromEntries(given.map(({ member, value }) => [member, value] as const))
}

/** `aws-chunked` is a framing of the body that this API does not undo. */
function checkCodings(name: string, value: string): void {
  if (!CODINGS.test(value))
    throw new Refusal('invalid_request', `${name} is "${value.slice(0, 80)}": name codings, such as gzip`)
  if (/(^|,)[ \t]*aws-chunked[ \t]*(,|$)/i.test(value))
    throw new Refusal('not_implemented', `${name} aws-chunked is not supported: send the body as it is`)
}
