/**
 * The options of a proposal, above all why it needs space on the disks.
 *
 * Owns: the option values. Knows nothing of: what commands mean. Rule: on full disks `growth` is refused, on nearly exhausted disks
 * `upkeep` as well, `relief` never.
 */

import type { Traceparent } from './peer-traces.ts'
import type { TimeCorrection } from './time-types.ts'

/** `growth`: it stores something new. `upkeep`: the cluster needs it to continue, and it takes little. `relief`: it leads to free space. */
export type RoomNeed = 'growth' | 'upkeep' | 'relief'

export interface ProposeOptions {
  /** The default is `growth`. */
  readonly need?: RoomNeed
  /** Present: the entry moves the time of the cluster. */
  readonly correction?: TimeCorrection | undefined
  /** Rows that the command may change: where a batch ends depends on it. Absent: it is estimated from the bytes. */
  readonly cost?: number | undefined
  /** The span of the traced request behind it. Absent: it is for none. */
  readonly trace?: Traceparent
}
