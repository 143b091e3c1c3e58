/**
 * Tries the listeners and probes the peers, all at once and for a few seconds at most.
 *
 * Owns: sockets that are closed again immediately. Rule: an address is tried only while no node of this directory runs.
 */
import { createServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type Member, probePeer, StartError } from '../../../cluster/index.ts'
import type { Config } from '../../config/types.ts'
import type { ListenerFacts, PeerFacts } from './network-checks.ts'
import type { NodeFacts } from '../../doctor/node-checks.ts'

const PROBE_MS_MAX = 3000
/** The header `Date` has whole seconds; the middle of a second is the best estimate. ms */
const HALF_SECOND_MS = 500

const LISTENERS = ['data', 'admin', 'peer'] as const

/** Empty while a process holds the directory and does not answer: its listeners are unknown. */
export async function listenerFacts(
  { listeners }: Config,
  node: NodeFacts,
): Promise<readonly ListenerFacts[]> {
  if (node.kind === 'silent') return []
  return Promise.all(
    LISTENERS.map(async (which) => {
      const [setting, address] = [`listeners.${which}`, listeners[which]]
      if (node.kind === 'stopped') return { setting, address, ...(await tryAddress(address)) }
      const running = node.status?.listeners[which] ?? address
      return { setting, address, use: running === address ? 'own' : 'other', detail: running }
    }),
  )
}

function tryAddress(address: string): Promise<Pick<ListenerFacts, 'use' | 'detail'>> {
  const colon = address.lastIndexOf(':')
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '')
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', ({ code = 'unknown' }: NodeJS.ErrnoException) =>
      resolve({ use: code === 'EADDRINUSE' ? 'taken' : 'unavailable', detail: code }),
    )
    server.listen({ host, port: Number(address.slice(colon + 1)), exclusive: true }, () => {
      server.close(() => resolve({ use: 'free', detail: '' }))
    })
  })
}

export async function peerFacts(config: Config): Promise<readonly PeerFacts[]> {
  const others = config.cluster.members.filter(({ nodeId }) => nodeId !== config.node.id)
  return Promise.all(others.map((member) => probeMember(config, member)))
}

async function probeMember({ cluster, node, peerTls }: Config, member: Member): Promise<PeerFacts> {
  const { nodeId, peerAddress: address } = member
  const signal = AbortSignal.timeout(PROBE_MS_MAX)
  const start = { wall: Date.now(), ticks: performance.now() }
  try {
    const { date, ...verdict } = await probePeer({
      clusterId: cluster.id,
      from: node.id,
      to: nodeId,
      address,
      tls: peerTls,
      signal,
    })
    const middle = start.wall + (performance.now() - start.ticks) / 2
    const peerTime = date === null ? Number.NaN : Date.parse(date) + HALF_SECOND_MS
    const aheadMs = Number.isNaN(peerTime) ? null : peerTime - middle
    if (!signal.aborted) return { nodeId, address, ...verdict, aheadMs }
    const message = `no answer within ${PROBE_MS_MAX / 1000} s`
    return { nodeId, address, outcome: 'unreachable', code: 'timed_out', message, aheadMs: null }
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause
    // The fault is in our own certificate, which another check reports.
    const { code, message } = cause
    return { nodeId, address, outcome: 'unreachable', code, message, aheadMs: null }
  }
}
