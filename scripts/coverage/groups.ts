/**
 * What must be covered, by which tests, and how well.
 */
export interface CoverageGroup {
  readonly name: string
  /** Of sources, relative to the root. */
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

/** Of a group, in hundredths. */
export const LINES_MIN = 95
export const BRANCHES_MIN = 90
