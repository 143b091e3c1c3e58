/** getObjectLegalHold: authorize -> exists; what was never held is not held. [decisions 3] */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'

export async function getObjectLegalHold(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<FoundObject> {
  return objectFor(services, { principal, operationId: 'getObjectLegalHold' }, input)
}
