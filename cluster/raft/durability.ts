/**
 * What the disk has confirmed, and the messages that wait for its confirmation.
 *
 * Owns: sequences of WAL writes, the durable index, held promises. Knows nothing of: what the messages are about.
 * Rule: a message that promises something leaves after the write that makes the promise true, or never. A confirmation
 * counts only for those entries of its write that are still in the log: if an entry was truncated and replaced during the
 * write, the same index now holds another entry (the ABA race).
 */
import { assert } from './assert.ts'
import type { RaftLog } from './raft-log.ts'
import type { AppendWal, HardState, LogBase, LogIndex, Message, Term } from './types.ts'

/** `hardState`: term and vote must be durable. `log`: the whole log must be durable as well. */
export type Needs = 'hardState' | 'log'

/** Limit of held promises. Beyond it a promise is dropped like a lost message: the sender asks again. */
const HELD_MAX = 4096

interface Write {
  readonly sequence: number
  /** Last index of this write at which the log still holds the entry that was written. */
  lastIndex: LogIndex
}

export class Durability {
  #hardState: HardState
  #hardStateSequence = 0
  /** The first write of a term; 0: there was one at the start, null: there is none yet. */
  #termSequence: number | null
  #logSequence = 0
  #lastSequence = 0
  #doneSequence = 0
  #durableIndex: LogIndex
  #writes: Write[] = []
  #held: { readonly sequence: number; readonly message: Message }[] = []
  #promises: { readonly needs: Needs; readonly message: Message }[] = []
  #stagedFrom: LogIndex | null = null
  #stagedBase: LogBase | null = null

  constructor(hardState: HardState, durableIndex: LogIndex) {
    this.#hardState = hardState
    this.#durableIndex = durableIndex
    this.#termSequence = hardState.currentTerm > 0 ? 0 : null
  }

  /** Everything in the log up to here survives a crash. */
  get durableIndex(): LogIndex {
    return this.#durableIndex
  }

  /** Some term survives a crash: what is applied before would look like a state whose log was lost. */
  get hasTerm(): boolean {
    return this.#termSequence !== null && this.#termSequence <= this.#doneSequence
  }

  isDurable(hardState: HardState): boolean {
    return isSame(hardState, this.#hardState) && this.#hardStateSequence <= this.#doneSequence
  }

  appended(from: LogIndex): void {
    this.#stagedFrom = Math.min(this.#stagedFrom ?? from, from)
  }

  truncatedFrom(index: LogIndex): void {
    this.#durableIndex = Math.min(this.#durableIndex, index - 1)
    for (const write of this.#writes) write.lastIndex = Math.min(write.lastIndex, index - 1)
  }

  /** The log was replaced: nothing of it is durable before the write that records the replacement. */
  restarted(base: LogBase): void {
    this.truncatedFrom(1)
    this.#stagedBase = base
    this.appended(base.index + 1)
  }

  promise(message: Message, needs: Needs): void {
    this.#promises.push({ message, needs })
  }

  /** Ends a step: returns the write that the step needs, if any, and the promises that are true already. */
  flush(
    hardState: HardState,
    log: RaftLog,
  ): { readonly write: AppendWal | null; readonly ready: readonly Message[] } {
    const write = this.#write(hardState, log)
    const ready: Message[] = []
    for (const { message, needs } of this.#promises) {
      const sequence =
        needs === 'log' ? Math.max(this.#hardStateSequence, this.#logSequence) : this.#hardStateSequence
      if (sequence <= this.#doneSequence) ready.push(message)
      else if (this.#held.length < HELD_MAX) this.#held.push({ sequence, message })
    }
    this.#promises = []
    return { write, ready }
  }

  /** Returns the promises that the write has made true; promises of an older term are void and dropped. */
  done(sequence: number, term: Term): readonly Message[] {
    const write = this.#writes.shift()
    assert(
      write?.sequence === sequence,
      `WAL confirmed ${sequence} instead of ${write?.sequence ?? 'nothing'}`,
    )
    this.#doneSequence = sequence
    this.#durableIndex = Math.max(this.#durableIndex, write.lastIndex)
    const released = this.#held.filter((held) => held.sequence <= sequence && held.message.term === term)
    this.#held = this.#held.filter((held) => held.sequence > sequence)
    return released.map((held) => held.message)
  }

  #write(hardState: HardState, log: RaftLog): AppendWal | null {
    const [from, base] = [this.#stagedFrom, this.#stagedBase]
    const isHardStateNew = !isSame(hardState, this.#hardState)
    if (from === null && !isHardStateNew) return null
    this.#lastSequence += 1
    this.#stagedFrom = null
    this.#stagedBase = null
    if (isHardStateNew) {
      this.#hardStateSequence = this.#lastSequence
      this.#termSequence ??= this.#lastSequence
    }
    if (from !== null) this.#logSequence = this.#lastSequence
    this.#hardState = hardState
    this.#writes.push({ sequence: this.#lastSequence, lastIndex: from === null ? 0 : log.lastIndex })
    const entries = from === null ? [] : log.slice(from, log.lastIndex)
    return {
      type: 'appendWal',
      sequence: this.#lastSequence,
      hardState: isHardStateNew ? hardState : null,
      base,
      entries,
    }
  }
}

function isSame(a: HardState, b: HardState): boolean {
  return a.currentTerm === b.currentTerm && a.votedFor === b.votedFor
}
