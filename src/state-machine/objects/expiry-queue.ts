/**
 * The queue of what ends by itself, in the order of time. Rule: what ends earlier in another way takes its row along.
 */
import { objectKeys } from './keys.ts'
import type { Draft } from '../base/draft.ts'
import type { ExpiryRecord } from './records.ts'

export function expireAt(draft: Draft, expiry: ExpiryRecord): void {
  draft.put(objectKeys.expiry(expiry.at, expiry.id), expiry)
}

export function forgetExpiry(draft: Draft, { at, id }: Pick<ExpiryRecord, 'at' | 'id'>): void {
  draft.remove(objectKeys.expiry(at, id))
}
