/**
 * Long work on the thread of the event loop, cut into turns.
 *
 * Owns: how many rows one turn handles. Knows nothing of: what is done with them. Rule: it counts rows and reads no clock, so where
 * a turn ends depends only on the work; work of fewer rows never waits.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Rows that are read, decided or written before other work gets its turn: some milliseconds. */
export const ROWS_PER_TURN = 1_024

export class Turns {
  #rows = 0

  /** True: `end` is to be awaited before the work continues. */
  isOver(rows: number): boolean {
    this.#rows += rows
    return this.#rows >= ROWS_PER_TURN
  }

  /** Resolves when everything that waited has had its turn: timers, sockets, ticks. */
  async end(): Promise<void> {
    this.#rows = 0
    await nextTurn()
  }
}
