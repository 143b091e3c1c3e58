/** headObject: authorize -> exists; the record says everything, no byte is read. */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import type { Services } from '../services.ts'
import { findObject, type FoundObject, type ObjectName } from './find-object.ts'

export async function headObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<FoundObject> {
  authorize(principal, 'headObject', { bucket: input.bucket, key: input.key })
  return findObject(services, principal, input)
}
