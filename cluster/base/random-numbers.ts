/**
 * Random numbers, drawn from the system in batches.
 *
 * Owns: the batch. Rule: each number is given once. Every message of a leader starts an election timer again and so draws one: a call of the
 * system for each would be a good part of what an idle node does.
 */
import { randomFillSync } from 'node:crypto'

const BATCH = 256

/** Gives whole numbers from 0 to 2^32 - 1, all equally likely. */
export function randomNumbers(): () => number {
  const batch = new Uint32Array(BATCH)
  let next = BATCH
  return () => {
    if (next >= BATCH) {
      randomFillSync(batch)
      next = 0
    }
    const drawn = batch[next] ?? 0
    next += 1
    return drawn
  }
}
