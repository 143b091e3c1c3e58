/**
 * Which disk of a node gets a new copy. Pure.
 *
 * Rule: the share of a disk is that of its free bytes, so disks of different sizes fill up at the same time, and a new disk is filled
 * first without taking everything. A disk that prefers to be spared comes after those that do not.
 */
import { type DiskLevel, takesNewBlobs } from '../../base/disk-level.ts'
import { placeReplicas } from '../../placement/rendezvous.ts'

export interface DiskRoom {
  readonly diskId: string
  readonly freeBytes: number
  readonly level: DiskLevel
}

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
