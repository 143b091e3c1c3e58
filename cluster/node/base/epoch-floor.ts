/**
 * The recovery epoch that a data directory has bound itself to, before its state says so.
 *
 * Owns: the port. Knows nothing of: files, plans. Rule: it never falls, and it is durable before anything is sent or accepted at it,
 * so a recovered node never exchanges a message with nodes that were left behind, not even its first one.
 */
export interface EpochFloor {
  readonly epoch: number
  /** Durable when it returns. A lower one changes nothing. */
  raise(epoch: number): void
}

/** For nodes without a disk. */
export class MemoryEpochFloor implements EpochFloor {
  #epoch: number

  constructor(epoch = 0) {
    this.#epoch = epoch
  }

  get epoch(): number {
    return this.#epoch
  }

  raise(epoch: number): void {
    this.#epoch = Math.max(this.#epoch, epoch)
  }
}
