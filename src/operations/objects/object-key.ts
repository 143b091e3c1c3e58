/**
 * What an object may be called: 1 to 1024 bytes of UTF-8 without NUL, stored verbatim. [decisions 7]
 *
 * Rule: a key is never normalized: "a//b", "../x" and "+" are different names and mean nothing to any disk.
 */
import { Refusal } from '../../base/refusal.ts'

export const KEY_BYTES_MAX = 1024
/** JSON can write one; it has no UTF-8 form. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

export function checkObjectKey(key: string): string {
  const bytes = Buffer.byteLength(key, 'utf8')
  if (bytes === 0) throw new Refusal('invalid_key', 'The object key is empty')
  if (bytes > KEY_BYTES_MAX) {
    throw new Refusal('invalid_key', `The object key has ${bytes} bytes of UTF-8, at most ${KEY_BYTES_MAX}`)
  }
  if (LONE_SURROGATE.test(key)) throw new Refusal('invalid_key', 'The object key is no valid Unicode')
  if (key.includes('\0')) throw new Refusal('invalid_key', 'The object key contains a NUL byte')
  return key
}
