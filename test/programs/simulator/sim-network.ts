/**
 * The network between simulated nodes: frames of Raft messages, and calls.
 *
 * Owns: loss, repetition, replay of old frames, reports of undelivered frames. Knows nothing of: the meaning of messages.
 * Rule: everything crosses as encoded bytes, so no object is ever shared between two nodes.
 */
import { decodeBatch, encodeBatch } from '../../../cluster/transport/frame.ts'
import type { PeerClaims } from '../../../cluster/transport/peer-identity.ts'
import type { Message } from '../../../cluster/raft/types.ts'
import type { Owner } from './event-queue.ts'
import type { Random } from './random.ts'
import type { SimPaths } from './sim-paths.ts'
import type { SimTransport } from './sim-transport.ts'
import type { SimScheduler } from './sim-scheduler.ts'

export interface NetworkHost {
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
  readonly host: NetworkHost
  readonly owner: Owner
  readonly claims: PeerClaims
}

interface OldFrame {
  readonly sender: Sender
  readonly to: NetworkHost
  readonly bytes: Uint8Array
}

export interface Way {
  readonly from: NetworkHost
  readonly to: NetworkHost
  /** The process that is notified of a loss; null: none. */
  readonly client: Owner
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
/** A stalled connection is closed after this long. ms */
const CALL_DELAY_MAX_MS = 3_000

export class SimNetwork {
  readonly scheduler: SimScheduler
  readonly paths: SimPaths
  readonly random: Random
  readonly #options: NetworkOptions
  readonly #hosts: ReadonlyMap<string, NetworkHost>
  readonly #old: OldFrame[] = []
  readonly #reportedUnreachable = new Set<string>()
  readonly #streams = new Set<{ readonly reader: Owner; readonly close: () => void }>()
  isCalm = false
  frames = 0

  constructor(
    parts: { readonly scheduler: SimScheduler; readonly paths: SimPaths; readonly random: Random },
    hosts: ReadonlyMap<string, NetworkHost>,
    options: NetworkOptions,
  ) {
    this.scheduler = parts.scheduler
    this.paths = parts.paths
    this.random = parts.random
    this.#hosts = hosts
    this.#options = options
  }

  host(id: string): NetworkHost {
    const host = this.#hosts.get(id)
    if (host === undefined) throw new Error(`no host is called ${id}`)
    return host
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

  /** Sometimes a call stays in a socket until long after its caller has timed out, or has ended. ms */
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
      this.scheduler.after(this.random.exponential(GIVES_UP_AFTER_MS), 'stream closed', {}, stream.close)
    }
  }

  /** `arrive` runs at `to`, in the process there by then. When it never will, `lost` runs, or the world stays silent. */
  carry(way: Way, kind: string, arrive: () => void, lost?: () => void): void {
    const { paths, scheduler } = this
    const [from, to] = [way.from.place, way.to.place]
    const giveUp = (): void => {
      if (lost !== undefined)
        scheduler.after(
          this.random.exponential(GIVES_UP_AFTER_MS),
          `${kind} lost`,
          { owner: way.client },
          lost,
        )
    }
    if (!paths.isOpen(from, to) || paths.isLost()) return giveUp()
    const delayMs = Math.min(paths.delay(from, to, scheduler.now), CALL_DELAY_MAX_MS) + (way.stallMs ?? 0)
    scheduler.after(delayMs, kind, { host: way.to }, () => {
      if (paths.isOpen(from, to)) arrive()
      else giveUp()
    })
  }

  #frame(sender: Sender, messages: readonly Message[]): void {
    const from = sender.host
    const [first] = messages
    if (first === undefined) return
    const to = this.host(first.to)
    const bytes = Uint8Array.from(encodeBatch(messages, { from: from.id, to: to.id }))
    this.scheduler.hash.addBytes(bytes)
    this.frames += 1
    const frame = { sender, to, bytes }
    this.#keep(frame)
    const { paths, scheduler, random } = this
    if (!paths.isOpen(from.place, to.place) || to.process === null) {
      this.#tellUnreachable(from, to)
      return
    }
    if (paths.isLost()) {
      if (random.chance(0.5)) this.#tellUnreachable(from, to)
      return
    }
    this.#deliverLater(frame, paths.delay(from.place, to.place, scheduler.now))
    if (!this.isCalm && random.chance(this.#options.duplicateRate))
      this.#deliverLater(frame, paths.delay(from.place, to.place, scheduler.now) * random.between(1, 20))
  }

  #deliverLater(frame: OldFrame, ms: number): void {
    const { sender, to, bytes } = frame
    const from = sender.host
    this.scheduler.after(ms, 'frame', { host: to }, () => {
      const transport = to.process?.transport
      if (!this.paths.isOpen(from.place, to.place) || transport?.isOpen !== true) return
      // Decoded entries are views of the bytes, which another delivery decodes again.
      const messages = decodeBatch(Uint8Array.from(bytes), { from: from.id, to: to.id })
      this.scheduler.note(() => messages.map(summaryOf).join('; '))
      const code = transport.receive(sender.claims, messages)
      if (code !== null) this.#tellRefused(sender, to, code)
    })
  }

  /** Only the process that sent it is notified. */
  #tellRefused({ host, owner }: Sender, to: NetworkHost, code: string): void {
    if (owner.isDead || !this.paths.isOpen(to.place, host.place)) return
    const delayMs = Math.min(this.paths.delay(to.place, host.place, this.scheduler.now), CALL_DELAY_MAX_MS)
    this.scheduler.after(delayMs, 'refused', { owner }, () => host.process?.transport.refused(to.id, code))
  }

  #tellUnreachable(from: NetworkHost, to: NetworkHost): void {
    const { process } = from
    const path = `${from.id} ${to.id}`
    if (process === null || this.#reportedUnreachable.has(path)) return
    this.#reportedUnreachable.add(path)
    this.scheduler.after(this.random.exponential(UNREACHABLE_AFTER_MS), 'unreachable', {}, () => {
      this.#reportedUnreachable.delete(path)
      this.scheduler.after(0, 'unreachable', { owner: process }, () => process.transport.giveUp(to.id))
    })
  }

  #keep(frame: OldFrame): void {
    // Any of them may be replaced by a new one, so that some stay for minutes.
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
