/**
 * Which disk of a node gets a new copy, and from which one copies should leave. Pure.
 *
 * Rules: the share of a disk is that of its free bytes, so disks of different sizes fill up at the same time, and a new disk is filled
 * first without taking everything. A disk that prefers to be spared comes after those that do not. Copies leave a disk only when it is
 * much fuller than another one, and not more of them than bring it to the mean, so they never move back and forth.
 */
import { type DiskLevel, type DiskSize, takesNewBlobs, usedShare } from '../../base/disk-level.ts'
import { placeReplicas } from '../../placement/rendezvous.ts'

export interface DiskRoom {
  readonly diskId: string
  readonly freeBytes: number
  readonly level: DiskLevel
}

/** Copies should move from one disk to others. */
export interface Crowding {
  readonly from: string
  /** Emptier than the mean. */
  readonly to: readonly string[]
  /** With so many bytes less the fuller disk is at the mean, and with so many more no other disk is above it. */
  readonly bytes: number
}

/** Difference of the used shares of two disks from which on copies move. */
const CROWDED_BY = 0.2

/** The disks that take new copies, best first for this name. */
export function rankDisks(name: string, disks: readonly DiskRoom[]): readonly string[] {
  const open = disks.filter(({ level, freeBytes }) => takesNewBlobs(level) && freeBytes > 0)
  const members = open.map(({ diskId, freeBytes, level }) => {
    const status = level === 'open' ? ('willing' as const) : ('sparing' as const)
    // Disks are no zones of each other: each is its own, so the weight and the status alone decide.
    return { nodeId: diskId, zone: diskId, weight: freeBytes, status }
  })
  return placeReplicas({ blobId: name, members, copies: members.length })
}

/** Null: no disk is much fuller than another one. */
export function crowdingOf(disks: readonly (DiskRoom & DiskSize)[]): Crowding | null {
  const sorted = disks
    .filter(({ totalBytes }) => totalBytes > 0)
    .toSorted((one, other) => usedShare(other) - usedShare(one))
  const [fullest, emptiest] = [sorted[0], sorted.at(-1)]
  if (fullest === undefined || emptiest === undefined) return null
  if (usedShare(fullest) - usedShare(emptiest) < CROWDED_BY) return null
  const total = sorted.reduce((sum, { totalBytes }) => sum + totalBytes, 0)
  const free = sorted.reduce((sum, { freeBytes }) => sum + freeBytes, 0)
  const mean = usedShare({ totalBytes: total, freeBytes: free })
  const emptier = sorted.filter((disk) => usedShare(disk) < mean && takesNewBlobs(disk.level))
  const space = emptier.reduce((sum, disk) => sum + (mean - usedShare(disk)) * disk.totalBytes, 0)
  const excess = (usedShare(fullest) - mean) * fullest.totalBytes
  const bytes = Math.floor(Math.min(excess, space))
  return bytes < 1 ? null : { from: fullest.diskId, to: emptier.map(({ diskId }) => diskId), bytes }
}
