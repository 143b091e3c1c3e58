/**
 * Request ids: UUIDv7, so that they sort by the time of the request. [RFC 9562 5.7]
 *
 * 48 bits of milliseconds, version, 12 random bits, variant, 62 random bits.
 */
import { randomBytes } from 'node:crypto'

export function newRequestId(): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
