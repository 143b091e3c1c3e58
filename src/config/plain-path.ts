/**
 * The one spelling of a path of a URL, by which paths are compared.
 *
 * Rule: a path that some servers read in another way has no such spelling: a slash, backslash, percent sign, semicolon or NUL in an
 * escape, and dots before a semicolon, which is cut off before the dots are resolved.
 */
const ESCAPE = /%[0-9A-F]{2}/gi
const NOT_AN_ESCAPE = /%(?![0-9A-F]{2})/i
const UNRESERVED = /^[A-Za-z0-9._~-]$/
const AMBIGUOUS = /%(2F|5C|25|3B|00)/
const DOTS = /^\.{1,2}(;|$)/

/** `path`: `URL.pathname`. Escapes of unreserved characters are undone, others in capitals. [RFC 3986 6.2.2] Null: there is none. */
export function plainPath(path: string): string | null {
  if (NOT_AN_ESCAPE.test(path)) return null
  const plain = path.replace(ESCAPE, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return UNRESERVED.test(character) ? character : escape.toUpperCase()
  })
  return AMBIGUOUS.test(plain) || plain.split('/').some((segment) => DOTS.test(segment)) ? null : plain
}
