/**
 * The source of a copy: authorized as a read, found, and held against the conditions of the request.
 *
 * Knows nothing of: where the bytes go. Rule: a caller without read access learns nothing of the source, not even whether it exists.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { Refusal } from '../../base/refusal.ts'
import type { InCut } from '../../store/reads/version-lookup.ts'
import type { Services } from '../base/services.ts'
import { versionTarget } from '../base/targets.ts'
import { failedCondition, type ReadConditions } from './conditions.ts'
import { getObject } from './get-object.ts'
import { findObject, type FoundObject, type ObjectName } from './object-checks.ts'

/** A delete marker has nothing to copy; `method_not_allowed` would name a method of another path. Throws Refusal. */
export function findSource(
  services: Services,
  principal: AccessKeyPrincipal,
  name: ObjectName,
  inCut?: InCut,
): FoundObject {
  authorize(principal, getObject, versionTarget(name), services.state)
  try {
    return findObject(services, principal, name, inCut)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'method_not_allowed') throw error
    throw new Refusal('invalid_request', `Cannot copy "${name.key}": its version is a delete marker`, {
      cause: error,
    })
  }
}

/** Throws Refusal precondition_failed: a copy has no other answer to a condition that does not hold. [decisions 14] */
export function checkSource(conditions: ReadConditions, { object }: FoundObject): void {
  if (failedCondition(conditions, object) === null) return
  const { key, etag, lastModified } = object
  throw new Refusal(
    'precondition_failed',
    `The source "${key}" has the etag "${etag}" and was stored at ${new Date(lastModified).toISOString()}, which a condition excludes`,
  )
}
