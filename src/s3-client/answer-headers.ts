/**
 * Headers of answers as text by lower-case names. Rule: values are UTF-8 where they are, and Latin-1 else, as older stores send them.
 */
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function textHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, headerText(Array.isArray(value) ? value.join(', ') : value)] as const],
  )
  return Object.fromEntries(given)
}

/** Header values arrive with one character for each byte. */
function headerText(value: string): string {
  try {
    return STRICT_UTF8.decode(Buffer.from(value, 'latin1'))
  } catch {
    // Latin-1 is what the characters already are.
    return value
  }
}
