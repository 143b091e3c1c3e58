/**
 * On which disks of each node the copies of chunks are: the question to each node in parts, and its answers added up.
 *
 * Rules: rows know nodes and no disks, so each node is asked about the copies that rows list there; a node that does not answer has no
 * figures, and a copy that it finds on no disk is counted as such. Chunks are bounded by the caller.
 */
import { type DiskPlaces, DISK_PLACES_MAX } from '../../../cluster/index.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import type { Services } from '../base/services.ts'
import type { Held } from './placement-tally.ts'

export interface DiskHeld extends Held {
  readonly diskId: string
  readonly directory: string
}

export interface NodeDisks {
  readonly nodeId: string
  readonly disks: readonly DiskHeld[]
  /** Listed there, and found on no disk of the node. */
  readonly nowhere: Held
}

interface Sum {
  copies: number
  bytes: number
}

/** Of the nodes that answer for all of their copies; each node is asked one question at a time. */
export async function tallyDisks(
  { cluster }: Pick<Services, 'cluster'>,
  chunks: readonly ChunkRecord[],
): Promise<readonly NodeDisks[]> {
  const held = new Map<string, ChunkRecord[]>()
  const once = new Map(chunks.map((chunk) => [`${chunk.tenantId}/${chunk.id}`, chunk]))
  for (const chunk of once.values())
    for (const node of chunk.replicas) held.set(node, [...(held.get(node) ?? []), chunk])
  const nodes = await Promise.all(
    [...held].map(async ([nodeId, copies]) => {
      const tally = new DiskTally()
      for (let at = 0; at < copies.length; at += DISK_PLACES_MAX) {
        const part = copies.slice(at, at + DISK_PLACES_MAX)
        const names = part.map(({ id, birth }) => ({ id: id as string, birth }))
        const places = await cluster.diskPlaces(nodeId, names)
        if (places === null) return null
        tally.add(part, places)
      }
      return { nodeId, ...tally.sums() }
    }),
  )
  return nodes.flatMap((node) => node ?? [])
}

/** Pure. */
export class DiskTally {
  readonly #disks = new Map<string, DiskHeld & Sum>()
  readonly #nowhere: Sum = { copies: 0, bytes: 0 }

  /** `places`: of these chunks, in their order. A disk without any of them is shown with nothing. */
  add(chunks: readonly ChunkRecord[], { disks, found }: DiskPlaces): void {
    const sums = disks.map(({ diskId, directory }) => {
      const known = this.#disks.get(diskId) ?? { diskId, directory, copies: 0, bytes: 0 }
      this.#disks.set(diskId, known)
      return known
    })
    for (const [at, { sealedSize }] of chunks.entries()) {
      const sum = sums[found[at] ?? -1] ?? this.#nowhere
      sum.copies++
      sum.bytes += sealedSize
    }
  }

  sums(): Omit<NodeDisks, 'nodeId'> {
    return { disks: [...this.#disks.values()], nowhere: { ...this.#nowhere } }
  }
}
