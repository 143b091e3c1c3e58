/**
 * Bugs of the cluster's time: the counting clocks, withheld steps, expiry.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const NODE = 'cluster/node/'
const STATE = 'src/state-machine/'

const rows: readonly TestedRow[] = [
  [
    'TM1',
    'the leader stamps its own clock',
    `${NODE}time/clock-watch.ts`,
    '    if (majority !== null) return majority\n',
    '    if (majority !== null) return Math.trunc(clock.wallTime())\n',
    'node/clocks',
  ],
  [
    'TM2',
    'the mean of the clocks in place of the majority',
    `${NODE}time/cluster-time.ts`,
    'return walls.toSorted((a, b) => b - a)[majority - 1] ?? null',
    'return walls.length < majority ? null : walls.reduce((sum, wall) => sum + wall, 0) / walls.length',
    'node/cluster-time',
  ],
  [
    'TM3',
    'the latest clock counts',
    `${NODE}time/cluster-time.ts`,
    'return walls.toSorted((a, b) => b - a)[majority - 1] ?? null',
    'return walls.length < majority ? null : Math.max(...walls)',
    'node/cluster-time',
  ],
  [
    'TM4',
    'the time falls with the stamp',
    `${NODE}base/log-time.ts`,
    ': Math.max(this.#last, stamp)',
    ': stamp',
    'node/log-time',
  ],
  [
    'TM5',
    'the confirmed time follows every step at once',
    `${NODE}base/log-time.ts`,
    'this.#withheld += step',
    'this.#withheld += 0',
    'node/log-time',
  ],
  [
    'TM6',
    'the majority is one of the nodes with a report',
    `${NODE}time/cluster-time.ts`,
    'const majority = Math.floor(voters.length / 2) + 1',
    'const majority = Math.floor(walls.length / 2) + 1',
    'node/cluster-time',
  ],
  [
    'TM7',
    'a clock counts for as long as the process lives',
    `${NODE}time/cluster-time.ts`,
    'if (reports === undefined || this.#isLate(reports.latest)) return null',
    'if (reports === undefined) return null',
    'node/cluster-time',
  ],
  [
    'TM17',
    'a clock that was set back counts with its earlier reports',
    `${NODE}time/cluster-time.ts`,
    'delayMs <= 0 || isSet',
    'delayMs <= 0',
    'node/cluster-time',
  ],
  [
    'TM18',
    'rows that became due while the time was ahead wait for it',
    `${STATE}events/delivery-schedule.ts`,
    'return at <= now || at > now + DELAY_MS_MAX',
    'return at <= now',
    'workers/webhooks/log-clock',
  ],
  [
    'TM8',
    'the majority is taken from any peer',
    `${NODE}time/cluster-time.ts`,
    'if (isLeader && majority !== null)',
    'if (majority !== null)',
    'node/cluster-time',
  ],
  [
    'TM9',
    'one half of a joint configuration is asked',
    `${NODE}time/cluster-time.ts`,
    'null : Math.min(present, outgoing)',
    'null : present',
    'node/cluster-time',
  ],
  [
    'TM10',
    'setting back confirms the withheld step',
    `${NODE}base/log-time.ts`,
    'const confirmed = Math.min(this.#last - this.#withheld, stamp)',
    'const confirmed = stamp',
    'node/log-time',
  ],
  [
    'TM11',
    'confirming accepts everything, regardless of what the operator has seen',
    `${NODE}base/log-time.ts`,
    'Math.max(0, this.#withheld - correction.withheldMs)',
    '0',
    'node/log-time',
  ],
  [
    'TM12',
    'without a majority the leader continues by its own clock',
    `${NODE}time/clock-watch.ts`,
    'return level() < TIME_LEVEL ? Math.trunc(clock.wallTime()) : 0',
    'return Math.trunc(clock.wallTime()) + level() * 0 * TIME_LEVEL',
    'node/clock-watch',
  ],
  [
    'TM13',
    'retention ends by the time of the log',
    `${STATE}objects/new-versions.ts`,
    'lockOf(version, confirmedTime, ',
    'lockOf(version, arguments[1]?.time, ',
    'state-machine/confirmed-time',
  ],
  [
    'TM14',
    'uploads and kept answers end by the time of the log',
    `${STATE}objects/expiry.ts`,
    'at <= context.confirmedTime',
    'at <= context.time',
    'state-machine/confirmed-time',
  ],
  [
    'TM15',
    'the audit log is trimmed by the time of the log',
    `${STATE}audit/audit.ts`,
    'before > context.confirmedTime',
    'before > context.time',
    'state-machine/confirmed-time',
  ],
  [
    'TM16',
    'a retention may be shortened by the time of the log',
    `${STATE}objects/version-settings.ts`,
    'extensionFault({ before, after }, confirmedTime, ',
    'extensionFault({ before, after }, context.time, ',
    'state-machine/confirmed-time',
  ],
]

export const TIME_MUTANTS: readonly Mutant[] = killedByTests(rows)
