/**
 * setObjectRetention: authorize, also a bypass of GOVERNANCE -> exists -> not too far ahead -> second approval, by setting, of a bypass
 * that matters -> commit.
 *
 * That it is extended and never shortened without that bypass is decided in the commit, by the time of the log.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { Target } from '../../access/base/target.ts'
import { settle } from '../../commands/settle.ts'
import type { GovernanceBypass } from '../../state-machine/objects/commands.ts'
import { extensionFault } from '../../state-machine/versions/locks.ts'
import type { ObjectRecord, RetentionRecord } from '../../state-machine/versions/records.ts'
import { secondApproval } from '../approvals/second-approval.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { governanceBypass } from './governance-bypass.ts'
import { clientVersionId, findObject, type FoundObject, type ObjectName } from './object-checks.ts'
import { checkRetention } from '../base/retention-bound.ts'
import type { Services } from '../base/services.ts'

interface SetRetentionInput extends ObjectName {
  /** null: none from now on. */
  readonly retention: RetentionRecord | null
  /** Asks that a present retention in mode GOVERNANCE does not count. */
  readonly bypassGovernance?: boolean
}

type Bypassing = GovernanceBypass & Pick<SetRetentionInput, 'retention'>

/** No retention has none of its days left: a policy that asks for some denies its removal. */
function retentionTarget(input: SetRetentionInput): Target {
  return { ...versionTarget(input), retainUntil: input.retention?.until ?? 0 }
}

export const setObjectRetention = dataOperation(
  {
    id: 'setObjectRetention',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObjectRetention,
    refuses: ['method_not_allowed', 'object_lock_not_enabled', 'object_locked'],
    target: retentionTarget,
  },
  async (services, principal, input: SetRetentionInput): Promise<FoundObject> => {
    const bypass = governanceBypass(services, principal, input)
    const { bucket, object } = findObject(services, principal, input)
    const { retention } = input
    if (retention !== null) checkRetention(services, retention)
    const command = {
      type: 'setObjectRetention',
      tenantId: principal.tenantId,
      bucket: bucket.name,
      key: object.key,
      versionId: input.versionId ?? null,
      retention,
      ...bypass,
    } as const
    if (!lowersLock(services, object, command))
      return { bucket, object: settle(await services.propose(command)) }
    // What is approved is this version, whatever is the newest one by then.
    const exact = { ...command, versionId: clientVersionId(object) }
    const approval = await secondApproval(services, principal, 'lower_locks', exact)
    return { bucket, object: settle(await services.propose({ ...exact, ...approval })) }
  },
)

/** Whether only the bypass lets the change through. */
function lowersLock(
  { cluster }: Services,
  { retention: before }: ObjectRecord,
  { retention: after, bypassGovernance }: Bypassing,
): boolean {
  return bypassGovernance === true && extensionFault({ before, after }, cluster.time.now()) !== null
}
