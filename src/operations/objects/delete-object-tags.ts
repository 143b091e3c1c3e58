/** deleteObjectTags: authorize -> exists -> commit; repeating is safe. [decisions 5] */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'

export async function deleteObjectTags(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<FoundObject> {
  const { bucket, object } = objectFor(services, { principal, operationId: 'deleteObjectTags' }, input)
  const reply = await services.propose({
    type: 'setObjectTags',
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key: object.key,
    versionId: input.versionId ?? null,
    tags: {},
  })
  return { bucket, object: settle(reply) }
}
