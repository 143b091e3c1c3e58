/**
 * The network between the nodes of a LoopbackNetwork: delay, loss, repetition, reordering, partitions.
 *
 * Owns: which node reaches which, and when. Its behaviour depends only on the clock and the random source, so a run can be
 * repeated. Knows nothing of: what messages mean.
 * Rule: messages cross it as encoded frames, so no node sees a change that another node makes to an object.
 */
import assert from 'node:assert/strict'
import type { Clock } from '../base/clock.ts'
import type { Message, NodeId } from '../raft/types.ts'
import type { Logger } from '../base/types.ts'
import { decodeBatch, encodeBatch } from './frame.ts'
import { LoopbackLink } from './loopback-link.ts'
import type { PeerClaims } from './peer-identity.ts'
import { PeerUnreachableError } from './transport.ts'

export interface LoopbackOptions {
  readonly clock: Clock
  /** Seeded; returns an unsigned 32-bit integer. */
  readonly random: () => number
  /** Each message takes a time between these two; if they differ, messages overtake each other. ms */
  readonly minDelayMs?: number
  readonly maxDelayMs?: number
  readonly logger?: Logger
}

/** A node as the wire sees it. */
export interface WiredNode {
  readonly nodeId: NodeId
  /** The claims that a request of this node would carry now. */
  readonly claims: PeerClaims
  /** The code of a refusal, or null when the messages were accepted. */
  receive(claims: PeerClaims, messages: readonly Message[]): string | null
  refused(peer: NodeId, code: string): void
  giveUp(peer: NodeId): void
}

/** The most Raft messages in flight; more are lost, like in a full switch. Count. */
const IN_FLIGHT_MAX = 65_536

export class LoopbackWire<Node extends WiredNode> {
  /** Share of the Raft messages that are lost silently, 0 to 1. */
  dropRate = 0
  /** Share of the Raft messages that arrive twice, 0 to 1. */
  duplicateRate = 0

  readonly clock: Clock
  readonly logger: Logger
  readonly #random: () => number
  readonly #minDelayMs: number
  readonly #maxDelayMs: number
  readonly #running = new Map<NodeId, Node>()
  readonly #blocked = new Set<string>()
  readonly #isolated = new Set<NodeId>()
  readonly #links = new Set<LoopbackLink>()
  readonly #unreachableSoon = new Set<string>()
  #inFlight = 0

  constructor(options: LoopbackOptions) {
    this.clock = options.clock
    this.logger = options.logger ?? SILENT
    this.#random = options.random
    this.#minDelayMs = options.minDelayMs ?? 1
    this.#maxDelayMs = Math.max(options.maxDelayMs ?? 1, this.#minDelayMs)
  }

  /** Blocks one direction. Calls in progress between the two nodes break, because a call needs both directions. */
  block(from: NodeId, to: NodeId): void {
    this.#blocked.add(pathOf(from, to))
    this.#breakLinks(
      (link) => link.touches(from) && link.touches(to),
      `The path from ${from} to ${to} is blocked`,
    )
  }

  unblock(from: NodeId, to: NodeId): void {
    this.#blocked.delete(pathOf(from, to))
  }

  /** Cuts a node off from all others, in both directions. */
  isolate(nodeId: NodeId): void {
    this.#isolated.add(nodeId)
    this.#breakLinks((link) => link.touches(nodeId), `Node ${nodeId} is isolated`)
  }

  /** Ends every block and isolation; loss and repetition stay as they are. */
  heal(): void {
    this.#blocked.clear()
    this.#isolated.clear()
  }

  /** From here on the node is reachable. */
  join(transport: Node): void {
    assert(!this.#running.has(transport.nodeId), `node ${transport.nodeId} is running already`)
    this.#running.set(transport.nodeId, transport)
  }

  /** Has no effect if another transport has joined under the same id. */
  leave(transport: Node): void {
    if (this.#running.get(transport.nodeId) !== transport) return
    this.#running.delete(transport.nodeId)
    this.#breakLinks((link) => link.touches(transport.nodeId), `Node ${transport.nodeId} stopped`)
  }

  /** Accepts the message; it may be lost, repeated or delayed. */
  post(sender: Node, message: Message): void {
    const route = { from: message.from, to: message.to }
    // The encoder writes into a buffer that it uses again.
    const bytes = Uint8Array.from(encodeBatch([message], route))
    if (!this.reaches(route.from, route.to)) return this.#reportUnreachable(sender, route.to)
    if (this.#chance(this.dropRate) || this.#inFlight >= IN_FLIGHT_MAX) return
    const { claims } = sender
    const copies = this.#chance(this.duplicateRate) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      this.#inFlight++
      this.clock.after(this.#delay(), () => {
        this.#inFlight--
        if (!this.reaches(route.from, route.to)) return
        const code = this.#running.get(route.to)?.receive(claims, decodeBatch(Uint8Array.from(bytes), route))
        if (typeof code === 'string') this.#reportRefused(sender, route.to, code)
      })
    }
  }

  /** A connection for one call. Throws PeerUnreachableError. */
  async connect(from: NodeId, to: NodeId): Promise<{ readonly link: LoopbackLink; readonly target: Node }> {
    await this.travel()
    const target = this.#running.get(to)
    if (target === undefined || !this.reaches(from, to) || !this.reaches(to, from)) {
      throw new PeerUnreachableError(to, `Node ${to} is unreachable from ${from}`)
    }
    const link = new LoopbackLink({ from, to }, () => this.#after(1))
    this.#links.add(link)
    link.signal.addEventListener('abort', () => this.#links.delete(link), { once: true })
    return { link, target }
  }

  disconnect(link: LoopbackLink): void {
    this.#links.delete(link)
  }

  /** The delay of one direction. */
  travel(): Promise<void> {
    return this.#after(this.#delay())
  }

  reaches(from: NodeId, to: NodeId): boolean {
    if (!this.#running.has(to) || this.#blocked.has(pathOf(from, to))) return false
    return !this.#isolated.has(from) && !this.#isolated.has(to)
  }

  /** Once for all messages that were dropped together, and not within the sender's call. */
  #reportUnreachable(sender: Node, peer: NodeId): void {
    const path = pathOf(sender.nodeId, peer)
    if (this.#unreachableSoon.has(path)) return
    this.#unreachableSoon.add(path)
    this.clock.after(this.#delay(), () => {
      this.#unreachableSoon.delete(path)
      if (this.#running.get(sender.nodeId) === sender) sender.giveUp(peer)
    })
  }

  /** Once for all messages that are refused until the answer has arrived. */
  #reportRefused(sender: Node, peer: NodeId, code: string): void {
    const path = `${pathOf(sender.nodeId, peer)} refused`
    if (this.#unreachableSoon.has(path)) return
    this.#unreachableSoon.add(path)
    this.clock.after(this.#delay(), () => {
      this.#unreachableSoon.delete(path)
      if (this.#running.get(sender.nodeId) === sender && this.reaches(peer, sender.nodeId))
        sender.refused(peer, code)
    })
  }

  #breakLinks(concerns: (link: LoopbackLink) => boolean, why: string): void {
    for (const link of this.#links) {
      if (!concerns(link)) continue
      this.#links.delete(link)
      link.break(new Error(why))
    }
  }

  #after(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve))
  }

  #delay(): number {
    return this.#minDelayMs + this.#fraction() * (this.#maxDelayMs - this.#minDelayMs)
  }

  #chance(rate: number): boolean {
    return rate > 0 && this.#fraction() < rate
  }

  #fraction(): number {
    const drawn = this.#random()
    assert(Number.isInteger(drawn) && drawn >= 0 && drawn < 2 ** 32, 'random gives unsigned 32-bit integers')
    return drawn / 2 ** 32
  }
}

/** Node ids contain no blanks. */
function pathOf(from: NodeId, to: NodeId): string {
  return `${from} ${to}`
}

const quiet = () => {}
const SILENT: Logger = {
  fatal: quiet,
  error: quiet,
  warn: quiet,
  info: quiet,
  debug: quiet,
  child: () => SILENT,
}
