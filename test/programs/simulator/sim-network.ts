/**
 * What lies between simulated nodes: frames of Raft messages, and calls.
 *
 * Owns: loss, repetition, replay of old frames, word of what could not be delivered. Knows nothing of: what messages mean.
 * Rule: everything crosses as encoded bytes, so no object is ever shared between two nodes.
 */
import { decodeBatch, encodeBatch } from '../../../cluster/transport/frame.ts'
import type { PeerClaims } from '../../../cluster/transport/peer-identity.ts'
import type { Message } from '../../../cluster/raft/types.ts'
import type { Owner } from './event-queue.ts'
import type { Random } from './random.ts'
import type { SimPaths } from './sim-paths.ts'
import type { SimTransport } from './sim-transport.ts'
import type { Stage } from './stage.ts'

export interface NetworkSeat {
  readonly id: string
  readonly place: number
  readonly process: (Owner & { readonly transport: SimTransport }) | null
}

export interface NetworkOptions {
  readonly duplicateRate: number
  /** Share of calls that arrive far too late, and how late. ms */
  readonly stallRate: number
  readonly stallMs: number
  /** All messages of one turn to one peer travel together. */
  readonly isBatching: boolean
}

export interface Sender {
  readonly seat: NetworkSeat
  readonly owner: Owner
  readonly claims: PeerClaims
}

interface OldFrame {
  readonly sender: Sender
  readonly to: NetworkSeat
  readonly bytes: Uint8Array
}

export interface Way {
  readonly from: NetworkSeat
  readonly to: NetworkSeat
  /** Who hears of a loss, if anybody does. */
  readonly asker: Owner
  /** On top of the usual delay. ms */
  readonly stallMs?: number
}

const OLD_FRAMES_MAX = 512
/** Messages of one frame. */
const BATCH_MAX = 256
/** How long a sender waits before it takes a frame for lost. ms */
const UNREACHABLE_AFTER_MS = 5
/** How long until a call or a stream is taken for broken. ms */
const GIVES_UP_AFTER_MS = 200
/** A stalled connection is given up, not waited for without end. ms */
const CALL_DELAY_MAX_MS = 3_000

export class SimNetwork {
  readonly stage: Stage
  readonly paths: SimPaths
  readonly random: Random
  readonly #options: NetworkOptions
  readonly #seats: ReadonlyMap<string, NetworkSeat>
  readonly #old: OldFrame[] = []
  readonly #toldUnreachable = new Set<string>()
  readonly #streams = new Set<{ readonly reader: Owner; readonly close: () => void }>()
  isCalm = false
  frames = 0

  constructor(
    parts: { readonly stage: Stage; readonly paths: SimPaths; readonly random: Random },
    seats: ReadonlyMap<string, NetworkSeat>,
    options: NetworkOptions,
  ) {
    this.stage = parts.stage
    this.paths = parts.paths
    this.random = parts.random
    this.#seats = seats
    this.#options = options
  }

  seat(id: string): NetworkSeat {
    const seat = this.#seats.get(id)
    if (seat === undefined) throw new Error(`nobody is called ${id}`)
    return seat
  }

  /** Everything that a process sent in one turn. */
  depart(sender: Sender, messages: readonly Message[]): void {
    const together = this.#options.isBatching ? BATCH_MAX : 1
    for (const to of new Set(messages.map((message) => message.to))) {
      const own = messages.filter((message) => message.to === to)
      for (let i = 0; i < own.length; i += together) this.#frame(sender, own.slice(i, i + together))
    }
  }

  /** Some frame of the past arrives again. */
  replay(count: number): void {
    for (let i = 0; i < count && this.#old.length > 0; i += 1) {
      const frame = this.random.pick(this.#old)
      this.#deliverLater(frame, this.random.exponential(20))
    }
  }

  /** Now and then a call lies in a socket until long after its caller has given up, or has ended. ms */
  stallMs(): number {
    const { stallRate, stallMs } = this.#options
    return this.isCalm || !this.random.chance(stallRate) ? 0 : this.random.exponential(stallMs)
  }

  /** A stream that its reader will never end by itself once the reader is dead. */
  opened(reader: Owner, close: () => void): () => void {
    const stream = { reader, close }
    this.#streams.add(stream)
    return () => this.#streams.delete(stream)
  }

  /** The other ends of its streams learn that a process is gone. */
  closeStreamsOf(reader: Owner): void {
    for (const stream of this.#streams) {
      if (stream.reader !== reader) continue
      this.#streams.delete(stream)
      this.stage.after(this.random.exponential(GIVES_UP_AFTER_MS), 'stream closed', {}, stream.close)
    }
  }

  /** `arrive` runs at `to`, as whoever lives there then. When it never will, `lost` runs, or the world stays silent. */
  carry(way: Way, kind: string, arrive: () => void, lost?: () => void): void {
    const { paths, stage } = this
    const [from, to] = [way.from.place, way.to.place]
    const giveUp = (): void => {
      if (lost !== undefined)
        stage.after(this.random.exponential(GIVES_UP_AFTER_MS), `${kind} lost`, { owner: way.asker }, lost)
    }
    if (!paths.isOpen(from, to) || paths.isLost()) return giveUp()
    const delayMs = Math.min(paths.delay(from, to, stage.now), CALL_DELAY_MAX_MS) + (way.stallMs ?? 0)
    stage.after(delayMs, kind, { seat: way.to }, () => {
      if (paths.isOpen(from, to)) arrive()
      else giveUp()
    })
  }

  #frame(sender: Sender, messages: readonly Message[]): void {
    const from = sender.seat
    const [first] = messages
    if (first === undefined) return
    const to = this.seat(first.to)
    const bytes = Uint8Array.from(encodeBatch(messages, { from: from.id, to: to.id }))
    this.stage.hash.addBytes(bytes)
    this.frames += 1
    const frame = { sender, to, bytes }
    this.#keep(frame)
    const { paths, stage, random } = this
    if (!paths.isOpen(from.place, to.place) || to.process === null) {
      this.#tellUnreachable(from, to)
      return
    }
    if (paths.isLost()) {
      if (random.chance(0.5)) this.#tellUnreachable(from, to)
      return
    }
    this.#deliverLater(frame, paths.delay(from.place, to.place, stage.now))
    if (!this.isCalm && random.chance(this.#options.duplicateRate))
      this.#deliverLater(frame, paths.delay(from.place, to.place, stage.now) * random.between(1, 20))
  }

  #deliverLater(frame: OldFrame, ms: number): void {
    const { sender, to, bytes } = frame
    const from = sender.seat
    this.stage.after(ms, 'frame', { seat: to }, () => {
      const transport = to.process?.transport
      if (!this.paths.isOpen(from.place, to.place) || transport?.isOpen !== true) return
      // Decoded entries are views of the bytes, which another delivery decodes again.
      const messages = decodeBatch(Uint8Array.from(bytes), { from: from.id, to: to.id })
      this.stage.note(() => messages.map(summaryOf).join('; '))
      const code = transport.receive(sender.claims, messages)
      if (code !== null) this.#tellRefused(sender, to, code)
    })
  }

  /** The very process that sent it hears of it, or nobody. */
  #tellRefused({ seat, owner }: Sender, to: NetworkSeat, code: string): void {
    if (owner.isDead || !this.paths.isOpen(to.place, seat.place)) return
    const delayMs = Math.min(this.paths.delay(to.place, seat.place, this.stage.now), CALL_DELAY_MAX_MS)
    this.stage.after(delayMs, 'refused', { owner }, () => seat.process?.transport.refused(to.id, code))
  }

  #tellUnreachable(from: NetworkSeat, to: NetworkSeat): void {
    const { process } = from
    const path = `${from.id} ${to.id}`
    if (process === null || this.#toldUnreachable.has(path)) return
    this.#toldUnreachable.add(path)
    this.stage.after(this.random.exponential(UNREACHABLE_AFTER_MS), 'unreachable', {}, () => {
      this.#toldUnreachable.delete(path)
      this.stage.after(0, 'unreachable', { owner: process }, () => process.transport.giveUp(to.id))
    })
  }

  #keep(frame: OldFrame): void {
    // Any of them is given up for a new one, so that some stay for minutes.
    if (this.#old.length < OLD_FRAMES_MAX) this.#old.push(frame)
    else this.#old[this.random.below(OLD_FRAMES_MAX)] = frame
  }
}

export function summaryOf(message: Message): string {
  const head = `${message.from}>${message.to} ${message.type} t${message.term}`
  switch (message.type) {
    case 'AppendEntries':
      return `${head} prev ${message.prevLogIndex}@${message.prevLogTerm} +${message.entries.length} commit ${message.leaderCommit}`
    case 'AppendEntriesResponse':
      return `${head} ${message.success ? 'ok' : 'no'} ${message.index}`
    case 'RequestVote':
      return `${head}${message.preVote ? ' pre' : ''} last ${message.lastLogIndex}@${message.lastLogTerm}`
    case 'RequestVoteResponse':
      return `${head}${message.preVote ? ' pre' : ''} ${message.granted ? 'yes' : 'no'}`
    case 'InstallSnapshot':
      return `${head} ${message.lastIncluded.index}@${message.lastIncluded.term}`
    default:
      return head
  }
}
