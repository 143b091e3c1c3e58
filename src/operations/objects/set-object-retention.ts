/**
 * setObjectRetention: authorize -> exists -> not too far ahead -> commit.
 *
 * That it is extended and never shortened is decided in the commit, by the time of the log. No caller may bypass it here.
 */
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey } from '../../access/rights.ts'
import type { Target } from '../../access/base/target.ts'
import { settle } from '../../commands/settle.ts'
import type { RetentionRecord } from '../../state-machine/versions/records.ts'
import { dataOperation } from '../base/operation.ts'
import { versionTarget } from '../base/targets.ts'
import { findObject, type ObjectName } from './object-checks.ts'
import type { RetainedObject } from './object-lookups.ts'
import { checkRetention } from './retention-bound.ts'

type SetRetentionInput = ObjectName & { readonly retention: RetentionRecord }

function retentionTarget(input: SetRetentionInput): Target {
  return { ...versionTarget(input), retainUntil: input.retention.until }
}

export const setObjectRetention = dataOperation(
  {
    id: 'setObjectRetention',
    requires: accessKey('write', 'key'),
    s3Action: S3_ACTIONS.putObjectRetention,
    refuses: ['method_not_allowed', 'object_lock_not_enabled', 'object_locked'],
    target: retentionTarget,
  },
  async (services, principal, input: SetRetentionInput): Promise<RetainedObject> => {
    const { bucket, object } = findObject(services, principal, input)
    const { retention } = input
    checkRetention(services, retention)
    const reply = await services.propose({
      type: 'setObjectRetention',
      tenantId: principal.tenantId,
      bucket: bucket.name,
      key: object.key,
      versionId: input.versionId ?? null,
      retention,
    })
    return { bucket, object: settle(reply), retention }
  },
)
