/**
 * deleteObject: authorize -> bucket exists -> commit, which decides precondition and retention.
 *
 * A key or a version that is not there is no error: repeating is safe. [decisions 16]
 */
import type { AccessKeyPrincipal } from '../../access/principal.ts'
import type { Deleted } from '../../state-machine/commands.ts'
import type { BucketRecord } from '../../state-machine/records.ts'
import type { Services } from '../services.ts'
import { settle } from '../settle.ts'
import { findVersion, keyFor, type ObjectName } from './ladder.ts'

interface DeleteObjectInput extends ObjectName {
  /** Of the version that is to go. */
  readonly ifMatch: readonly string[] | null
}

export interface DeletedObject {
  readonly bucket: BucketRecord
  readonly deleted: Deleted
}

/** What comes of deleting a version that is not there. */
export const NOTHING_DELETED: Deleted = { existed: false, version: null, isMade: false }

export async function deleteObject(
  services: Services,
  principal: AccessKeyPrincipal,
  input: DeleteObjectInput,
): Promise<DeletedObject> {
  const { bucket, key } = keyFor(services, { principal, operationId: 'deleteObject' }, input)
  const { versionId, ifMatch } = input
  const isGone = versionId !== undefined && findVersion(services, { bucket, key }, versionId) === undefined
  if (isGone && ifMatch === null) return { bucket, deleted: NOTHING_DELETED }
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
