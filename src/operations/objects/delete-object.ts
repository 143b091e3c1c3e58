/**
 * deleteObject: authorize -> bucket exists -> commit, which decides precondition and retention.
 *
 * A key or a version that is not there is no error: repeating is safe. That it is not there only the commit knows. [decisions 16]
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import type { Deleted } from '../../state-machine/objects/commands.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import { keyFor, type ObjectName } from './object-checks.ts'

interface DeleteObjectInput extends ObjectName {
  /** Of the version that is to go. */
  readonly ifMatch: readonly string[] | null
}

export interface DeletedObject {
  readonly bucket: BucketRecord
  readonly deleted: Deleted
}

export async function deleteObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: DeleteObjectInput,
): Promise<DeletedObject> {
  const { bucket, key } = keyFor(services, { principal, operationId: 'deleteObject' }, input)
  const { versionId, ifMatch } = input
  const reply = await services.propose({
    type: 'deleteObject',
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key,
    versionId: versionId ?? null,
    ifMatch,
  })
  return { bucket, deleted: settle(reply) }
}
