/**
 * setObjectLegalHold: authorize -> exists -> second approval, by setting, of taking a hold off -> commit, which knows whether the bucket has
 * object lock.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { secondApproval } from '../approvals/second-approval.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { clientVersionId, findObject, type FoundObject, type ObjectName } from './object-checks.ts'

export const setObjectLegalHold = dataOperation(
  {
    id: 'setObjectLegalHold',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObjectLegalHold,
    refuses: ['method_not_allowed', 'object_lock_not_enabled', 'precondition_failed'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName & { readonly legalHold: boolean }): Promise<FoundObject> => {
    const { bucket, object } = findObject(services, principal, input)
    const { legalHold } = input
    const isLifted = object.legalHold !== false && !legalHold
    const needsApproval = isLifted && services.config.security.secondApproval.includes('lower_locks')
    const command = {
      type: 'setObjectLegalHold',
      tenantId: principal.tenantId,
      bucket: bucket.name,
      key: object.key,
      // What is approved is this version, whatever is the newest one by then.
      versionId: needsApproval ? clientVersionId(object) : (input.versionId ?? null),
      legalHold,
    } as const
    const approval = needsApproval ? await secondApproval(services, principal, 'lower_locks', command) : {}
    return { bucket, object: settle(await services.propose({ ...command, ...approval })) }
  },
)
