/**
 * Bugs in what a node does at its limits: full disks, slow disks, little memory: `LM..`, in whichever room they are.
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
    'a full disk refuses what frees room',
    `${NODE}base/room-watch.ts`,
    "  last: ['relief'],\n",
    '  last: [],\n',
    'node/full-group',
  ],
  [
    'LM3',
    'a leader does not hear what a forwarded proposal needs room for',
    `${NODE}proposals/propose-call.ts`,
    "need: needs[row] ?? 'growth'",
    "need: 'growth'",
    'node/full-group',
  ],
  [
    'LM4',
    'the room of a reserve that was given up counts as free',
    `${NODE}base/room-watch.ts`,
    'const missing = missingReserve(reserve, totalBytes)',
    'const missing = 0',
    'node/full-group',
  ],
  [
    'LM5',
    'the lead goes round among nodes whose disks are all full',
    `${NODE}base/room-watch.ts`,
    'const successor = this.hasMajority ? this.#roomy().find((voter) => voter !== self) : undefined',
    'const successor = this.#parts.voters().find((voter) => voter !== self)',
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
    'the reserve of the log is made although it leaves no room beside it',
    `${WAL}reserve.ts`,
    'const FREE_FACTOR = 2\n',
    'const FREE_FACTOR = 1\n',
    'wal/reserve',
  ],
  [
    'LM8',
    'a reserve that was made again is not told',
    `${NODE}base/room-watch.ts`,
    '    if (this.#parts.isReserveSpent() && reserve?.isHeld() === true) this.#parts.onReserveBack()\n',
    '',
    'node/full-group',
  ],
  [
    'LM9',
    'the reserve goes to whoever is filling the disk',
    `${NODE}base/room-watch.ts`,
    'if (isSettled && freeBytes <',
    'if (freeBytes <',
    'node/full-group',
  ],
  [
    'LM10',
    'a command is proposed without what it needs room for',
    'src/commands/propose.ts',
    'need: ROOM_NEEDS[command.type], ',
    '',
    'state-machine/room-needs',
  ],
  [
    'LM11',
    'a leader keeps the lead though others wait for its disk alone',
    `${NODE}disk/slow-disk.ts`,
    '    this.#parts.offerLead(null)\n',
    '',
    'node/slow-disk',
  ],
  [
    'LM12',
    'a leader whose disk is as slow as all others gives the lead away',
    `${NODE}disk/slow-disk.ts`,
    ' || overtaken < OVERTAKEN_SHARE || aheadMs < WAIT_SHARE * flushMs) return',
    ') return',
    'node/slow-disk',
  ],
]

export const LIMIT_MUTANTS: readonly Mutant[] = killedByTests(rows)
