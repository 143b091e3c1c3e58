/**
 * Judges the listeners, the other members and the clocks.
 *
 * Owns: the judgement. Knows nothing of: sockets and time; measurements are passed in.
 */
import { error, type Finding, warning, well } from '../../doctor/finding.ts'

export interface ListenerFacts {
  readonly setting: string
  readonly address: string
  /** `own`: the running node of this data directory listens there. `other`: it listens elsewhere. */
  readonly use: 'free' | 'own' | 'other' | 'taken' | 'unavailable'
  /** errno name, or where the running node listens instead. */
  readonly detail: string
}

export function checkListener({ setting, address, use, detail }: ListenerFacts): Finding {
  const name = `${setting} ${address}`
  if (use === 'free') return well('listeners', `${name} is free`)
  if (use === 'own') return well('listeners', `${name} is in use by this node`)
  if (use === 'other')
    return warning('listeners', {
      found: `the running node has ${setting} ${detail}`,
      expected: `${address}, as configured`,
      action: 'Restart the node to apply the configuration.',
    })
  if (use === 'taken')
    return error('listeners', {
      found: `${name} is in use by another program (address_in_use)`,
      expected: 'a free port',
      action: `Stop that program (ss -ltnp shows it), or set ${setting} to a free port${setting === 'listeners.peer' ? ', and cluster.members on every node' : ''}.`,
    })
  return error('listeners', {
    found: `no process can listen on ${name} (${detail})`,
    expected: 'an address of this machine and a port that this user may open',
    action: `Set ${setting} to an address of this machine, or to 0.0.0.0 for all of them.`,
  })
}

export interface PeerFacts {
  readonly nodeId: string
  readonly address: string
  readonly outcome: 'accepted' | 'refused' | 'foreign' | 'unreachable'
  readonly code: string
  readonly message: string
  /** How far its clock is ahead of ours, as an estimate; null: it reported no time. ms */
  readonly aheadMs: number | null
}

/** The action after a refusal of a peer, by the code of the refusal. */
const REFUSALS: Readonly<Record<string, string>> = {
  foreign_cluster: 'Set the same cluster.id on all nodes; the id of a running cluster never changes.',
  wrong_node: 'Correct the address of this member in cluster.members: another node answers there.',
  unknown_member: 'Set the same cluster.members on all nodes; check the list of the refusing node.',
  wrong_certificate: 'Give this node a certificate that names it (peer_tls.cert).',
  shutting_down: 'Wait until that node has restarted.',
  unsupported_protocol: 'Run consecutive versions on the two nodes.',
}

/** `isFirstStart`: this node has no data yet, so the others may be about to start too. */
export function checkPeer(
  { nodeId, address, outcome, code, message }: PeerFacts,
  isFirstStart = false,
): Finding {
  const name = `${nodeId} at ${address}`
  if (outcome === 'accepted') return well('peers', `${name} answers and accepts this node`)
  const expected = `an answer of node ${nodeId} that accepts this node`
  if (outcome === 'refused')
    return error('peers', {
      found: `${name} refuses this node: ${message} (${code})`,
      expected,
      action: REFUSALS[code] ?? 'See the log of that node.',
    })
  if (outcome === 'foreign')
    return error('peers', {
      found: `the program that answers at ${address} is not a holdfast node`,
      expected,
      action: 'Correct the address in cluster.members, or stop the program that uses it.',
    })
  // The machine is there and its firewall lets through; only the program does not run.
  if (isFirstStart && code === 'ECONNREFUSED')
    return warning('peers', {
      found: `${name} has not been started: nothing listens there (${code})`,
      expected,
      action: 'Start all nodes of the new cluster, in any order, and run this command again.',
    })
  return error('peers', {
    found: `${name} cannot be reached: ${message} (${code})`,
    expected,
    action: isTls(code)
      ? 'Check the certificates of both nodes: authority, names, dates (run this command on each node).'
      : 'Start that node, and check its address, and routes and firewalls between the two machines.',
  })
}

const isTls = (code: string): boolean => /cert|ssl|tls|signature|unable_to/i.test(code)

/** The header `Date` has whole seconds, so smaller differences cannot be measured. */
export function checkClock(peers: readonly PeerFacts[], skewMaxMs: number): readonly Finding[] {
  const clocks = peers.flatMap(({ nodeId, aheadMs }) => (aheadMs === null ? [] : [{ nodeId, aheadMs }]))
  if (clocks.length === 0) return []
  const apart = clocks.filter(({ aheadMs }) => Math.abs(aheadMs) > skewMaxMs)
  if (apart.length === 0)
    return [well('clock', `agrees with ${clocks.map(({ nodeId }) => nodeId).join(', ')} to about a second`)]
  // If all peers agree with each other, the clock of this machine is wrong.
  const isOurs = clocks.length > 1 && apart.length === clocks.length && spread(clocks) <= skewMaxMs
  const whose = isOurs ? 'of this machine, which differs from all others,' : 'of both machines'
  return apart.map(({ nodeId, aheadMs }) =>
    error('clock', {
      found: `the clock of ${nodeId} is ${seconds(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of this machine`,
      expected: `at most cluster.clock_skew_max (${seconds(skewMaxMs)}) apart`,
      action: `Synchronize the clock ${whose} by NTP (chronyc tracking, timedatectl). Until then tokens and signed URLs expire early or late.`,
    }),
  )
}

const seconds = (ms: number): string => `${Math.abs(Math.round(ms / 100) / 10)} s`

function spread(clocks: readonly { readonly aheadMs: number }[]): number {
  const all = clocks.map(({ aheadMs }) => aheadMs)
  return Math.max(...all) - Math.min(...all)
}
