/**
 * Authorizes the settings that come along with a new version, each as the operation that sets it by itself, and checks the bound of
 * its retention.
 */
import { authorize } from '../../access/authorize.ts'
import type { AccessKeyPrincipal } from '../../access/base/principal.ts'
import type { VersionSettings } from '../../state-machine/versions/records.ts'
import type { Services } from '../base/services.ts'
import { keyTarget, newVersionTarget } from '../base/targets.ts'
import type { KeyName } from './object-checks.ts'
import { checkRetention } from '../base/retention-bound.ts'
import { setObjectLegalHold } from './set-object-legal-hold.ts'
import { setObjectRetention } from './set-object-retention.ts'
import { setObjectTags } from './set-object-tags.ts'

/** Throws Refusal access_denied, invalid_request. */
export function authorizeSettings(
  services: Services,
  principal: AccessKeyPrincipal,
  name: KeyName,
  { tags, retention, legalHold }: VersionSettings,
): void {
  const { state } = services
  const target = keyTarget(name)
  if (Object.keys(tags).length > 0) authorize(principal, setObjectTags, target, state)
  if (retention !== null)
    authorize(principal, setObjectRetention, newVersionTarget({ ...name, retention }), state)
  if (legalHold) authorize(principal, setObjectLegalHold, target, state)
  if (retention !== null) checkRetention(services, retention)
}
