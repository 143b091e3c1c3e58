/**
 * What is to be said of listeners, of the other members and of the clocks.
 *
 * Owns: the judgement. Knows nothing of: sockets and time; what was measured comes in.
 */
import { error, type Finding, warning, well } from './finding.ts'

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
  if (use === 'own') return well('listeners', `${name} is in use by this very node`)
  if (use === 'other')
    return warning('listeners', {
      found: `the running node has ${setting} ${detail}`,
      expected: `${address}, as configured`,
      action: 'Restart the node to put the configuration into force.',
    })
  if (use === 'taken')
    return error('listeners', {
      found: `${name} is in use by another program (address_in_use)`,
      expected: 'a free port',
      action: `Stop that program (ss -ltnp shows it), or set ${setting} to a free port${setting === 'listeners.peer' ? ', and cluster.members on every node' : ''}.`,
    })
  return error('listeners', {
    found: `nobody can listen on ${name} (${detail})`,
    expected: 'an address of this machine and a port that this user may open',
    action: `Set ${setting} to an address of this machine, or to 0.0.0.0 for all of them.`,
  })
}

export interface PeerFacts {
  readonly nodeId: string
  readonly address: string
  readonly outcome: 'heard' | 'refused' | 'foreign' | 'unreachable'
  readonly code: string
  readonly message: string
  /** How far its clock is ahead of ours, as far as can be told; null: it did not say. ms */
  readonly aheadMs: number | null
}

/** What to do about a refusal of a peer, by its code. */
const REFUSALS: Readonly<Record<string, string>> = {
  foreign_cluster: 'Give all nodes the same cluster.id; that of a running cluster is never changed.',
  wrong_node: 'Correct the address of this member in cluster.members: another node answers there.',
  unknown_member: 'Give all nodes the same cluster.members; see which list the refusing node has.',
  wrong_certificate: 'Give this node a certificate that names it (peer_tls.cert).',
  shutting_down: 'Wait until that node has restarted.',
  unsupported_protocol: 'Bring both nodes to versions that follow one another.',
}

export function checkPeer({ nodeId, address, outcome, code, message }: PeerFacts): Finding {
  const name = `${nodeId} at ${address}`
  if (outcome === 'heard') return well('peers', `${name} answers and would hear this node`)
  const expected = `node ${nodeId}, which hears this node`
  if (outcome === 'refused')
    return error('peers', {
      found: `${name} refuses this node: ${message} (${code})`,
      expected,
      action: REFUSALS[code] ?? 'See what the log of that node says.',
    })
  if (outcome === 'foreign')
    return error('peers', {
      found: `what answers at ${address} is no node of holdfast`,
      expected,
      action: 'Correct the address in cluster.members, or stop the program that took it.',
    })
  return error('peers', {
    found: `${name} cannot be reached: ${message} (${code})`,
    expected,
    action: isTls(code)
      ? 'Look at the certificates of both nodes: authority, names, dates (this command on each of them).'
      : 'Start that node, and check address, routes and firewall between the two machines.',
  })
}

const isTls = (code: string): boolean => /cert|ssl|tls|signature|unable_to/i.test(code)

/** `Date` tells whole seconds: what is nearer than that cannot be told apart. */
export function checkClock(peers: readonly PeerFacts[], skewMaxMs: number): readonly Finding[] {
  const told = peers.flatMap(({ nodeId, aheadMs }) => (aheadMs === null ? [] : [{ nodeId, aheadMs }]))
  if (told.length === 0) return []
  const apart = told.filter(({ aheadMs }) => Math.abs(aheadMs) > skewMaxMs)
  if (apart.length === 0)
    return [well('clock', `agrees with ${told.map(({ nodeId }) => nodeId).join(', ')} to about a second`)]
  // Where all others agree with one another, the odd one out is this machine.
  const isOurs = told.length > 1 && apart.length === told.length && spread(told) <= skewMaxMs
  const who = isOurs ? 'of this machine, which is the odd one out,' : 'of both machines'
  return apart.map(({ nodeId, aheadMs }) =>
    error('clock', {
      found: `the clock of ${nodeId} is ${seconds(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of this machine`,
      expected: `at most cluster.clock_skew_max (${seconds(skewMaxMs)}) apart`,
      action: `Let NTP set the clock ${who} (chronyc tracking, timedatectl). Tokens and signed URLs end early or late until then.`,
    }),
  )
}

const seconds = (ms: number): string => `${Math.abs(Math.round(ms / 100) / 10)} s`

function spread(told: readonly { readonly aheadMs: number }[]): number {
  const all = told.map(({ aheadMs }) => aheadMs)
  return Math.max(...all) - Math.min(...all)
}
