/**
 * Request ids: UUIDv7, so that they sort by the time of the request. [RFC 9562 5.7]
 *
 * 48 bits of milliseconds, version, 12 random bits, variant, 62 random bits.
 */
import { randomFillSync } from 'node:crypto'

const RANDOM_BYTES = 10
/** Random numbers come in batches: to ask for a few bytes takes as long as for some thousand. */
const POOL = Buffer.alloc(RANDOM_BYTES * 256)
let used = POOL.length

export function newRequestId(): string {
  if (used === POOL.length) {
    randomFillSync(POOL)
    used = 0
  }
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  POOL.copy(bytes, 6, used, used + RANDOM_BYTES)
  used += RANDOM_BYTES
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
