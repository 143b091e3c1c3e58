/** getObjectRetention: authorize -> exists -> was ever set, or not_found. [decisions 3, 16] */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { RetentionRecord } from '../../state-machine/versions/records.ts'
import type { Services } from '../base/services.ts'
import { type FoundObject, objectFor, type ObjectName } from './object-checks.ts'

export interface RetainedObject extends FoundObject {
  readonly retention: RetentionRecord
}

export async function getObjectRetention(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName,
): Promise<RetainedObject> {
  const found = objectFor(services, { principal, operationId: 'getObjectRetention' }, input)
  const { key, retention } = found.object
  if (retention === null) throw new Refusal('not_found', `Object "${key}" has no retention`)
  return { ...found, retention }
}
