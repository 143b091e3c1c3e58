/**
 * The queue of expiries, in the order of time. Rule: an item that ends earlier for another reason removes its row.
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
