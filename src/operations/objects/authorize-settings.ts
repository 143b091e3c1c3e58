/**
 * Authorizes the settings that come along with a new version, each as the operation that sets it by itself.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { VersionSettings } from '../../state-machine/versions/records.ts'
import type { Services } from '../base/services.ts'
import { keyTarget } from '../base/targets.ts'
import type { KeyName } from './object-checks.ts'
import { setObjectLegalHold } from './set-object-legal-hold.ts'
import { setObjectRetention } from './set-object-retention.ts'
import { setObjectTags } from './set-object-tags.ts'

/** Throws Refusal access_denied. */
export function authorizeSettings(
  { state }: Services,
  principal: AccessKeyPrincipal,
  name: KeyName,
  { tags, retention, legalHold }: VersionSettings,
): void {
  const target = keyTarget(name)
  if (Object.keys(tags).length > 0) authorize(principal, setObjectTags, target, state)
  if (retention !== null) authorize(principal, setObjectRetention, target, state)
  if (legalHold) authorize(principal, setObjectLegalHold, target, state)
}
