/**
 * Bugs at the limits of a node: full disks, slow disks, little memory: `LM..`, in any component.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const NODE = 'cluster/node/'
const WAL = 'cluster/wal/'

const rows: readonly TestedRow[] = [
  [
    'LM1',
    'new objects are stored while the disks of a majority are full',
    `${NODE}base/room-watch.ts`,
    "    if (need === 'growth' && !this.hasMajority) return 'the disks of a majority are full'\n",
    '',
    'node/full-group',
  ],
  [
    'LM2',
    'a full disk refuses commands that free space',
    `${NODE}base/room-watch.ts`,
    "  last: ['relief'],\n",
    '  last: [],\n',
    'node/full-group',
  ],
  [
    'LM3',
    'a forwarded proposal does not carry the space that it needs',
    `${NODE}proposals/propose-handler.ts`,
    "need: needs[row] ?? 'growth'",
    "need: 'growth'",
    'node/full-group',
  ],
  [
    'LM4',
    'the space of a released reserve counts as free',
    `${NODE}base/room-watch.ts`,
    'const missing = missingReserve(reserve, totalBytes)',
    'const missing = 0',
    'node/full-group',
  ],
  [
    'LM5',
    'leadership rotates among nodes whose disks are all full',
    `${NODE}base/room-watch.ts`,
    `this.hasMajority
      ? voters().find((voter) => voter !== self && this.#isRoomy(voter))
      : undefined`,
    'voters().find((voter) => voter !== self)',
    'node/full-group',
  ],
  [
    'LM6',
    'a node of a group that is full everywhere is not ready',
    `${NODE}node-readiness.ts`,
    "driver.room.level !== 'open' && driver.room.hasMajority",
    "driver.room.level !== 'open'",
    'node/full-group',
  ],
  [
    'LM7',
    'the reserve of the log is made although it leaves no free space',
    `${WAL}reserve.ts`,
    'const FREE_FACTOR = 2\n',
    'const FREE_FACTOR = 1\n',
    'wal/reserve',
  ],
  [
    'LM8',
    'a reserve that was made again is not reported',
    `${NODE}base/room-watch.ts`,
    '    if (this.#parts.isReserveSpent() && reserve?.isHeld() === true) this.#parts.onReserveBack()\n',
    '',
    'node/full-group',
  ],
  [
    'LM9',
    'the reserve goes to the writer that is filling the disk',
    `${NODE}base/room-watch.ts`,
    'if (isSettled && freeBytes <',
    'if (freeBytes <',
    'node/full-group',
  ],
  [
    'LM10',
    'a command is proposed without the space that it needs',
    'src/commands/propose.ts',
    'need: ROOM_NEEDS[command.type], ',
    '',
    'state-machine/room-needs',
  ],
  [
    'LM11',
    'a leader keeps leadership although the others wait only for its disk',
    `${NODE}disk/slow-disk.ts`,
    '    this.#parts.offerLead(null)\n',
    '',
    'node/slow-disk',
  ],
  [
    'LM12',
    'a leader whose disk is as slow as all others gives up leadership',
    `${NODE}disk/slow-disk.ts`,
    ' || overtaken < OVERTAKEN_SHARE || aheadMs < WAIT_SHARE * flushMs) return',
    ') return',
    'node/slow-disk',
  ],
]

export const LIMIT_MUTANTS: readonly Mutant[] = killedByTests(rows)
