/** The key under which an upload may be repeated: 1 to 255 characters, where it can travel in a header. [decisions 3] */
import { Refusal } from '../../base/refusal.ts'

export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** `name`: of the header or field. Throws Refusal invalid_request. */
export function checkIdempotencyKey(name: string, key: string): string {
  if (IDEMPOTENCY_KEY.test(key)) return key
  throw new Refusal('invalid_request', `${name} takes 1 to 255 printable ASCII characters`)
}
