/**
 * Benches for the transport suite: nodes over real sockets, nodes over the loopback network.
 */
import type { Test } from 'tap'
import { until } from '../helpers/async.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { SystemClock } from '../../cluster/base/system-clock.ts'
import type { NodeId } from '../../cluster/raft/types.ts'
import { PeerTransport, type PeerTransportOptions } from '../../cluster/transport/peer-transport.ts'
import { LoopbackNetwork } from '../../cluster/transport/loopback-transport.ts'
import type { CallHandler, Transport } from '../../cluster/transport/transport.ts'
import type { PeerAddress } from '../../cluster/base/types.ts'
import type { BenchNode, TransportBench } from '../port-suites/transport.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

type NodeOptions = Readonly<Record<NodeId, Partial<PeerTransportOptions>>>
type Handlers = Readonly<Record<string, CallHandler>>

/** A port on which no process listens: lower than the ports that a user may bind. */
export const NOWHERE: PeerAddress = '127.0.0.1:1'

export class PeerBench implements TransportBench {
  readonly clock = new SystemClock()
  readonly addresses = new Map<NodeId, PeerAddress>([
    ['a', NOWHERE],
    ['b', NOWHERE],
  ])
  readonly lines: LogLine[] = []
  readonly #t: Test
  readonly #options: Partial<PeerTransportOptions>
  readonly #only: NodeOptions

  /** `only`: options of single nodes, over those of all. */
  constructor(t: Test, options: Partial<PeerTransportOptions> = {}, only: NodeOptions = {}) {
    this.#t = t
    this.#options = options
    this.#only = only
  }

  make(nodeId: NodeId, options: Partial<PeerTransportOptions> = {}): PeerTransport {
    const transport = new PeerTransport({
      clusterId: 'test-cluster',
      nodeId,
      incarnation: `life-of-${nodeId}`,
      listen: '127.0.0.1:0',
      addresses: this.addresses,
      tls: null,
      clock: this.clock,
      logger: recordingLogger(this.lines),
      ...this.#options,
      ...this.#only[nodeId],
      ...options,
    })
    this.#t.teardown(() => transport.stop())
    return transport
  }

  async start(
    nodeId: NodeId,
    handlers: Handlers = {},
  ): Promise<BenchNode & { readonly transport: PeerTransport }> {
    return this.run(nodeId, this.make(nodeId), handlers)
  }

  async run(nodeId: NodeId, transport: PeerTransport, handlers: Handlers = {}) {
    const node = await startNode(transport, handlers)
    this.addresses.set(nodeId, transport.address)
    return { ...node, transport }
  }

  settle<T>(promise: Promise<T>): Promise<T> {
    return promise
  }

  until(condition: () => boolean): Promise<void> {
    return until('the condition holds', condition)
  }
}

export class LoopbackBench implements TransportBench {
  readonly clock = new VirtualClock()
  readonly network: LoopbackNetwork

  constructor(
    options: {
      readonly random?: () => number
      readonly minDelayMs?: number
      readonly maxDelayMs?: number
    } = {},
  ) {
    this.network = new LoopbackNetwork({ random: () => 0, ...options, clock: this.clock })
  }

  async start(nodeId: NodeId, handlers: Handlers = {}): Promise<BenchNode> {
    return startNode(this.network.transport(nodeId, { incarnation: `life-of-${nodeId}` }), handlers)
  }

  settle<T>(promise: Promise<T>): Promise<T> {
    return this.clock.resolve(promise, { limitMs: 120_000 })
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await this.clock.advance(1)
  }
}

async function startNode(transport: Transport, handlers: Handlers): Promise<BenchNode> {
  const node: BenchNode = { transport, received: [], unreachable: [], refused: [] }
  for (const [method, handler] of Object.entries(handlers)) transport.handle(method, handler)
  await transport.start({
    onMessages: (messages) => void node.received.push(...messages),
    onUnreachable: (peer) => void node.unreachable.push(peer),
    onRefused: (peer, code) => void node.refused.push(`${peer} ${code}`),
  })
  return node
}
