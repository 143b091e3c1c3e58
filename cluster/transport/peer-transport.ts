/**
 * Transport over sockets: frames, or HTTP with nodes of the version before; mutual TLS wherever another machine can listen.
 *
 * Owns: the links to peers and the listener, from start to stop. Knows nothing of: messages, methods.
 * Rule: a peer that is slow, silent or hostile costs this node a bounded amount of memory and never delays the other peers: each
 * has its own queue, connections and time limits.
 */
import assert from 'node:assert/strict'
import type { Clock, Timer } from '../base/clock.ts'
import { gauge } from '../base/metric-samples.ts'
import type { Message, NodeId } from '../raft/types.ts'
import type { Logger, MetricSample, PeerAddress, TlsFiles } from '../base/types.ts'
import { AddressMemory, type ResolveName } from './address-memory.ts'
import { callSelf } from './call-self.ts'
import { parsePeerAddress, requireLoopback } from './peer-address.ts'
import { FrameServer } from './frame-server.ts'
import type { PeerClientLimits } from './peer-client.ts'
import {
  FIRST_STATUS,
  type PeerClaims,
  type PeerIdentity,
  type PeerPolicy,
  RAFT_METHOD,
} from './peer-identity.ts'
import { PeerLink } from './peer-link.ts'
import { PeerListener } from './peer-listener.ts'
import { PeerServer } from './peer-server.ts'
import { PeerTls } from './peer-tls.ts'
import { PeerTraffic } from './peer-traffic.ts'
import { RaftLane } from './raft-lane.ts'
import {
  type CallHandler,
  type CallRequest,
  type CallResponse,
  PeerUnreachableError,
  type Transport,
  type TransportEvents,
} from './transport.ts'
import { TurnEnd } from './turn-end.ts'

export interface PeerTransportOptions extends PeerIdentity, PeerPolicy {
  /** Port 0 selects a free port; see `address`. */
  readonly listen: PeerAddress
  /** Addresses of all members, this node included. May be a live view; a changed address takes effect with the next request. */
  readonly addresses: ReadonlyMap<NodeId, PeerAddress>
  /** null: plain TCP, only on loopback. */
  readonly tls: TlsFiles | null
  readonly clock: Clock
  readonly logger: Logger
  readonly limits?: Partial<PeerClientLimits>
  /** Methods whose bodies are short, and whose answers are wanted at once; by default none. The others get a connection of their own. */
  readonly shortMethods?: readonly string[]
  /** `http`: a node of a version that does not know frames, for tests; by default both. */
  readonly speaks?: 'both' | 'http'
  /** Resolves names in addresses; by default the system does. */
  readonly resolveName?: ResolveName
}

const DEFAULT_LIMITS: PeerClientLimits = {
  connectTimeoutMs: 2_000,
  batchTimeoutMs: 2_000,
  callTimeoutMs: 10_000,
  bodyIdleMs: 60_000,
  callConnectionsMax: 16,
  callsMax: 1_024,
  numbersMax: 0x7fff_ffff,
}

/** How often the addresses of names are refreshed. ms */
const REMEMBER_MS = 10_000

interface Link {
  readonly address: PeerAddress
  readonly client: PeerLink
  readonly lane: RaftLane
}

export class PeerTransport implements Transport {
  readonly #options: PeerTransportOptions
  readonly #tls: PeerTls | null
  readonly #traffic: PeerTraffic
  readonly #names: AddressMemory
  readonly #handlers = new Map<string, CallHandler>()
  readonly #links = new Map<NodeId, Link>()
  /** Bounded by the number of addresses that members ever had. */
  readonly #unusable = new Set<PeerAddress>()
  readonly #turn = new TurnEnd()
  readonly #short: ReadonlySet<string>
  readonly #listener: PeerListener
  #nextRemembering: Timer | null = null
  #events: TransportEvents | null = null
  #stopped: Promise<void> | null = null

  /** Throws StartError for files or addresses that cannot be used. */
  constructor(options: PeerTransportOptions) {
    this.#options = options
    for (const value of [options.clusterId, options.nodeId, options.incarnation]) {
      assert(/^[\x21-\x7e]{1,128}$/.test(value), `'${value}' is not valid in a header`)
    }
    for (const address of [options.listen, ...options.addresses.values()]) this.#checkAddress(address)
    this.#tls = options.tls === null ? null : new PeerTls(options.tls, options)
    this.#traffic = new PeerTraffic(options.clock)
    this.#names = new AddressMemory(options.resolveName)
    this.#short = new Set(options.shortMethods)
    this.#listener = this.#makeListener()
  }

  /** host:port as bound. Only after start. */
  get address(): PeerAddress {
    return this.#listener.address
  }

  /** The fingerprint of the certificate that this node presents; null: it presents none. */
  get fingerprint(): string | null {
    return this.#tls?.fingerprint ?? null
  }

  async start(events: TransportEvents): Promise<void> {
    assert(this.#events === null, 'a transport is started once')
    this.#events = events
    await this.#listener.start()
    this.#rememberNames()
    const { clock, logger } = this.#options
    this.#tls?.watch({ clock, logger, onChange: () => this.#renew() })
    this.#options.logger.info({ address: this.address, tls: this.#tls !== null }, 'listening for peers')
  }

  send(message: Message): void {
    const { nodeId } = this.#options
    assert(
      message.from === nodeId && message.to !== nodeId,
      `${message.type} is not from this node to another`,
    )
    assert(this.#events !== null, 'messages are sent after start')
    if (this.#stopped !== null) return
    // Null for a member that was removed during the step; the core receives the new configuration separately.
    this.#linkTo(message.to)?.lane.push(message)
  }

  readonly atTurnEnd = (work: () => void): void => this.#turn.decide(work)

  handle(method: string, handler: CallHandler): void {
    assert(this.#events === null, 'handlers are set before start')
    assert(method !== RAFT_METHOD && /^[a-z0-9._-]{1,64}$/.test(method), `'${method}' cannot name a method`)
    assert(!this.#handlers.has(method), `'${method}' has a handler already`)
    this.#handlers.set(method, handler)
  }

  async call(to: NodeId, method: string, request: CallRequest): Promise<CallResponse> {
    const { nodeId, clock, logger } = this.#options
    if (this.#stopped !== null)
      throw new PeerUnreachableError(to, `Cannot call ${method} on ${to}: this node is stopping`)
    if (to === nodeId) {
      const context = { self: nodeId, method, handler: this.#handlers.get(method), logger }
      return callSelf(context, {
        request,
        clock,
        timeoutMs: request.timeoutMs ?? DEFAULT_LIMITS.callTimeoutMs,
      })
    }
    const link = this.#linkTo(to)
    if (link === null)
      throw new PeerUnreachableError(to, `Cannot call ${method} on ${to}: no usable address of it is known`)
    return link.client.call(method, request)
  }

  metrics(): readonly MetricSample[] {
    return [...this.#traffic.samples(), ...this.#connectionSamples(), ...(this.#tls?.samples() ?? [])]
  }

  /** clock.now() of the last contact with the peer, or null. */
  lastContact(peer: NodeId): number | null {
    return this.#traffic.lastContact(peer)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  #connectionSamples(): MetricSample[] {
    return [...this.#links].flatMap(([peer, { client }]) => {
      const { short, bulk } = client.sizes()
      return Object.entries({ short, bulk, http: client.speaksHttp ? 1 : 0 }).map(([lane, count]) =>
        gauge(
          'holdfast_peer_connections',
          'Connections of frames to the peer by lane; http is 1 while the peer is asked over HTTP',
          count,
          { peer, lane },
        ),
      )
    })
  }

  /** A new certificate counts for connections that are opened from now on, and so every connection is opened again. */
  #renew(): void {
    this.#listener.renewCertificate()
    for (const { client } of this.#links.values()) client.renew()
  }

  #rememberNames(): void {
    const { addresses, clock, nodeId } = this.#options
    for (const [peer, address] of addresses) {
      if (peer !== nodeId && this.#isUsable(peer, address))
        this.#names.remember(parsePeerAddress(address).host)
    }
    this.#nextRemembering = clock.after(REMEMBER_MS, () => this.#rememberNames())
  }

  async #stop(): Promise<void> {
    this.#nextRemembering?.cancel()
    this.#tls?.stop()
    for (const { lane } of this.#links.values()) lane.stop()
    await this.#listener.stop()
    await Promise.all([...this.#links.values()].map(({ client }) => client.close()))
    this.#links.clear()
  }

  #linkTo(peer: NodeId): Link | null {
    const address = this.#options.addresses.get(peer)
    const link = this.#links.get(peer)
    if (link !== undefined && link.address === address) return link
    if (link !== undefined) this.#closeLink(peer, link)
    if (address === undefined) return null
    if (!this.#isUsable(peer, address)) return null
    const made = this.#makeLink(peer, address)
    this.#links.set(peer, made)
    return made
  }

  /** The constructor checks the addresses that are known at the start; an invalid later address must not stop a running node. */
  #isUsable(peer: NodeId, address: PeerAddress): boolean {
    if (this.#unusable.has(address)) return false
    try {
      this.#checkAddress(address)
      return true
    } catch (err) {
      this.#unusable.add(address)
      this.#options.logger.error({ peer, err }, 'peer address cannot be used')
      return false
    }
  }

  #checkAddress(address: PeerAddress): void {
    parsePeerAddress(address)
    if (this.#options.tls === null) requireLoopback(address)
  }

  #closeLink(peer: NodeId, { client, lane }: Link): void {
    this.#links.delete(peer)
    lane.stop()
    client
      .close()
      .catch((err: unknown) => this.#options.logger.warn({ peer, err }, 'old connections did not close'))
  }

  #makeLink(peer: NodeId, address: PeerAddress): Link {
    const { nodeId, clock, logger, speaks } = this.#options
    const limits = { ...DEFAULT_LIMITS, ...this.#options.limits }
    const traffic = this.#traffic
    const client = new PeerLink({
      self: this.#options,
      peerStatus: () => this.#options.peerStatus?.() ?? FIRST_STATUS,
      peer,
      onDisconnect: () => this.#events?.onUnreachable(peer),
      address,
      tls: this.#tls,
      names: this.#names,
      clock,
      turn: this.#turn,
      traffic,
      limits,
      isShort: (method) => this.#short.has(method),
      triesFrames: speaks !== 'http',
      logger,
    })
    const lane = new RaftLane({
      route: { from: nodeId, to: peer },
      post: (batch) => client.postBatch(batch),
      onUnreachable: (unreachable) => this.#events?.onUnreachable(unreachable),
      onRefused: (refusing, code) => this.#events?.onRefused?.(refusing, code),
      atTurnEnd: (make) => this.#turn.make(make),
      clock,
      traffic,
      logger,
    })
    return { address, client, lane }
  }

  #makeListener(): PeerListener {
    const { listen, clock, logger, addresses, speaks } = this.#options
    const common = {
      rules: {
        self: this.#options,
        isMember: (peer: NodeId) => this.#options.knows?.(peer) ?? addresses.has(peer),
        judge: (claims: PeerClaims) => this.#options.judge?.(claims) ?? null,
      },
      tls: this.#tls,
      traffic: this.#traffic,
      logger,
      isStopping: () => this.#stopped !== null,
      handlerOf: (method: string) => this.#handlers.get(method),
      onBatch: (messages: readonly Message[]) => this.#events?.onMessages(messages),
      onContact: (peer: NodeId) => this.#heardFrom(peer),
    }
    const { onRequest } = new PeerServer(common)
    const frames = speaks === 'http' ? null : new FrameServer({ ...common, clock, turn: this.#turn })
    return new PeerListener({ listen, tls: this.#tls, clock, logger, onRequest, frames })
  }

  #heardFrom(peer: NodeId): void {
    const link = this.#links.get(peer)
    link?.client.wake()
    link?.lane.wake()
  }
}
