/**
 * What the leader knows about one peer's log.
 *
 * Owns: the probe / replicate / snapshot state and the window of appends under way. Knows nothing of: messages, the log.
 * Rule: matchIndex < nextIndex. matchIndex falls only when the peer proves that it no longer holds what it has acknowledged: it rejects
 * an append at an acknowledged index, and that append was sent after an earlier such rejection arrived. Late, duplicated and reordered
 * answers change nothing.
 *
 * probe: one append at a time until the logs are known to meet. replicate: a stream, nextIndex runs ahead of the
 * answers. snapshot: the entries that the peer needs are gone, it must pull the state.
 */
import { assert } from './assert.ts'
import type { DiskDoubt, LogIndex, RaftLimits } from './types.ts'

/** Ticks without progress, with appends under way, after which the leader probes whether they were lost. */
const LOST_WINDOW_TICKS = 2

type ProgressState = 'probe' | 'replicate' | 'snapshot'

export class Progress {
  #state: ProgressState = 'probe'
  #matchIndex: LogIndex = 0
  /** The last index that the peer acknowledged while its disk was proved current. */
  #provedIndex: LogIndex = 0
  #nextIndex: LogIndex
  #hasProbed = false
  #inflight: { readonly lastIndex: LogIndex; readonly bytes: number }[] = []
  #inflightBytes = 0
  #ticksWithoutProgress = 0
  /** Read token of the append whose rejection is proof; 0 while nothing is doubted. */
  #proofToken = 0
  /** The highest index that the peer acknowledged and lost; 0: it has lost nothing. */
  #forgottenIndex: LogIndex = 0
  /** Ticks since the last message from the peer in this term. */
  silentTicks = 0
  /** Ticks since the last append to the peer. */
  ticksSinceAppend = 0
  /** Ticks since a configuration without it was committed; 0 while it is a member. */
  ticksSinceRemoval = 0
  /** Highest read token that the peer has echoed. */
  readToken = 0
  /** Index of the first snapshot offered since the peer needs one; null in every other state. */
  offeredIndex: LogIndex | null = null
  /** Highest read token that the peer has echoed while its disk was proved current. */
  provedToken = 0
  /** As stated in the peer's last message. */
  doubt: DiskDoubt | null = null
  /** Highest commit index that a message to the peer has carried. */
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

  /** At most matchIndex. A late message of the peer's earlier process cannot raise it while the present process is a suspect. */
  get provedIndex(): LogIndex {
    return this.#provedIndex
  }

  get nextIndex(): LogIndex {
    return this.#nextIndex
  }

  get hasForgotten(): boolean {
    return this.#forgottenIndex > this.#matchIndex
  }

  get ticksInState(): number {
    return this.#ticksWithoutProgress
  }

  /** The stream makes no progress although appends are under way: probe at its end instead of at the known match. */
  get isWindowSuspect(): boolean {
    return this.#inflight.length > 0 && this.#ticksWithoutProgress >= LOST_WINDOW_TICKS
  }

  maySend(limits: RaftLimits): boolean {
    if (this.#state === 'probe') return !this.#hasProbed
    if (this.#state === 'snapshot') return false
    return this.#inflight.length < limits.inflightMessagesMax && this.#inflightBytes < limits.inflightBytesMax
  }

  /** Entries from nextIndex through `lastIndex` were sent to the peer. */
  sent(lastIndex: LogIndex, bytes: number): void {
    assert(lastIndex >= this.#nextIndex, 'an append starts at nextIndex')
    if (this.#state === 'probe') {
      this.probed()
      return
    }
    if (this.#inflight.length === 0) this.#ticksWithoutProgress = 0
    this.#inflight.push({ lastIndex, bytes })
    this.#inflightBytes += bytes
    this.#nextIndex = lastIndex + 1
  }

  /** An append at nextIndex - 1 was sent to the peer, with entries or without. */
  probed(): void {
    this.#hasProbed = true
  }

  /** The peer holds everything up to `index` durably. True when that was not known. */
  acked(index: LogIndex, doubt: DiskDoubt | null = null): boolean {
    let isNews = index > this.#matchIndex
    this.#matchIndex = Math.max(this.#matchIndex, index)
    if (doubt === null && !this.hasForgotten && index > this.#provedIndex) {
      this.#provedIndex = index
      isNews = true
    }
    this.#nextIndex = Math.max(this.#nextIndex, index + 1)
    while (this.#inflight[0] !== undefined && this.#inflight[0].lastIndex <= this.#matchIndex) {
      this.#inflightBytes -= this.#inflight.shift()?.bytes ?? 0
    }
    if (isNews) this.#ticksWithoutProgress = 0
    if (isNews) this.#proofToken = 0
    this.#assertOrder()
    return isNews
  }

  /**
   * Records a rejection at an index that the peer has acknowledged. The rejection may be older than the acknowledgement, so the first
   * one only sets a token: `newToken` makes a read token that no message has carried yet. True when the rejection echoes that token or
   * a later one: then it is proof, and no index is known to match any more.
   */
  hasLost(echoedToken: number, newToken: () => number): boolean {
    if (this.#proofToken === 0) {
      this.#proofToken = newToken()
      return false
    }
    if (echoedToken < this.#proofToken) return false
    this.#proofToken = 0
    this.#forgottenIndex = Math.max(this.#forgottenIndex, this.#matchIndex)
    this.#matchIndex = 0
    this.#provedIndex = 0
    return true
  }

  /** False for a rejection of an append that no longer matters. */
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
    this.ticksSinceAppend += 1
    this.#ticksWithoutProgress += 1
  }

  #enter(state: ProgressState): void {
    this.#state = state
    this.#hasProbed = false
    this.#inflight = []
    this.#inflightBytes = 0
    this.#ticksWithoutProgress = 0
    this.offeredIndex = null
    this.commitSent = 0
  }

  #assertOrder(): void {
    assert(
      this.#matchIndex < this.#nextIndex,
      `next ${this.#nextIndex} is not beyond match ${this.#matchIndex}`,
    )
  }
}
