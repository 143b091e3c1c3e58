/**
 * The files that must be covered, by which tests, and the thresholds.
 */
export interface CoverageGroup {
  readonly name: string
  /** Matches paths of sources, relative to the root. */
  readonly holds: RegExp
}

export const COVERAGE_GROUPS: readonly CoverageGroup[] = [
  { name: 'cluster/raft', holds: /^cluster\/raft\// },
  { name: 'cluster/wal', holds: /^cluster\/wal\// },
  {
    name: 'apply',
    holds: /^(cluster\/node\/(\w+\/)?(applier|sessions|log-entry|machine-record)\.ts$|src\/state-machine\/)/,
  },
]

/** Folders of test/ whose tests run. */
export const COVERAGE_TESTS: readonly string[] = [
  'raft',
  'programs/scenarios',
  'programs/simulator',
  'wal',
  'node',
  'state-machine',
  'store',
]

/** Thresholds of a group, in percent. */
export const LINES_MIN = 95
export const BRANCHES_MIN = 90
