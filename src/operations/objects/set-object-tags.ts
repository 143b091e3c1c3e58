/** setObjectTags: authorize -> exists -> tags are good -> commit; all tags are replaced. [decisions 5] */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'
import { checkTags } from './object-tags.ts'

export async function setObjectTags(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName & { readonly tags: Readonly<Record<string, string>> },
): Promise<FoundObject> {
  const { bucket, object } = objectFor(services, { principal, operationId: 'setObjectTags' }, input)
  const tags = checkTags(Object.entries(input.tags))
  const reply = await services.propose({
    type: 'setObjectTags',
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key: object.key,
    versionId: input.versionId ?? null,
    tags,
  })
  return { bucket, object: settle(reply) }
}
