/** deleteObjectTags: authorize -> exists -> commit; repeating is safe. [decisions 5] */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { findObject, type FoundObject, type ObjectName } from './object-checks.ts'

export const deleteObjectTags = dataOperation(
  {
    id: 'deleteObjectTags',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.deleteObjectTagging,
    refuses: ['method_not_allowed'],
    target: versionTarget,
  },
  async (services, principal, input: ObjectName): Promise<FoundObject> => {
    const { bucket, object } = findObject(services, principal, input)
    const reply = await services.propose({
      type: 'setObjectTags',
      tenantId: principal.tenantId,
      bucket: bucket.name,
      key: object.key,
      versionId: input.versionId ?? null,
      tags: {},
    })
    return { bucket, object: settle(reply) }
  },
)
