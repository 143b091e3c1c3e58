/**
 * What the leader knows of one peer's log.
 *
 * Owns: the probe / replicate / snapshot state and the window of appends under way. Knows nothing of: messages, the log.
 * Rule: matchIndex < nextIndex, and matchIndex never falls. Late, doubled and reordered answers change nothing.
 *
 * probe: one append at a time until the logs are known to meet. replicate: a stream, nextIndex runs ahead of the
 * answers. snapshot: the entries it needs are gone, the peer must pull the state.
 */
import { assert } from './assert.ts'
import type { LogIndex, RaftLimits } from './types.ts'

/** Ticks without any progress in a filled window after which the peer is asked whether the window was lost. */
const LOST_WINDOW_TICKS = 2

type ProgressState = 'probe' | 'replicate' | 'snapshot'

export class Progress {
  #state: ProgressState = 'probe'
  #matchIndex: LogIndex = 0
  #nextIndex: LogIndex
  #hasProbed = false
  #inflight: { readonly lastIndex: LogIndex; readonly bytes: number }[] = []
  #inflightBytes = 0
  #ticksWithoutProgress = 0
  /** Ticks since the last message from the peer in this term. */
  silentTicks = 0
  /** Ticks since a configuration without it was committed; 0 while it is a member. */
  ticksSinceRemoval = 0
  /** Highest read token it has echoed. */
  readToken = 0
  /** Highest commit index that a message under way can have taught it. */
  commitSent: LogIndex = 0

  constructor(nextIndex: LogIndex) {
    this.#nextIndex = nextIndex
  }

  get state(): ProgressState {
    return this.#state
  }

  get matchIndex(): LogIndex {
    return this.#matchIndex
  }

  get nextIndex(): LogIndex {
    return this.#nextIndex
  }

  get ticksInState(): number {
    return this.#ticksWithoutProgress
  }

  /** The stream stands still although appends are under way: ask at its end instead of at the known match. */
  get isWindowSuspect(): boolean {
    return this.#inflight.length > 0 && this.#ticksWithoutProgress >= LOST_WINDOW_TICKS
  }

  maySend(limits: RaftLimits): boolean {
    if (this.#state === 'probe') return !this.#hasProbed
    if (this.#state === 'snapshot') return false
    return this.#inflight.length < limits.inflightMessagesMax && this.#inflightBytes < limits.inflightBytesMax
  }

  /** Entries from nextIndex through `lastIndex` left for the peer. */
  sent(lastIndex: LogIndex, bytes: number): void {
    assert(lastIndex >= this.#nextIndex, 'an append starts at nextIndex')
    if (this.#state === 'probe') {
      this.#hasProbed = true
      return
    }
    if (this.#inflight.length === 0) this.#ticksWithoutProgress = 0
    this.#inflight.push({ lastIndex, bytes })
    this.#inflightBytes += bytes
    this.#nextIndex = lastIndex + 1
  }

  /** The peer holds everything up to `index` durably. True when that is news. */
  acked(index: LogIndex): boolean {
    const isNews = index > this.#matchIndex
    this.#matchIndex = Math.max(this.#matchIndex, index)
    this.#nextIndex = Math.max(this.#nextIndex, index + 1)
    while (this.#inflight[0] !== undefined && this.#inflight[0].lastIndex <= this.#matchIndex) {
      this.#inflightBytes -= this.#inflight.shift()?.bytes ?? 0
    }
    if (isNews) this.#ticksWithoutProgress = 0
    this.#assertOrder()
    return isNews
  }

  /** False for an answer to a question that is no longer open. */
  isRejectionCurrent(rejectedIndex: LogIndex): boolean {
    if (this.#state === 'probe')
      return rejectedIndex === this.#nextIndex - 1 && rejectedIndex > this.#matchIndex
    return this.#state === 'replicate' && rejectedIndex > this.#matchIndex && rejectedIndex < this.#nextIndex
  }

  becomeProbe(nextIndex: LogIndex): void {
    this.#enter('probe')
    this.#nextIndex = Math.max(nextIndex, this.#matchIndex + 1)
    this.#assertOrder()
  }

  becomeReplicate(): void {
    this.#enter('replicate')
    this.#nextIndex = this.#matchIndex + 1
  }

  becomeSnapshot(): void {
    this.#enter('snapshot')
  }

  tick(): void {
    this.silentTicks += 1
    this.#ticksWithoutProgress += 1
  }

  #enter(state: ProgressState): void {
    this.#state = state
    this.#hasProbed = false
    this.#inflight = []
    this.#inflightBytes = 0
    this.#ticksWithoutProgress = 0
    this.commitSent = 0
  }

  #assertOrder(): void {
    assert(
      this.#matchIndex < this.#nextIndex,
      `next ${this.#nextIndex} is not beyond match ${this.#matchIndex}`,
    )
  }
}
