/** getSigned: authorized by the URL, then all that getObject asks of the key behind it as it is now. HEAD reads no byte. */
import type { SignedUrlPrincipal } from '../../access/base/signed-url.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import { dataOperation } from '../base/operation.ts'
import { keyTarget } from '../base/targets.ts'
import { getObject, type ReadableObject } from '../objects/get-object.ts'
import type { KeyedObjectName, KeyName } from '../objects/object-checks.ts'
import { READ_REFUSALS } from '../objects/refusals.ts'

export const getSigned = dataOperation(
  {
    id: 'getSigned',
    requires: accessKey('read', 'key'),
    s3Action: S3_ACTIONS.getObject,
    coveredByUrl: { method: 'GET', isRequired: true },
    refuses: [...READ_REFUSALS, 'range_not_satisfiable', 'not_enough_replicas'],
    target: keyTarget,
  },
  async (
    services,
    principal: SignedUrlPrincipal,
    name: KeyName & Pick<KeyedObjectName, 'customerKey'>,
  ): Promise<ReadableObject> => {
    return getObject(services, principal, { ...name, versionId: undefined })
  },
)
