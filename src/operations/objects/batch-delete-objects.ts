/**
 * batchDeleteObjects: authorize -> bucket exists -> each key by itself: authorize -> valid -> commit in parts.
 *
 * Rules: one that is refused keeps no other from going, and results come in the order of the request. A machine that fails
 * after the first part has committed says so for each of the others: the caller must learn what is gone. [decisions 5, 16]
 */
import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { Condition, type ConditionCode } from '../../../cluster/index.ts'
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { accessKey } from '../../access/rights.ts'
import { Refusal, type RefusalCode, refusalOf } from '../../base/refusal.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { hooksOf } from '../../state-machine/events/hooks.ts'
import { DELIVERIES_PER_ENTRY } from '../../state-machine/events/records.ts'
import type {
  Deleted,
  DeletionItem,
  ItemRefused,
  ObjectCommand,
} from '../../state-machine/objects/commands.ts'
import { dataOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { bucketTarget, versionTarget } from '../base/targets.ts'
import { findBucket } from '../buckets/find-bucket.ts'
import { deleteObject } from './delete-object.ts'
import { type BypassableName, bypassOf, governanceBypass } from './governance-bypass.ts'
import { findKey } from './object-checks.ts'

const KEYS_MAX = 1000
/** Of one entry of the log: its work is bounded. */
const ITEMS_MAX = 256
/** Of a key that was refused. */
const KEY_CHARACTERS_SHOWN = 1024

/** A policy may take a while for each key: others get their turn in between. */
const ASKED_AT_ONCE_MAX = 32

interface BatchItem {
  readonly key: string
  readonly versionId?: string
  /** Etags of the version that is to go. */
  readonly ifMatch?: readonly string[]
}

interface BatchDeleteInput {
  readonly bucket: string
  readonly objects: readonly BatchItem[]
  /** As of deleteObject, for all keys. */
  readonly bypassGovernance?: boolean
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

export const batchDeleteObjects = dataOperation(
  {
    id: 'batchDeleteObjects',
    requires: accessKey('delete', 'bucket'),
    // Each key is authorized as deleteObject.
    s3Action: null,
    refuses: ['too_many_keys', 'invalid_key'],
    target: bucketTarget,
  },
  async (services, principal, input: BatchDeleteInput): Promise<BatchDeleted> => {
    const bucket = findBucket(services, principal.tenantId, input.bucket)
    const { length } = input.objects
    if (length < 1 || length > KEYS_MAX)
      throw new Refusal('too_many_keys', `A batch deletes 1 to ${KEYS_MAX} keys, these are ${length}`)
    const refused: (ItemRefused | null)[] = []
    const { bypassGovernance = false } = input
    for (const { key, versionId } of input.objects) {
      const deletion = { bucket: bucket.name, key, versionId, bypassGovernance }
      refused.push(refusedDeletion(services, principal, deletion))
      if (refused.length % ASKED_AT_ONCE_MAX === 0) await setImmediate()
    }
    const outcomes: (Deleted | Failed | null)[] = [...refused]
    const itemsMax = itemsPerEntry(services, bucket)
    const bypass = bypassOf(bypassGovernance && !needsApproval(services))
    for (let from = 0; from < length; from += itemsMax) {
      const part = input.objects
        .slice(from, from + itemsMax)
        .map((item, at) => itemOf(item, refused[from + at]))
      try {
        const done = await deletePart(services, bucket, { items: part, ...bypass })
        for (const at of part.keys()) outcomes[from + at] ??= done[at] ?? null
      } catch (error) {
        if (from === 0 || !(error instanceof Condition || error instanceof Refusal)) throw error
        for (let n = from; n < length; n++) outcomes[n] ??= { code: error.code, message: error.message }
        break
      }
    }
    const results = input.objects.map((item, n) => {
      const outcome = outcomes[n] ?? null
      assert(outcome !== null, 'each item was refused, deleted, or failed with its part')
      return { ...item, outcome }
    })
    return { bucket, results }
  },
)

/** An approval is for one version: retained ones are deleted one by one where it is required. */
function needsApproval({ config }: Services): boolean {
  return config.security.secondApproval.includes('lower_locks')
}

/** Fewer where each deletion is delivered to many hooks. */
function itemsPerEntry({ state }: Services, bucket: BucketRecord): number {
  const hooks = Math.max(1, hooksOf(state, bucket).length)
  return Math.max(1, Math.min(ITEMS_MAX, Math.floor(DELIVERIES_PER_ENTRY / hooks)))
}

/** What was refused travels along to be audited. A key that is none may be longer than one. */
function itemOf(item: BatchItem, refused: ItemRefused | null = null): DeletionItem {
  const { key, versionId, ifMatch } = item
  if (refused === null)
    return { key, versionId: versionId ?? null, ...(ifMatch === undefined ? {} : { ifMatch }) }
  const shortened = (text: string): string => text.slice(0, KEY_CHARACTERS_SHOWN)
  return { key: shortened(key), versionId: versionId === undefined ? null : shortened(versionId), refused }
}

/** Null: the key may be proposed. */
function refusedDeletion(
  services: Services,
  principal: AccessKeyPrincipal,
  name: BypassableName,
): ItemRefused | null {
  const refusal = refusalOf(() => {
    authorize(principal, deleteObject, versionTarget(name), services.state)
    governanceBypass(services, principal, name)
    findKey(services, principal, name)
  })
  return refusal === null ? null : { code: refusal.code, message: refusal.message }
}

async function deletePart(
  services: Services,
  { tenantId, name }: BucketRecord,
  part: Pick<Extract<ObjectCommand, { type: 'deleteObjects' }>, 'items' | 'bypassGovernance'>,
): Promise<readonly (Deleted | Failed)[]> {
  return settle(await services.propose({ type: 'deleteObjects', tenantId, bucket: name, ...part }))
}
