/**
 * setObjectRetention: authorize -> exists -> commit.
 *
 * That it is extended and never shortened is decided in the commit, by the time of the log. Nobody may bypass it here.
 */
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { RetentionRecord } from '../../state-machine/versions/records.ts'
import type { Services } from '../base/services.ts'
import { settle } from '../../commands/settle.ts'
import type { RetainedObject } from './get-object-retention.ts'
import { objectFor, type ObjectName } from './object-checks.ts'

export async function setObjectRetention(
  services: Services,
  principal: AccessKeyPrincipal,
  input: ObjectName & { readonly retention: RetentionRecord },
): Promise<RetainedObject> {
  const { bucket, object } = objectFor(services, { principal, operationId: 'setObjectRetention' }, input)
  const { retention } = input
  const reply = await services.propose({
    type: 'setObjectRetention',
    tenantId: principal.tenantId,
    bucket: bucket.name,
    key: object.key,
    versionId: input.versionId ?? null,
    retention,
  })
  return { bucket, object: settle(reply), retention }
}
