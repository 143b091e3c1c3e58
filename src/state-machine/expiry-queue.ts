/**
 * The queue of what ends by itself, in the order of time. Rule: what ends earlier in another way takes its row along.
 */
import type { Draft } from './draft.ts'
import { keys } from './keys.ts'
import type { ExpiryRecord } from './records.ts'

export function expireAt(draft: Draft, expiry: ExpiryRecord): void {
  draft.put(keys.expiry(expiry.at, expiry.id), expiry)
}

export function forgetExpiry(draft: Draft, { at, id }: Pick<ExpiryRecord, 'at' | 'id'>): void {
  draft.remove(keys.expiry(at, id))
}
