/**
 * batchDeleteObjects: authorize -> bucket exists -> each key by itself: authorize -> valid -> commit in parts.
 *
 * Rules: one that is refused keeps no other from going, and results come in the order of the request. A machine that fails
 * after the first part has committed says so for each of the others: the caller must learn what is gone. [decisions 5, 16]
 */
import { Condition, type ConditionCode } from '../../../cluster/index.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import { Refusal, type RefusalCode } from '../../refusal.ts'
import type { Deleted } from '../../state-machine/commands.ts'
import type { BucketRecord } from '../../state-machine/records.ts'
import type { Services } from '../services.ts'
import { settle } from '../settle.ts'
import { NOTHING_DELETED } from './delete-object.ts'
import { bucketFor, findVersion, keyFor } from './ladder.ts'

const KEYS_MAX = 1000
/** Of one entry of the log: its work is bounded. */
const ITEMS_MAX = 256

interface BatchItem {
  readonly key: string
  readonly versionId?: string
}

interface Failed {
  readonly code: RefusalCode | ConditionCode
  readonly message: string
}

export interface ItemResult extends BatchItem {
  readonly outcome: Deleted | Failed
}

export interface BatchDeleted {
  readonly bucket: BucketRecord
  readonly results: readonly ItemResult[]
}

export async function batchDeleteObjects(
  services: Services,
  principal: AccessKeyPrincipal,
  input: { readonly bucket: string; readonly objects: readonly BatchItem[] },
): Promise<BatchDeleted> {
  const caller = { principal, operationId: 'batchDeleteObjects' } as const
  const bucket = bucketFor(services, caller, { bucket: input.bucket, prefix: '' })
  const { length } = input.objects
  if (length < 1 || length > KEYS_MAX)
    throw new Refusal('too_many_keys', `A batch deletes 1 to ${KEYS_MAX} keys, these are ${length}`)
  const outcomes = new Map<BatchItem, Deleted | Failed>()
  for (const item of input.objects) {
    const outcome = withoutCommit(services, principal, bucket, item)
    if (outcome !== null) outcomes.set(item, outcome)
  }
  const rest = input.objects.filter((item) => !outcomes.has(item))
  for (let from = 0; from < rest.length; from += ITEMS_MAX) {
    const part = rest.slice(from, from + ITEMS_MAX)
    try {
      const done = await deletePart(services, bucket, part)
      for (const [n, item] of part.entries()) outcomes.set(item, done[n] ?? NOTHING_DELETED)
    } catch (error) {
      if (from === 0 || !(error instanceof Condition || error instanceof Refusal)) throw error
      const { code, message } = error
      for (const item of rest.slice(from)) outcomes.set(item, { code, message })
      break
    }
  }
  const results = input.objects.map((item) => ({ ...item, outcome: outcomes.get(item) ?? NOTHING_DELETED }))
  return { bucket, results }
}

/** What can be said of an item at once; null: it has to be proposed. */
function withoutCommit(
  services: Services,
  principal: AccessKeyPrincipal,
  bucket: BucketRecord,
  { key, versionId }: BatchItem,
): Deleted | Failed | null {
  try {
    keyFor(services, { principal, operationId: 'deleteObject' }, { bucket: bucket.name, key })
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code, message: error.message }
    throw error
  }
  const isGone = versionId !== undefined && findVersion(services, { bucket, key }, versionId) === undefined
  return isGone ? NOTHING_DELETED : null
}

async function deletePart(
  services: Services,
  { tenantId, name }: BucketRecord,
  part: readonly BatchItem[],
): Promise<readonly (Deleted | Failed)[]> {
  const items = part.map(({ key, versionId = null }) => ({ key, versionId }))
  return settle(await services.propose({ type: 'deleteObjects', tenantId, bucket: name, items }))
}
