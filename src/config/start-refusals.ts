/**
 * What of a configuration without faults a start refuses all the same, as far as no network and no folder has to be looked at.
 */
import { isLoopbackAddress } from '../../cluster/index.ts'
import { type ConfigFault, configFault } from './config-fault.ts'
import { plainListenerHint, plainListeners } from './plain-listeners.ts'
import type { Config } from './types.ts'

/** `where`: the name of the file. */
export function startRefusals(config: Config, where: string): readonly ConfigFault[] {
  const listeners = plainListeners(config)
    .filter(({ isAllowed }) => !isAllowed)
    .map(({ listener, address }) =>
      configFault({
        setting: `listeners.${listener}`,
        where,
        message: `listeners.${listener} (${address}) would serve other machines over plain HTTP (listener_tls_required)`,
        hint: plainListenerHint(listener),
      }),
    )
  return [...listeners, ...plainPeers(config, where)]
}

function plainPeers({ peerTls, listeners }: Config, where: string): readonly ConfigFault[] {
  if (peerTls !== null || isLoopbackAddress(listeners.peer)) return []
  return [
    configFault({
      setting: 'listeners.peer',
      where,
      message: `listeners.peer (${listeners.peer}) would be reached by other machines without TLS (peer_tls_required)`,
      hint: 'Set peer_tls.ca, peer_tls.cert and peer_tls.key; holdfast certs makes them.',
    }),
  ]
}

/** A node that is no member starts only to join a running cluster. */
export function isNewcomer({ node, cluster }: Config): boolean {
  return !cluster.members.some(({ nodeId }) => nodeId === node.id)
}
