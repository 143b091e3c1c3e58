/**
 * The effects of commands on a simulated machine, without their durability.
 *
 * Owns: the shape. Rule: the changes and replies of a batch follow only from its entries and the rows, on every node.
 */
import type { ApplyBatch } from '../../../cluster/base/types.ts'
import type { SimRows } from './sim-rows.ts'

export interface MachineRules {
  /** Of a snapshot: an install waits a round trip for each block, and must end before a run does. */
  readonly blockBytesMin: number
  /** Of the call that the command was made for; no two calls have one. */
  readonly idOf: (command: Uint8Array) => string
  /** `rows` stay as they are. */
  readonly perform: (entries: ApplyBatch['entries'], rows: SimRows) => Performed
}

export interface Performed {
  /** By entry and command; a character is a byte. */
  readonly replies: readonly (readonly string[])[]
  /** By key; null: the row goes. */
  readonly changes: ReadonlyMap<string, string | null>
}
