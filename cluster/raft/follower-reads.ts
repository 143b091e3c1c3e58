/**
 * Reads that wait for the leader's read index.
 *
 * Owns: batching of reads into questions, one open at a time. Knows nothing of: messages, the leader.
 * Rule: a read joins a question only before it is first asked, so every answer to it was made after the read started.
 */

const READS_WAITING_MAX = 4096
/** Ticks after which a question without an answer is asked again: the message may be lost. */
const REPEAT_TICKS = 3

interface Question {
  readonly requestId: number
  readonly readIds: readonly number[]
  ticks: number
}

export class FollowerReads {
  #nextRequestId: number
  #waiting: number[] = []
  #open: Question | null = null

  constructor(firstRequestId: number) {
    this.#nextRequestId = firstRequestId
  }

  /** False when the queue is full. */
  add(readId: number): boolean {
    if (this.#waiting.length >= READS_WAITING_MAX) return false
    this.#waiting.push(readId)
    return true
  }

  /** The id of a new question for everything that waits; null while one is open or nothing waits. */
  ask(): number | null {
    if (this.#open !== null || this.#waiting.length === 0) return null
    this.#open = { requestId: this.#nextRequestId, readIds: this.#waiting, ticks: 0 }
    this.#nextRequestId += 1
    this.#waiting = []
    return this.#open.requestId
  }

  /** Closes the question if it is the open one, and returns its reads. */
  answered(requestId: number): readonly number[] {
    if (this.#open?.requestId !== requestId) return []
    const { readIds } = this.#open
    this.#open = null
    return readIds
  }

  /** The id of the question to repeat now, if any. */
  tick(): number | null {
    if (this.#open === null) return null
    this.#open.ticks += 1
    return this.#open.ticks % REPEAT_TICKS === 0 ? this.#open.requestId : null
  }

  /** The question has been open for so long that its reads are better refused. */
  isOverdue(ticks: number): boolean {
    return this.#open !== null && this.#open.ticks >= ticks
  }

  takeAll(): readonly number[] {
    const readIds = [...(this.#open?.readIds ?? []), ...this.#waiting]
    this.#open = null
    this.#waiting = []
    return readIds
  }
}
