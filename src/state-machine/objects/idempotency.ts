/**
 * Idempotent writes: the answer to each idempotency key is kept and returned again.
 *
 * Owns: the record. Knows nothing of: how a fingerprint is made.
 * Rule: the entry that makes the object makes the record, so a key takes effect at most once, on whichever nodes it is repeated.
 */
import { objectKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { BucketId } from '../base/record-ids.ts'
import type { IdempotencyRequest } from './commands.ts'
import type { ObjectRecord } from '../versions/records.ts'
import type { Draft } from '../base/draft.ts'
import { expireAt } from './expiry-queue.ts'
import { type Refused, refuse } from '../base/reply.ts'

export const IDEMPOTENCY_KEPT_MS: number = 24 * 3_600_000

/** The answer to an earlier identical request; null for the first one. */
export function earlierAnswer(
  view: View,
  {
    bucket,
    key,
    requested,
  }: { readonly bucket: BucketId; readonly key: string; readonly requested: IdempotencyRequest },
): ObjectRecord | Refused | null {
  if (!isKeyPart(requested.key))
    return refuse('invalid_argument', 'The idempotency key is empty or malformed')
  const record = view.get(objectKeys.idempotency(bucket, key, requested.key))
  if (record === undefined) return null
  if (record.fingerprint === requested.fingerprint) return record.object
  const message = `Idempotency key "${requested.key}" was used for another upload of "${key}": use a new one`
  return refuse('idempotency_conflict', message)
}

export function keepAnswer(
  draft: Draft,
  {
    bucket,
    requested,
    object,
  }: { readonly bucket: BucketId; readonly requested: IdempotencyRequest; readonly object: ObjectRecord },
  context: ApplyContext,
): void {
  const { key } = object
  const expiresAt = context.time + IDEMPOTENCY_KEPT_MS
  draft.put(objectKeys.idempotency(bucket, key, requested.key), {
    fingerprint: requested.fingerprint,
    object,
    expiresAt,
  })
  const what = { kind: 'idempotency', bucketId: bucket, key, name: requested.key } as const
  expireAt(draft, { at: expiresAt, id: object.versionId, what })
}
