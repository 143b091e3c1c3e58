/**
 * What of a configuration without faults a start refuses all the same, by the settings alone.
 *
 * Owns: the rule that nothing leaves this machine in plain text unless the operator wrote so. Knows nothing of: files, networks.
 */
import { isLoopbackAddress, StartError } from '../../cluster/index.ts'
import { plainListenerHint, plainListeners } from './plain-listeners.ts'
import type { SettingName } from './settings.ts'
import type { Config } from './types.ts'

export interface StartRefusal {
  /** Where the operator corrects it; null: in no single setting. */
  readonly setting: SettingName | null
  readonly error: StartError
}

export function plainTextRefusals(config: Config): readonly StartRefusal[] {
  return [...plainPublicListeners(config), ...plainPeers(config)]
}

function plainPublicListeners(config: Config): readonly StartRefusal[] {
  return plainListeners(config)
    .filter(({ isAllowed }) => !isAllowed)
    .map(({ listener, address }) => ({
      setting: `listeners.${listener}`,
      error: new StartError(
        'listener_tls_required',
        `Cannot start: listeners.${listener} (${address}) would serve other machines over plain HTTP`,
        { hint: plainListenerHint(listener) },
      ),
    }))
}

function plainPeers({ peerTls, listeners, cluster }: Config): readonly StartRefusal[] {
  if (peerTls !== null) return []
  const refusal = (setting: SettingName, what: string): StartRefusal => ({
    setting,
    error: new StartError(
      'peer_tls_required',
      `Cannot start: ${what} would be reached by other machines without TLS`,
      {
        hint: 'Set peer_tls.ca, peer_tls.cert and peer_tls.key; `holdfast certs` makes the files. Without them use 127.0.0.1, for a trial on one machine.',
      },
    ),
  })
  const isOpen = (address: string): boolean => !isLoopbackAddress(address)
  return [
    ...(isOpen(listeners.peer) ? [refusal('listeners.peer', `listeners.peer (${listeners.peer})`)] : []),
    ...cluster.members
      .filter(({ peerAddress }) => isOpen(peerAddress))
      .map(({ nodeId, peerAddress }) =>
        refusal('cluster.members', `member ${nodeId} of cluster.members (${peerAddress})`),
      ),
  ]
}
