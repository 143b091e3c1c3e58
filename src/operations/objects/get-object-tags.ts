/** getObjectTags: authorize -> exists; an object without tags has none, which is no error. [decisions 5] */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'

export async function getObjectTags(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<FoundObject> {
  return objectFor(services, { principal, operationId: 'getObjectTags' }, input)
}
