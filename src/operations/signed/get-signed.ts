/** getSigned: authorized by the URL, then all that getObject asks of the key behind it as it is now. HEAD reads no byte. */
import { authorize } from '../../access/authorize.ts'
import type { SignedUrlPrincipal } from '../../access/base/signed-url.ts'
import { getObject, type ReadableObject } from '../objects/get-object.ts'
import type { KeyName } from '../objects/object-checks.ts'
import type { Services } from '../base/services.ts'

export async function getSigned(
  services: Services,
  principal: SignedUrlPrincipal,
  name: KeyName,
): Promise<ReadableObject> {
  authorize(principal, 'getSigned', name, services.state)
  return getObject(services, principal, { ...name, versionId: undefined })
}
