/**
 * The leader's queue of linearizable reads [thesis 6.4].
 *
 * Owns: tokens and which reads wait for which token. Knows nothing of: messages, quorums.
 * Rule: a read joins a round only before the round's token is made. Tokens are made here, rise by one, are never taken
 * from a caller, and mean nothing outside this leader's term.
 */
import type { LogIndex, NodeId } from './types.ts'

/** More local reads than this are refused; a peer has one question open at a time, so peers need no limit. */
const READS_WAITING_MAX = 4096

interface ReadBatch {
  readonly local: readonly number[]
  /** Peer -> its request id. */
  readonly remote: ReadonlyMap<NodeId, number>
}

export interface ReadRound extends ReadBatch {
  readonly token: number
  /** Commit index when the round started: no read of the round may see less. */
  readonly index: LogIndex
}

export class ReadRounds {
  #token = 0
  #local: number[] = []
  #remote = new Map<NodeId, number>()
  #open: ReadRound | null = null

  /** The token that messages sent now confirm. */
  get token(): number {
    return this.#token
  }

  /** A token that no message has carried yet. A peer that echoes it has received a message of this leader after this moment. */
  renew(): number {
    this.#token += 1
    return this.#token
  }

  get open(): ReadRound | null {
    return this.#open
  }

  /** False when the queue is full. */
  addLocal(readId: number): boolean {
    if (this.#local.length >= READS_WAITING_MAX) return false
    this.#local.push(readId)
    return true
  }

  addRemote(peer: NodeId, requestId: number): void {
    this.#remote.set(peer, requestId)
  }

  /** Starts a round for all waiting reads; null while a round is open or no read waits. */
  begin(index: LogIndex): ReadRound | null {
    if (this.#open !== null || (this.#local.length === 0 && this.#remote.size === 0)) return null
    this.#token += 1
    this.#open = { token: this.#token, index, ...this.#takeWaiting() }
    return this.#open
  }

  /** Ends the open round. */
  close(): void {
    this.#open = null
  }

  /** Takes all unanswered reads, at the end of the leadership. */
  takeAll(): ReadBatch {
    const waiting = this.#takeWaiting()
    const open = this.#open
    this.#open = null
    return {
      local: [...(open?.local ?? []), ...waiting.local],
      remote: new Map([...(open?.remote ?? []), ...waiting.remote]),
    }
  }

  #takeWaiting(): ReadBatch {
    const batch = { local: this.#local, remote: this.#remote }
    this.#local = []
    this.#remote = new Map()
    return batch
  }
}
