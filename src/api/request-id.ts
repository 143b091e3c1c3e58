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
/** The id that is written now. */
const BYTES = Buffer.alloc(16)
const TEXT = Buffer.from('00000000-0000-0000-0000-000000000000', 'latin1')
const DIGITS = Buffer.from('0123456789abcdef', 'latin1')
/** Of each byte in the text. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

export function newRequestId(): string {
  if (used === POOL.length) {
    randomFillSync(POOL)
    used = 0
  }
  BYTES.writeUIntBE(Date.now(), 0, 6)
  POOL.copy(BYTES, 6, used, used + RANDOM_BYTES)
  used += RANDOM_BYTES
  BYTES[6] = 0x70 | ((BYTES[6] ?? 0) & 0x0f)
  BYTES[8] = 0x80 | ((BYTES[8] ?? 0) & 0x3f)
  for (let n = 0; n < BYTES.length; n++) {
    const byte = BYTES[n] ?? 0
    const at = PLACES[n] ?? 0
    TEXT[at] = DIGITS[byte >> 4] ?? 0
    TEXT[at + 1] = DIGITS[byte & 0x0f] ?? 0
  }
  return TEXT.toString('latin1')
}
