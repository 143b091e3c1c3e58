/**
 * The recovery epoch that a data directory has bound itself to, before its state says so.
 *
 * Owns: the port. Knows nothing of: files, plans. Rule: it never falls, and it is durable before anything is said or heard at it, so a
 * node that was brought back never speaks with those that were left behind, not even in its first message.
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
