/** setObjectLegalHold: authorize -> exists -> commit, which knows whether the bucket has object lock. */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { findObject, type FoundObject, type ObjectName } from './object-checks.ts'

export const setObjectLegalHold = dataOperation(
  {
    id: 'setObjectLegalHold',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObjectLegalHold,
    refuses: ['method_not_allowed', 'object_lock_not_enabled'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName & { readonly legalHold: boolean }): Promise<FoundObject> => {
    const { bucket, object } = findObject(services, principal, input)
    const reply = await services.propose({
      type: 'setObjectLegalHold',
      tenantId: principal.tenantId,
      bucket: bucket.name,
      key: object.key,
      versionId: input.versionId ?? null,
      legalHold: input.legalHold,
    })
    return { bucket, object: settle(reply) }
  },
)
