/**
 * deleteObject: authorize, also a bypass of GOVERNANCE -> bucket exists -> second approval, by setting, of a bypass that matters ->
 * commit, which decides precondition and retention.
 *
 * A key or a version that is not there is no error: repeating is safe. That it is not there only the commit knows. [decisions 16]
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import type { Deleted } from '../../state-machine/objects/commands.ts'
import { secondApproval } from '../approvals/second-approval.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { governanceBypass, isGoverned } from './governance-bypass.ts'
import { findKey, type ObjectName } from './object-checks.ts'

interface DeleteObjectInput extends ObjectName {
  /** Of the version that is to go. */
  readonly ifMatch: readonly string[] | null
  /** Asks that retention in mode GOVERNANCE does not count. */
  readonly bypassGovernance?: boolean
  /** The mark of a deletion of another site that it repeats. */
  readonly replicaOf?: string
}

export interface DeletedObject {
  readonly bucket: BucketRecord
  readonly deleted: Deleted
}

export const deleteObject = dataOperation(
  {
    id: 'deleteObject',
    requires: accessKey('delete', 'key'),
    s3Action: S3_ACTIONS.deleteObject,
    isDecidedByEntry: true,
    refuses: ['object_locked', 'precondition_failed', 'not_implemented', 'quota_exceeded'],
    target: versionTarget,
  },
  async (services, principal, input: DeleteObjectInput): Promise<DeletedObject> => {
    const bypass = governanceBypass(services, principal, input)
    const { bucket, key } = findKey(services, principal, input)
    const { versionId, ifMatch, replicaOf } = input
    // Below the level nothing is sent to another site, so that nothing needs to be kept from it.
    const knowsSites = services.cluster.membership.stateLevel >= COMMAND_LEVELS.setBucketReplication
    const replica = replicaOf === undefined || !knowsSites ? {} : { replicaOf }
    const command = {
      type: 'deleteObject',
      tenantId: principal.tenantId,
      bucket: bucket.name,
      key,
      versionId: versionId ?? null,
      ifMatch,
      ...bypass,
      ...replica,
    } as const
    const lowersLock = 'bypassGovernance' in bypass && isGoverned(services, { bucket, key, versionId })
    const approval = lowersLock ? await secondApproval(services, principal, 'lower_locks', command) : {}
    return { bucket, deleted: settle(await services.propose({ ...command, ...approval })) }
  },
)
