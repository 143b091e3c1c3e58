/**
 * The right to set retention in mode GOVERNANCE aside, which comes on top of the right to do what it holds up.
 *
 * Owns: what it requires. Knows nothing of: which versions are retained; who may not bypass is refused whether the bypass would matter or
 * not, so that the refusal tells nothing of them. Rule: asked for explicitly, by no way of the native API, and audited.
 * [AWS S3 API: x-amz-bypass-governance-retention] [decisions 14]
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import { S3_ACTIONS } from '../../access/policies/s3-actions.ts'
import { accessKey, type DataRights } from '../../access/rights.ts'
import type { GovernanceBypass } from '../../state-machine/objects/commands.ts'
import type { Services } from '../base/services.ts'
import { versionTarget } from '../base/targets.ts'
import type { FoundKey, ObjectName } from './object-checks.ts'
import { lookUpVersion } from '../../store/reads/version-lookup.ts'
import { lockOf } from '../../state-machine/versions/locks.ts'

export const BYPASS_GOVERNANCE: DataRights = {
  id: 'bypassGovernanceRetention',
  requires: accessKey('admin', 'key'),
  s3Action: S3_ACTIONS.bypassGovernanceRetention,
}

export interface BypassableName extends ObjectName {
  readonly bypassGovernance?: boolean
}

/** Throws Refusal access_denied. */
export function governanceBypass(
  { state }: Services,
  principal: AccessKeyPrincipal,
  name: BypassableName,
): GovernanceBypass {
  const { bypassGovernance = false } = name
  if (bypassGovernance) authorize(principal, BYPASS_GOVERNANCE, versionTarget(name), state)
  return bypassOf(bypassGovernance)
}

/** The member of a command of a caller that may bypass. */
export function bypassOf(isAsked: boolean): GovernanceBypass {
  return isAsked ? { bypassGovernance: true } : {}
}

/** Whether the version is one that only a bypass lets go, as this node knows it now. No version: a delete marker is made. */
export function isGoverned(
  { state, cluster }: Services,
  { bucket, key, versionId }: FoundKey & Pick<ObjectName, 'versionId'>,
): boolean {
  if (versionId === undefined) return false
  const version = lookUpVersion(state, bucket, { key, versionId })
  const time = cluster.time.now()
  return version !== undefined && lockOf(version, time) !== null && lockOf(version, time, true) === null
}
