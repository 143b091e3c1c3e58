/**
 * How many items one command may carry.
 */
import { refuse, type Refused } from './reply.ts'

/** Chunks, copies, bodies or parts that one command may name. */
export const ITEMS_PER_COMMAND_MAX = 256

export function tooMany(what: string, count: number): Refused | null {
  if (count >= 1 && count <= ITEMS_PER_COMMAND_MAX) return null
  return refuse(
    'invalid_argument',
    `Cannot ${what}: ${count} items, 1 to ${ITEMS_PER_COMMAND_MAX} are allowed`,
  )
}
