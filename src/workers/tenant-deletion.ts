/**
 * Drives the deletion of tenants: bucket by bucket, then access keys and accounts, then the keys of the tenant.
 *
 * Owns: the order and the pace. Knows nothing of: what may be removed; apply decides that, item by item.
 * Rules: one at a time, the earliest request first; the position of the work follows from the remaining rows, so another node
 * continues without a handover; a locked version ends the operation, and everything that is left stays.
 */
import type { EraseStep, ErasedItem } from '../state-machine/removal/commands.ts'
import type { Cluster, Logger } from '../../cluster/index.ts'
import { ITEMS_PER_COMMAND_MAX } from '../state-machine/base/batch-bound.ts'
import type { BucketRecord } from '../state-machine/buckets/records.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import { type ContentPlace, FIRST_CONTENT, contentPage } from '../store/reads/tenant-content.ts'
import { bucketRanges } from '../state-machine/buckets/keys.ts'
import { pageOfAccessKeys } from '../store/reads/access-key-listing.ts'
import { tenantRanges } from '../state-machine/tenants/keys.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'

/** Proposed at once, so that one write to the disk carries several. */
const STEPS_AT_ONCE = 2

export interface TenantDeletionParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: StateReader
  readonly propose: Propose
  readonly logger: Logger
}

type Deletion = LongOperation & { readonly tenantId: string }

export class TenantDeletion {
  readonly #parts: TenantDeletionParts
  /** Only skips rows that this process has removed before; a walk from the beginning finds the same. */
  #place: { readonly bucketId: string; readonly next: ContentPlace } | null = null

  constructor(parts: TenantDeletionParts) {
    this.#parts = parts
  }

  /** One page of one deletion; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    const deletion = cluster.isJobRunner() ? unfinishedOperations(state).find(isTurn) : undefined
    if (deletion !== undefined) return this.#advance(deletion)
    this.#place = null
    return false
  }

  async #advance(deletion: Deletion): Promise<boolean> {
    const { state } = this.#parts
    const { tenantId } = deletion
    const { items: buckets } = await state.page(bucketRanges.buckets(tenantId), { limit: 1 })
    if (buckets[0] !== undefined) return this.#empty(deletion, buckets[0])
    const half = ITEMS_PER_COMMAND_MAX / 2
    const { items: accessKeys } = await pageOfAccessKeys(state, tenantId, { limit: half })
    const { items: accounts } = await state.page(tenantRanges.accounts(tenantId), { limit: half })
    if (accessKeys.length + accounts.length === 0) return this.#shred(deletion)
    const accessKeyIds = accessKeys.map(({ accessKeyId }) => accessKeyId)
    const accountIds = accounts.map(({ accountId }) => accountId)
    return this.#erase(deletion, { kind: 'access', accessKeyIds, accountIds })
  }

  async #empty(deletion: Deletion, { id, name: bucket }: BucketRecord): Promise<boolean> {
    const place = this.#place?.bucketId === id ? this.#place.next : FIRST_CONTENT
    const { items, next } = await contentPage(
      this.#parts.state,
      id,
      place,
      STEPS_AT_ONCE * ITEMS_PER_COMMAND_MAX,
    )
    const steps = inBatches(items).map((batch) => {
      return this.#erase(deletion, { kind: 'content', bucket, items: batch })
    })
    if ((await Promise.all(steps)).includes(false)) return false
    this.#place = next === null ? null : { bucketId: id, next }
    return next !== null || this.#erase(deletion, { kind: 'bucket', bucket })
  }

  /** False: it was refused, and must not be tried again at once. */
  async #erase(deletion: Deletion, step: EraseStep): Promise<boolean> {
    const { operationId, tenantId } = deletion
    const reply = await this.#parts.propose({ type: 'eraseTenant', tenantId, operationId, step })
    if (reply.ok) return true
    this.#place = null
    if (reply.code === 'object_locked') await this.#fail(deletion, reply.message)
    else this.#parts.logger.info({ operation: operationId, reason: reply.message }, 'deletion must wait')
    return false
  }

  async #shred({ operationId, tenantId }: Deletion): Promise<boolean> {
    const { propose, logger } = this.#parts
    const reply = await propose({ type: 'shredTenant', tenantId, operationId })
    if (reply.ok) logger.info({ operation: operationId, tenant: tenantId }, 'tenant deleted')
    else logger.warn({ operation: operationId, reason: reply.message }, 'tenant not deleted')
    return false
  }

  async #fail({ operationId, tenantId: tenant }: Deletion, error: string): Promise<void> {
    const { propose, logger } = this.#parts
    await propose({ type: 'setOperationStatus', operationId, action: 'fail', error })
    logger.error({ operation: operationId, tenant, reason: error }, 'deletion of a tenant failed')
  }
}

function isTurn(operation: LongOperation): operation is Deletion {
  const { kind, status, tenantId } = operation
  return kind === 'tenantDeletion' && tenantId !== null && (status === 'queued' || status === 'running')
}

function inBatches(items: readonly ErasedItem[]): readonly (readonly ErasedItem[])[] {
  const batches: (readonly ErasedItem[])[] = []
  for (let first = 0; first < items.length; first += ITEMS_PER_COMMAND_MAX)
    batches.push(items.slice(first, first + ITEMS_PER_COMMAND_MAX))
  return batches
}
