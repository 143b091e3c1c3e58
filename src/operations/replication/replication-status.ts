/**
 * getReplicationStatus: authorize -> exists -> counts, the oldest change that waits, and the first that were given up.
 *
 * retryBucketReplication: authorize -> exists -> commits, a page of changes that were given up each, until none is left or a bound is reached.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { ITEMS_PER_COMMAND_MAX } from '../../state-machine/base/batch-bound.ts'
import { siteRanges } from '../../state-machine/sites/keys.ts'
import type { SiteChangeRecord, SiteStateRecord } from '../../state-machine/sites/records.ts'
import { dataOperation } from '../base/operation.ts'
import { bucketTarget } from '../base/targets.ts'
import { findReplication } from './replicated-bucket.ts'

export const FAILURES_SHOWN = 100
/** Entries of one call. */
const RETRY_COMMANDS_MAX = 40

export interface ReplicationStatus {
  readonly state: SiteStateRecord
  /** Undefined: none waits. */
  readonly oldest: SiteChangeRecord | undefined
  /** By the time of the log. ms */
  readonly lagMs: number
  readonly failures: readonly SiteChangeRecord[]
}

export const getReplicationStatus = dataOperation(
  {
    id: 'getReplicationStatus',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.getReplication,
    refuses: [],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<ReplicationStatus> => {
    const { bucket, state } = findReplication(services, principal.tenantId, input.bucket)
    const [waiting, failed] = await Promise.all([
      services.state.page(siteRanges.siteChanges(bucket.id), { limit: 1 }),
      services.state.page(siteRanges.failedSiteChanges(bucket.id), { limit: FAILURES_SHOWN }),
    ])
    const [oldest] = waiting.items
    const lagMs = oldest === undefined ? 0 : Math.max(0, services.cluster.time.now() - oldest.time)
    return { state, oldest, lagMs, failures: failed.items }
  },
)

export const retryBucketReplication = dataOperation(
  {
    id: 'retryBucketReplication',
    requires: accessKey('admin', 'whole-bucket'),
    s3Action: S3_ACTIONS.putReplication,
    refuses: ['precondition_failed'],
    target: bucketTarget,
  },
  async (services, principal, input: { readonly bucket: string }): Promise<{ readonly retried: number }> => {
    const { bucket } = findReplication(services, principal.tenantId, input.bucket)
    const { tenantId, name, id } = bucket
    let retried = 0
    for (let n = 0; n < RETRY_COMMANDS_MAX; n++) {
      const limit = ITEMS_PER_COMMAND_MAX
      const { items } = await services.state.page(siteRanges.failedSiteChanges(id), { limit })
      if (items.length === 0) break
      const changeIds = items.map(({ changeId }) => changeId)
      const command = { type: 'retrySiteChanges', tenantId, name, changeIds } as const
      const done = settle(await services.propose(command)).retried
      retried += done
      if (done === 0) break
    }
    return { retried }
  },
)
