/**
 * Raft messages to one peer: a bounded queue behind at most one request.
 *
 * Owns: order, coalescing, dropping. Knows nothing of: HTTP (it is given `post`), what messages mean.
 * Rule: no wait for a peer is unbounded, and no old message survives a failure. Raft repeats what matters; an append from before an
 * outage would only occupy the place of a current one. At most one timer per peer.
 */
import type { Clock, Timer } from '../base/clock.ts'
import type { AppendEntries, Message, NodeId } from '../raft/types.ts'
import type { Logger } from '../base/types.ts'
import { encodeBatch, FRAME_MESSAGES_MAX, messageBytesEstimate, type Route } from './frame.ts'
import type { PeerTraffic } from './peer-traffic.ts'
import { PeerRefusedError } from './transport.ts'

export interface RaftLaneOptions {
  readonly route: Route
  /** Resolves when the peer has accepted the batch, rejects within bounded time otherwise. */
  readonly post: (batch: Uint8Array) => Promise<void>
  readonly onUnreachable: (peer: NodeId) => void
  readonly onRefused?: (peer: NodeId, code: string) => void
  /** Runs it when everything of this turn was pushed; by default in a microtask. */
  readonly atTurnEnd?: (run: () => void) => void
  readonly clock: Clock
  readonly traffic: PeerTraffic
  readonly logger: Logger
}

interface Queued {
  readonly message: Message
  readonly bytes: number
}

/** Limits of the queue for one peer: count and bytes, more than the core has in flight. */
const QUEUE_MESSAGES_MAX = 4096
const QUEUE_BYTES_MAX = 16 * 1024 * 1024
/** A batch ends before the message that would make it larger than this. Bytes. */
const BATCH_BYTES_MAX = 2 * 1024 * 1024
/** The pause after the first failure, and the longest pause, which is also the maximum age of a waiting message. ms */
const BACKOFF_MIN_MS = 25
const BACKOFF_MAX_MS = 1000

export class RaftLane {
  readonly #options: RaftLaneOptions
  readonly #queue: Queued[] = []
  #queuedBytes = 0
  /** The previously sent append, without its entries. */
  #lastAppend: Pick<AppendEntries, 'term' | 'readToken'> | null = null
  #running = false
  #pause: Timer | null = null
  #failures = 0
  #overflowReported = false
  #stopped = false

  constructor(options: RaftLaneOptions) {
    this.#options = options
  }

  push(message: Message): void {
    if (this.#stopped) return
    const bytes = messageBytesEstimate(message)
    this.#queue.push({ message, bytes })
    this.#queuedBytes += bytes
    this.#dropExcess()
    this.#schedule()
  }

  /** Call after a contact with the peer: it ends the pause. */
  wake(): void {
    if (this.#pause === null) return
    this.#pause.cancel()
    this.#pause = null
    this.#schedule()
  }

  stop(): void {
    this.#stopped = true
    this.#pause?.cancel()
    this.#pause = null
    this.#dropAll()
  }

  /** Later, so that all messages of one step of the core, and of all steps of one turn, are sent together. */
  #schedule(): void {
    if (this.#running || this.#stopped || this.#pause !== null || this.#queue.length === 0) return
    this.#running = true
    const { atTurnEnd = queueMicrotask } = this.#options
    atTurnEnd(() => void this.#run())
  }

  async #run(): Promise<void> {
    while (!this.#stopped && this.#pause === null) {
      const batch = this.#takeBatch()
      if (batch.length === 0) break
      await this.#deliver(encodeBatch(batch, this.#options.route), batch.length)
    }
    this.#running = false
  }

  async #deliver(bytes: Uint8Array, messages: number): Promise<void> {
    const { post, traffic, route } = this.#options
    try {
      await post(bytes)
    } catch (err) {
      if (!this.#stopped) this.#fail(err, messages)
      return
    }
    traffic.add(route.to, 'sentBytes', bytes.length)
    traffic.add(route.to, 'sentMessages', messages)
    if (this.#failures > 0)
      this.#options.logger.info({ peer: route.to, failures: this.#failures }, 'peer accepts messages again')
    this.#failures = 0
    this.#overflowReported = false
  }

  #fail(err: unknown, lost: number): void {
    const { clock, traffic, logger, route, onUnreachable } = this.#options
    this.#failures++
    traffic.add(route.to, 'failures')
    traffic.add(route.to, 'droppedMessages', lost)
    this.#dropAll()
    this.#lastAppend = null
    if (this.#failures === 1) logger.warn({ peer: route.to, err }, 'peer accepts no messages')
    const pauseMs = Math.min(BACKOFF_MIN_MS * 2 ** Math.min(this.#failures - 1, 10), BACKOFF_MAX_MS)
    this.#pause = clock.after(pauseMs, () => {
      this.#pause = null
      this.#schedule()
    })
    if (err instanceof PeerRefusedError) this.#options.onRefused?.(route.to, err.code)
    onUnreachable(route.to)
  }

  #takeBatch(): Message[] {
    const batch: Message[] = []
    for (let bytes = 0; batch.length < FRAME_MESSAGES_MAX; ) {
      const next = this.#queue[0]
      if (next === undefined || (batch.length > 0 && bytes + next.bytes > BATCH_BYTES_MAX)) break
      const { message } = this.#shift(next)
      if (isCoveredBy(message, this.#queue[0]?.message, this.#lastAppend)) continue
      if (message.type === 'AppendEntries')
        this.#lastAppend = { term: message.term, readToken: message.readToken }
      bytes += next.bytes
      batch.push(message)
    }
    return batch
  }

  #dropExcess(): void {
    let dropped = false
    while (
      this.#queue.length > QUEUE_MESSAGES_MAX ||
      (this.#queuedBytes > QUEUE_BYTES_MAX && this.#queue.length > 1)
    ) {
      this.#dropOldest()
      dropped = true
    }
    if (!dropped || this.#overflowReported) return
    this.#overflowReported = true
    const { route, onUnreachable, logger } = this.#options
    logger.warn({ peer: route.to }, 'raft lane is full, oldest messages dropped')
    // `push` runs inside a step of the driver, which must not be entered a second time.
    queueMicrotask(() => onUnreachable(route.to))
  }

  #dropOldest(): void {
    const oldest = this.#queue[0]
    if (oldest === undefined) return
    this.#shift(oldest)
    this.#options.traffic.add(this.#options.route.to, 'droppedMessages')
  }

  #dropAll(): void {
    while (this.#queue.length > 0) this.#dropOldest()
  }

  #shift(first: Queued): Queued {
    this.#queue.shift()
    this.#queuedBytes -= first.bytes
    return first
  }
}

/**
 * True for an append that carries only a commit index, immediately before one with the same information and more entries. False
 * when it opens a read round: that is answered at once, whereas the answer to entries waits for a flush.
 */
function isCoveredBy(
  message: Message,
  next: Message | undefined,
  before: Pick<AppendEntries, 'term' | 'readToken'> | null,
): boolean {
  if (message.type !== 'AppendEntries' || next?.type !== 'AppendEntries') return false
  const opensRead = before?.term !== message.term || before.readToken !== message.readToken
  return (
    !opensRead &&
    message.entries.length === 0 &&
    message.term === next.term &&
    message.prevLogIndex === next.prevLogIndex &&
    message.leaderCommit <= next.leaderCommit
  )
}
