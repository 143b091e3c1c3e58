/**
 * The methods that peers may call at a node that takes part. Knows nothing of: the answers, which the driver's parts give.
 */
import { LOG_ENTRIES_METHOD } from './log/log-entries-call.ts'
import { PROPOSE_METHOD } from './proposals/propose-call.ts'
import { SNAPSHOT_METHODS } from './state/snapshot-calls.ts'
import { CHECKSUMS_METHOD } from './state/state-guard.ts'

export const DRIVER_METHODS: readonly string[] = [
  PROPOSE_METHOD,
  LOG_ENTRIES_METHOD,
  CHECKSUMS_METHOD,
  ...Object.values(SNAPSHOT_METHODS),
]
