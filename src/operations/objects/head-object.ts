/** headObject: authorize -> exists; the record says everything, no byte is read. */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { Services } from '../base/services.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'

export async function headObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<FoundObject> {
  return objectFor(services, { principal, operationId: 'headObject' }, input)
}
