/**
 * User metadata as headers: `X-Service-Meta-<name>`, and of the S3 API `x-amz-meta-<name>`. [decisions 3]
 *
 * Rule: what comes back is what was sent, byte for byte. Values are UTF-8; Node shows headers with one character a byte.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { checkMetadata } from '../../operations/objects/description.ts'
import { Refusal } from '../../base/refusal.ts'
import { headerText } from '../header-text.ts'

const OWN_PREFIX = 'x-service-meta-'
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function readMetadata(
  headers: IncomingHttpHeaders,
  prefix: string = OWN_PREFIX,
): Readonly<Record<string, string>> {
  const named = Object.keys(headers).filter((header) => header.startsWith(prefix))
  return checkMetadata(
    named.map((header) => [header.slice(prefix.length), headerValue(headers, header) ?? '']),
  )
}

export function metadataHeaders(
  metadata: Readonly<Record<string, string>>,
  prefix: string = OWN_PREFIX,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(metadata))
    headers[`${prefix}${name}`] = Buffer.from(value, 'utf8').toString('latin1')
  return headers
}

/** The text of a header in UTF-8; undefined: it was not sent. Throws Refusal invalid_request. */
export function headerValue(headers: IncomingHttpHeaders, header: string): string | undefined {
  const text = headerText(headers, header)
  if (text === undefined) return undefined
  const raw = Buffer.from(text, 'latin1')
  try {
    return STRICT_UTF8.decode(raw)
  } catch (cause) {
    throw new Refusal('invalid_request', `Header "${header}" is not UTF-8`, { cause })
  }
}
