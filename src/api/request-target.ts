/**
 * The request target, byte for byte: path, query, and the part of the path that is an object key.
 *
 * Owns: the only percent-decoding of object keys. The router decodes paths in a way of its own ("%2F", "..", "#"), so
 * nothing of a key is ever taken from it. [native: Endpoints]
 * Rule: a key is decoded exactly once; what comes out are its bytes, which must be UTF-8.
 */
import { Refusal } from '../base/refusal.ts'

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const PERCENT = 0x25

/** Absolute-form targets become origin-form, only by cutting: a URL parser would resolve the dots in a key. [RFC 9112 3.2.2] */
export function originForm(target: string): string {
  const rest = target.replace(ABSOLUTE_FORM, '')
  return rest.startsWith('/') || rest === '*' ? rest : `/${rest}`
}

export function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}

/** What follows the first `segments` segments of the path: "/a/b/c//d" after 2 gives "c//d". */
export function restOfPath(target: string, segments: number): string {
  const path = pathOf(target)
  let from = 0
  for (let i = 0; i <= segments; i++) from = path.indexOf('/', from) + 1
  return path.slice(from)
}

/** Node hands the target over with one character a byte. */
export function decodeObjectKey(raw: string): string {
  if (raw.includes('#')) {
    throw new Refusal('invalid_key', 'The object key contains a bare "#": write it as %23')
  }
  const bytes = Buffer.from(raw, 'latin1')
  const decoded = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (let i = 0; i < bytes.length; i++) {
    let byte = bytes[i] ?? 0
    if (byte === PERCENT) {
      const digits = raw.slice(i + 1, i + 3)
      if (!/^[0-9a-f]{2}$/i.test(digits)) {
        throw new Refusal(
          'invalid_key',
          `The object key contains "%${digits}", which is no percent-encoding: write "%" as %25`,
        )
      }
      byte = Number.parseInt(digits, 16)
      i += 2
    }
    decoded[length++] = byte
  }
  try {
    return STRICT_UTF8.decode(decoded.subarray(0, length))
  } catch (cause) {
    throw new Refusal('invalid_key', 'The object key is not UTF-8 after percent-decoding', { cause })
  }
}

/** One value a name; what cannot be decoded, or comes twice, is refused rather than guessed. "+" is a space here, as forms have it. */
export function parseQuery(target: string): Readonly<Record<string, string>> {
  const from = target.indexOf('?')
  if (from === -1) return {}
  const entries = new Map<string, string>()
  for (const pair of target.slice(from + 1).split('&')) {
    if (pair === '') continue
    const [name = '', ...value] = pair.split('=')
    const key = decodeQueryPart(name, 'A name in the query')
    if (entries.has(key)) {
      throw new Refusal('invalid_argument', `Query parameter "${key}" is given more than once`)
    }
    entries.set(key, decodeQueryPart(value.join('='), `Query parameter "${key}"`))
  }
  return Object.fromEntries(entries)
}

/**
 * The value of one parameter; the others are not looked at, however they are written. undefined: it is not there. Throws Refusal
 * invalid_argument where it comes twice or cannot be decoded.
 */
export function queryValue(target: string, name: string): string | undefined {
  const from = target.indexOf('?')
  const pairs = from === -1 ? [] : target.slice(from + 1).split('&')
  return parseQuery(`?${pairs.filter((pair) => pair.split('=')[0] === name).join('&')}`)[name]
}

/** `what`: for the message, which does not quote the value: it may be a token. */
function decodeQueryPart(text: string, what: string): string {
  try {
    return decodeURIComponent(Buffer.from(text.replaceAll('+', ' '), 'latin1').toString('utf8'))
  } catch (cause) {
    throw new Refusal('invalid_argument', `${what} is not percent-encoded UTF-8`, { cause })
  }
}
