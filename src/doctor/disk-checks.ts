/**
 * Judges a disk: free space, speed, kind of file system.
 *
 * Owns: the judgement and its limits. Knows nothing of: the measurement.
 */
import { diskLevel, type DiskThreshold, usedShare } from '../../cluster/index.ts'
import type { Config } from '../config/types.ts'
import type { DeviceFacts } from './disk-facts.ts'
import { error, type Finding, warning, well } from './finding.ts'

export interface DiskFacts {
  readonly path: string
  /** Used, or usable by this user. */
  readonly totalBytes: number
  readonly freeBytes: number
  /** Files that exist and can exist; both 0 where the file system has no such limit. */
  readonly totalFiles: number
  readonly freeFiles: number
  /** The magic number of statfs(2). */
  readonly filesystem: number
}

const FREE_FILES_MIN = 0.05

const percent = (share: number): string => `${Math.round(share * 1000) / 10}%`
const gib = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

export function checkSpace(facts: DiskFacts, thresholds: Config['disk']): readonly Finding[] {
  const { path, totalBytes, freeBytes, totalFiles, freeFiles } = facts
  const level = diskLevel({ totalBytes, freeBytes }, thresholds)
  const found = `${percent(usedShare({ totalBytes, freeBytes }))} of the disk of ${path} are used, ${gib(freeBytes)} of ${gib(totalBytes)} are free`
  const action =
    'Free space or enlarge the file system, see deploy/runbooks/full-blob-disk.md. Remove nothing in the data directory.'
  const findings: Finding[] = []
  if (level === 'stopPlacing') {
    const expected = expectedSpace('disk.stop_placing', thresholds.stopPlacing)
    findings.push(warning('disk_space', { found, expected, action }))
  } else if (level !== 'open') {
    const expected = `${expectedSpace('disk.stop_writing', thresholds.stopWriting)}; otherwise this node accepts no copies`
    findings.push(error('disk_space', { found, expected, action }))
  }
  const filesLeft = totalFiles > 0 ? freeFiles / totalFiles : 1
  if (filesLeft < FREE_FILES_MIN) {
    const judge = freeFiles === 0 ? error : warning
    const files = `${freeFiles} more files can be created on the disk of ${path}, of ${totalFiles}`
    const expected = `at least ${percent(FREE_FILES_MIN)} of the total`
    findings.push(
      judge('disk_space', {
        found: files,
        expected,
        action: 'Remove files of other programs, or create the file system again with more inodes.',
      }),
    )
  }
  return findings.length > 0 ? findings : [well('disk_space', found)]
}

const expectedSpace = (name: string, { usedShare: share, freeBytes }: DiskThreshold): string =>
  `less than ${name} (${percent(share)}) used, or at least ${name}_free (${gib(freeBytes)}) free`

/** Times are in ms. `failure` is the errno name if the measurement failed. */
export interface SpeedFacts {
  readonly path: string
  readonly flushesMs: readonly number[]
  readonly failure: string | null
}

/** Without a real flush, as in memory, the call itself takes about 5 µs; a round trip to a drive takes longer. ms */
const IMPLAUSIBLE_MS = 0.01
/** Every write waits for a flush on two nodes; a spinning drive takes about 10. ms */
const SLOW_MEDIAN_MS = 50

export function checkSpeed({ path, flushesMs, failure }: SpeedFacts, electionTimeoutMs: number): Finding {
  if (failure !== null)
    return error('disk_speed', {
      found: `a file in ${path} could not be written and flushed (${failure})`,
      expected: 'writes that are durable after a flush',
      action:
        failure === 'EROFS'
          ? 'Mount the disk for writing; the kernel log shows why it is read-only.'
          : 'Free space, let this user write there, and check the kernel log.',
    })
  const sorted = flushesMs.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const longest = sorted.at(-1) ?? 0
  const found = `a write of 4 KiB in ${path} is flushed in ${inMs(median)} (median), ${inMs(longest)} at worst, of ${sorted.length}`
  if (median < IMPLAUSIBLE_MS)
    return warning('disk_speed', {
      found,
      expected: `at least ${inMs(IMPLAUSIBLE_MS)}: no disk that makes flushed data durable is faster`,
      action:
        'Check whether the data directory is in memory, or whether a layer above the disk ignores flushes: then a power failure loses acknowledged objects.',
    })
  if (median > SLOW_MEDIAN_MS || longest >= electionTimeoutMs)
    return warning('disk_speed', {
      found,
      expected: `a median of at most ${SLOW_MEDIAN_MS} ms, and every flush shorter than cluster.election_timeout (${electionTimeoutMs} ms)`,
      action:
        'Check which other programs write to this disk, and its health; a leader whose disk does not respond transfers leadership.',
    })
  return well('disk_speed', found)
}

const inMs = (ms: number): string => `${ms.toFixed(ms < 1 ? 3 : 1)} ms`

/** Names of statfs magic numbers; `why`: why a node should not keep its data there. */
const FILESYSTEMS: ReadonlyMap<number, { readonly name: string; readonly why: string | null }> = new Map([
  [0xef53, { name: 'ext4', why: null }],
  [0x58465342, { name: 'xfs', why: null }],
  [0x9123683e, { name: 'btrfs', why: null }],
  [0x2fc12fc1, { name: 'zfs', why: null }],
  [0xf2f52010, { name: 'f2fs', why: null }],
  [0x01021994, { name: 'tmpfs', why: 'it is memory: a restart of the machine deletes everything in it' }],
  [0x858458f6, { name: 'ramfs', why: 'it is memory: a restart of the machine deletes everything in it' }],
  [0x794c7630, { name: 'overlayfs', why: 'it is the layer of a container and is deleted with it' }],
  [
    0x6969,
    { name: 'nfs', why: 'locks and flushes of a network file system do not behave like those of a disk' },
  ],
  [
    0xff534d42,
    { name: 'cifs', why: 'locks and flushes of a network file system do not behave like those of a disk' },
  ],
  [
    0xfe534d42,
    { name: 'smb2', why: 'locks and flushes of a network file system do not behave like those of a disk' },
  ],
  [0x65735546, { name: 'fuse', why: 'the effect of a flush there depends on a program' }],
  [0x01021997, { name: '9p', why: 'the effect of a flush there depends on the host of this machine' }],
])

export function checkFilesystem({ path, filesystem }: Pick<DiskFacts, 'path' | 'filesystem'>): Finding {
  const known = FILESYSTEMS.get(filesystem)
  const name = known?.name ?? `of kind 0x${filesystem.toString(16)}`
  if (known?.why === undefined || known.why === null) return well('filesystem', `${path} is on ${name}`)
  return warning('filesystem', {
    found: `${path} is on ${name}: ${known.why}`,
    expected: 'a file system on a disk of this machine, such as ext4 or xfs',
    action: 'Mount a disk (in a container: a volume) there, with the node stopped.',
  })
}

/** Findings about directories of blobs. `devices`: of those that can be read, and of the data directory. */
export function checkBlobDirectories(
  dataDir: string,
  directories: readonly string[],
  devices: readonly DeviceFacts[],
): readonly Finding[] {
  if (directories.length === 0) return [well('blob_directories', 'blobs are in the data directory')]
  const findings: Finding[] = []
  for (const [at, directory] of directories.entries()) {
    const own = devices.find(({ path }) => path === directory)
    if (own === undefined) {
      const found = `${directory} does not exist or cannot be read`
      const expected = 'a directory on a mounted disk'
      const action = 'Mount its disk, see deploy/runbooks/replace-a-disk.md.'
      findings.push(error('blob_directories', { found, expected, action }))
      continue
    }
    const before = [dataDir, ...directories.slice(0, at)]
    const shared = devices.find(({ path, device }) => device === own.device && before.includes(path))
    if (shared === undefined) continue
    findings.push(
      warning('blob_directories', {
        found: `${directory} and ${shared.path} are on one file system`,
        expected: 'a disk of its own for each',
        action: 'Mount another disk there, or name each disk once; otherwise both fail together.',
      }),
    )
  }
  if (findings.length > 0) return findings
  return [well('blob_directories', `${directories.length} directories, each on a disk of its own`)]
}
