/**
 * User metadata as headers: `X-Service-Meta-<name>`, at most 2 KiB of names and values. [decisions 3]
 *
 * Rule: what comes back is what was sent, byte for byte. Values are UTF-8; Node shows headers with one character a byte.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../refusal.ts'
import { headerText } from '../header-text.ts'

const PREFIX = 'x-service-meta-'
const METADATA_BYTES_MAX = 2048
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function readMetadata(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const entries: [string, string][] = []
  let bytes = 0
  for (const header of Object.keys(headers)) {
    if (!header.startsWith(PREFIX)) continue
    const name = header.slice(PREFIX.length)
    const raw = Buffer.from(headerText(headers, header) ?? '', 'latin1')
    bytes += name.length + raw.length
    entries.push([name, readValue(name, raw)])
  }
  if (bytes > METADATA_BYTES_MAX) {
    throw new Refusal(
      'invalid_request',
      `The user metadata has ${bytes} bytes in names and values, at most ${METADATA_BYTES_MAX}`,
    )
  }
  return Object.fromEntries(entries)
}

export function metadataHeaders(metadata: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      `${PREFIX}${name}`,
      Buffer.from(value, 'utf8').toString('latin1'),
    ]),
  )
}

function readValue(name: string, raw: Buffer): string {
  // "__proto__" means something to every object it is put into, here and in the clients that read it back.
  if (name === '' || name === '__proto__') {
    throw new Refusal('invalid_request', `"${PREFIX}${name}" does not name any user metadata`)
  }
  try {
    return STRICT_UTF8.decode(raw)
  } catch (cause) {
    throw new Refusal('invalid_request', `Header "${PREFIX}${name}" is not UTF-8`, { cause })
  }
}
