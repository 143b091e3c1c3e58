/**
 * Bugs of several disks: which directory is taken for a disk, where a copy is looked for, when one leaves a disk, and what would move.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const ROOM = 'cluster/blobs/disks/'
const CHOICE = 'blobs/disk-choice'
const DISKS = 'blobs/blob-disks'
const MOVING = 'blobs/moving-off'
const RACES = 'blobs/disk-races'
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
    `${ROOM}copy-mover.ts`,
    'if (!isBeside) await this.#copy(name, content, { from, targets })\n',
    'if (!isBeside) await this.#copy(name, content, { from, targets }).catch(() => undefined)\n',
    MOVING,
  ],
  [
    'DK5',
    'a disk that is emptied gets new copies',
    `${ROOM}disk-set.ts`,
    "disk.isSound && disk.status === 'serving'",
    "disk.isSound && disk.status !== 'absent'",
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
  [
    'DK12',
    'a flush that fails late on the disk before takes out the disk in its place',
    `${ROOM}disk-set.ts`,
    '      if (disk.store === store) this.fail(disk, cause)\n      else early ??= cause\n',
    '      this.fail(disk, cause)\n      if (disk.store === null) early ??= cause\n',
    RACES,
  ],
  [
    'DK13',
    'calls that fail on the disk before take out the disk in its place',
    `${ROOM}disk-calls.ts`,
    'if (failures >= FAILURES_MAX && disk.store === store)',
    'if (failures >= FAILURES_MAX)',
    RACES,
  ],
  [
    'DK14',
    'a copy that moves between two looks is missing',
    `${ROOM}moved-names.ts`,
    'if (found !== null || before === this.#count || looks === LOOKS_MAX)',
    'if (found !== null || before <= this.#count || looks === LOOKS_MAX)',
    RACES,
  ],
  [
    'DK15',
    'a copy that moves while names are listed is left out',
    `${ROOM}moved-names.ts`,
    'moved: [...moved.values()]',
    'moved: []',
    RACES,
  ],
  [
    'DK16',
    'a copy on a disk that just failed is reason enough to remove another one',
    `${ROOM}disk-set.ts`,
    "disk.isSound && disk.status === 'serving'",
    "disk.isUsed && disk.status === 'serving'",
    RACES,
  ],
  [
    'DK17',
    'of two copies the one on a disk that is emptied is kept',
    `${ROOM}blob-disks.ts`,
    'disk.isSound && !disk.isLeaving',
    'disk.isSound',
    RACES,
  ],
  [
    'DK18',
    'a damaged copy is made again on a disk that is emptied',
    `${ROOM}blob-disks.ts`,
    'if (!holder.isLeaving || (await',
    'if (holder.isUsed || (await',
    RACES,
  ],
  [
    'DK19',
    'a disk whose flush failed acknowledges a write',
    `${ROOM}disk-calls.ts`,
    'disk.store !== store || !disk.isSound',
    'disk.store !== store || !disk.isUsed',
    RACES,
  ],
  [
    'DK20',
    'reads that fail now and then take a disk out',
    `${ROOM}blob-disks.ts`,
    '        this.#calls.succeeded(store)\n',
    '',
    RACES,
  ],
  [
    'DK21',
    'a disk that hangs is asked again',
    `${ROOM}disk-set.ts`,
    '    this.#drop(disk, { waits: false })\n',
    '',
    RACES,
  ],
  [
    'DK22',
    'the copy that moves counts as one beside itself',
    `${ROOM}copy-mover.ts`,
    '      if (disk === from) continue\n',
    '',
    'blobs/even-out',
  ],
  [
    'DK23',
    'disks swap copies indefinitely: more leave the fuller one than bring it to the mean',
    `${ROOM}disk-choice.ts`,
    '(usedShare(fullest) - mean) * fullest',
    '(usedShare(fullest) - usedShare(emptiest)) * fullest',
    CHOICE,
  ],
  [
    'DK24',
    'a disk is emptied into another one without a bound',
    'cluster/repair/even-out-disks.ts',
    '      pass.bytesLeft -= bytes\n',
    '',
    'blobs/even-out',
  ],
]

export const DISK_MUTANTS: readonly Mutant[] = killedByTests(rows)
