/** setObjectTags: authorize -> exists -> tags are good -> commit; all tags are replaced. [decisions 5] */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { settle } from '../../commands/settle.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { findObject, type FoundObject, type ObjectName } from './object-checks.ts'
import { checkTags } from '../base/tags.ts'

export const setObjectTags = dataOperation(
  {
    id: 'setObjectTags',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObjectTagging,
    refuses: ['method_not_allowed', 'invalid_tag', 'quota_exceeded'],
    target: versionTarget,
  },
  async (
    services,
    principal,
    input: ObjectName & { readonly tags: readonly (readonly [name: string, value: string])[] },
  ): Promise<FoundObject> => {
    const { bucket, object } = findObject(services, principal, input)
    const tags = checkTags(input.tags)
    const reply = await services.propose({
      type: 'setObjectTags',
      tenantId: principal.tenantId,
      bucket: bucket.name,
      key: object.key,
      versionId: input.versionId ?? null,
      tags,
    })
    return { bucket, object: settle(reply) }
  },
)
