/**
 * Parameters of a read that replace headers of its answer. [AWS S3 API reference: GetObject, Overriding response header values]
 *
 * Rule: a value that a header cannot carry is refused, so that a link cannot write headers of its own.
 */
import { S3Fault } from '../base/s3-errors.ts'

const HEADERS: Readonly<Record<string, string>> = {
  'response-cache-control': 'cache-control',
  'response-content-disposition': 'content-disposition',
  'response-content-encoding': 'content-encoding',
  'response-content-language': 'content-language',
  'response-content-type': 'content-type',
  'response-expires': 'expires',
}
export const RESPONSE_PARAMETERS: readonly string[] = Object.keys(HEADERS)
const CHARACTERS_MAX = 2048
const UNSENDABLE = /[^\P{Cc}\t]|[\ud800-\udfff]/u

/** Throws S3Fault InvalidArgument. */
export function overriddenHeaders(query: Readonly<Record<string, string>>): Record<string, string> {
  const entries = RESPONSE_PARAMETERS.flatMap((name) => {
    const value = query[name]
    if (value === undefined) return []
    if (value.length > CHARACTERS_MAX || UNSENDABLE.test(value))
      throw new S3Fault('InvalidArgument', `The parameter ${name} is not a text that a header can carry`)
    return [[HEADERS[name] ?? name, Buffer.from(value, 'utf8').toString('latin1')] as const]
  })
  return Object.fromEntries(entries)
}
