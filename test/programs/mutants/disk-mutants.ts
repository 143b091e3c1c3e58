/**
 * Bugs of several disks: which directory is taken for a disk, where a copy is looked for, when one leaves a disk, and what would move.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const ROOM = 'cluster/blobs/disks/'
const CHOICE = 'blobs/disk-choice'
const DISKS = 'blobs/blob-disks'
const MOVING = 'blobs/moving-off'
const PLACING = 'state-machine/placing'
const TALLY = 'operations/placement-tally'

const rows: readonly TestedRow[] = [
  [
    'DK1',
    'an empty mount point is taken for an empty disk',
    `${ROOM}disk-admission.ts`,
    "  if (isKnown) return { kind: 'out', status: 'absent' }\n",
    "  if (isKnown && !found.isEmpty) return { kind: 'out', status: 'absent' }\n",
    CHOICE,
  ],
  [
    'DK2',
    'one disk at two paths is used twice',
    `${ROOM}disk-admission.ts`,
    'if (!taken.has(identity.diskId)) return',
    'if (!taken.has(directory)) return',
    CHOICE,
  ],
  [
    'DK3',
    'every disk gets the same share, whatever is free on it',
    `${ROOM}disk-choice.ts`,
    'weight: freeBytes, status',
    'weight: 1, status',
    CHOICE,
  ],
  [
    'DK4',
    'a copy leaves its disk before it was read back on another one',
    `${ROOM}blob-disks.ts`,
    '      if (!(await this.#isBeside(disk, name))) {\n        await this.#copyOff(disk, name, content)\n',
    '      if (!(await this.#isBeside(disk, name))) {\n        await this.#copyOff(disk, name, content).catch(() => undefined)\n',
    MOVING,
  ],
  [
    'DK5',
    'a disk that is emptied gets new copies',
    `${ROOM}blob-disks.ts`,
    "status === 'serving' && failure === null)",
    "status !== 'absent' && failure === null)",
    MOVING,
  ],
  [
    'DK6',
    'a chunk that two pages of a bucket show counts twice',
    'src/operations/placement/placement-tally.ts',
    'if (!this.#seen.has(name) && !seen.has(name))',
    'if (!seen.has(name))',
    TALLY,
  ],
  [
    'DK7',
    'a failed disk counts as one with copies',
    `${ROOM}disk-set.ts`,
    "      disk.status = 'failed'\n      this.#sayOut(disk, disk.failure)\n      return true\n",
    '      this.#sayOut(disk, disk.failure)\n      return true\n',
    DISKS,
  ],
  [
    'DK8',
    'a file that changes later holds over what an operator set',
    'src/state-machine/members/placing.ts',
    'return placement === undefined ? {',
    'return placement === undefined || placement.file.weight !== file.weight ? {',
    PLACING,
  ],
  [
    'DK9',
    'clearing a weight may leave too few zones for copies',
    'src/state-machine/members/placing.ts',
    '  if (fault !== null) return refuse',
    '  if (fault !== null && (zone ?? weight) !== null) return refuse',
    PLACING,
  ],
  [
    'DK10',
    'a node whose file changed believes its file over what the cluster holds',
    'cluster/directory/directory.ts',
    '  if (member.file !== undefined) return { ...member, peerAddress: place.peerAddress }\n',
    '',
    'directory/directory',
  ],
  [
    'DK11',
    'a member with a weight that an operator set reports its file again and again',
    'src/workers/following-members.ts',
    'const reported = { ...own, ...fileOf(own) }',
    'const reported = { ...fileOf(own), ...own }',
    'workers/following-members',
  ],
]

export const DISK_MUTANTS: readonly Mutant[] = killedByTests(rows)
