/** One header as one text, or undefined; several lines of it are one list. [RFC 9110 5.3] */
import type { IncomingHttpHeaders } from 'node:http'

export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
