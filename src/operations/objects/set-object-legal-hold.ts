/** setObjectLegalHold: authorize -> exists -> commit, which knows whether the bucket has object lock. */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'

export async function setObjectLegalHold(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName & { readonly legalHold: boolean },
): Promise<FoundObject> {
  const { bucket, object } = objectFor(services, { principal, operationId: 'setObjectLegalHold' }, input)
  const reply = await services.propose({
    type: 'setObjectLegalHold',
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key: object.key,
    versionId: input.versionId ?? null,
    legalHold: input.legalHold,
  })
  return { bucket, object: settle(reply) }
}
