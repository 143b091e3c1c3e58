/**
 * What may be said with a proposal, above all what it needs room on the disks for.
 *
 * Owns: the words. Knows nothing of: what commands mean. Rule: on full disks `growth` is refused, near the end `upkeep` as well,
 * `relief` never.
 */

import type { TimeCorrection } from './time-types.ts'

/** `growth`: it stores something new. `upkeep`: the cluster goes on by it, and it takes a little. `relief`: it leads to room. */
export type RoomNeed = 'growth' | 'upkeep' | 'relief'

export interface ProposeOptions {
  /** `growth` unless said otherwise. */
  readonly need?: RoomNeed
  /** With it the entry moves the time of the cluster. */
  readonly correction?: TimeCorrection | undefined
  /** Rows that the command may change: where a batch ends depends on it. Absent: it is guessed from the bytes. */
  readonly cost?: number | undefined
}
