/**
 * Judges which targets inside the network tenants may send their notifications to.
 *
 * Owns: the judgement. Knows nothing of: names and addresses; whether an origin answers is no question of the configuration.
 */
import type { Config } from '../config/types.ts'
import { type Finding, warning, well } from './finding.ts'

export function checkWebhookTargets({
  allowOrigins,
}: Pick<Config['notifications'], 'allowOrigins'>): readonly Finding[] {
  const open = allowOrigins.filter(({ tenants }) => tenants === null)
  if (open.length === 0) {
    const found =
      allowOrigins.length === 0
        ? 'webhooks reach public addresses only'
        : 'every origin of notifications.allow_origins is open to the tenants that it names'
    return [well('webhook_targets', found)]
  }
  return open.map(({ origin }) =>
    warning('webhook_targets', {
      found: `notifications.allow_origins opens ${origin} to every tenant of this cluster`,
      expected: 'an entry that names the tenants for which the receiver is meant',
      action: `Write {origin: "${origin}", tenants: [ID], paths: [/PATH]} in its place on every node, unless every tenant may send requests there.`,
    }),
  )
}
