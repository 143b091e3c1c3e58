/**
 * Orders about single disks of this node: to empty one, to use it again, what that would move, and which disk has a copy.
 *
 * Owns: what is refused, and the figures. Knows nothing of: who asks, other nodes.
 * Rule: the mark on the disk is durable before an order to empty it is answered; an order that is rehearsed passes the same checks and
 * writes nothing.
 */
import type { BlobName, DiskOrder, DiskOrdered, DiskPlaces, DiskPlan } from '../../base/types.ts'
import { bytesBefore, type DiskThresholds } from '../../base/disk-level.ts'
import type { DiskCalls } from './disk-calls.ts'
import type { DiskSet, OwnDisk } from './disk-set.ts'
import type { DisksExpected } from './found-disks.ts'
import { drainDisk } from './prepare-disk.ts'

const PAGE = 1_000
/** Copies whose bytes one plan adds up: a second of reading rows. */
const COUNTED_MAX = 200_000

export interface DiskDrainsParts {
  readonly set: DiskSet
  readonly calls: DiskCalls
  readonly expected: DisksExpected
  readonly thresholds: DiskThresholds
}

/** Bytes of a copy according to its row; null: no row names it. */
export type SizeOf = (name: BlobName) => number | null

export class DiskDrains {
  readonly #parts: DiskDrainsParts

  constructor(parts: DiskDrainsParts) {
    this.#parts = parts
  }

  /** Throws the errors of the disk. */
  async order({ diskId, isDraining, isRehearsal }: DiskOrder, sizeOf: SizeOf): Promise<DiskOrdered> {
    const { set, expected } = this.#parts
    const disk = set.all.find((one) => one.diskId === diskId)
    if (disk === undefined) return { kind: 'refused', why: 'no_disk' }
    if (!disk.isUsed) return { kind: 'refused', why: 'out' }
    if (!disk.isListed) return { kind: 'refused', why: 'not_listed' }
    const plan = await this.#plan(disk, sizeOf)
    if (isDraining && !disk.isLeaving && plan.bytes > plan.roomBytes)
      return { kind: 'refused', why: 'no_room', plan }
    if (isRehearsal) return { kind: 'done', plan }
    await drainDisk(expected, disk.directory, isDraining)
    return { kind: 'done', plan: { ...plan, status: isDraining ? 'draining' : 'serving' } }
  }

  /** The disk that each copy was found on. A bounded number of names; one that is nowhere, or on a disk that does not answer, has none. */
  async places(names: readonly BlobName[]): Promise<DiskPlaces> {
    const { set, calls } = this.#parts
    const disks = set.used
    const found: (number | null)[] = names.map(() => null)
    for (const [at, disk] of disks.entries()) {
      const open = names.flatMap((name, n) => (found[n] === null ? [{ name, n }] : []))
      for (const { name, n } of open) {
        const isHere = await calls
          .asked(disk, (store) => store.stat(name))
          .then(
            (content) => content !== null,
            () => false,
          )
        if (isHere) found[n] = at
      }
    }
    return { disks: disks.map(({ diskId, directory }) => ({ diskId, directory })), found }
  }

  async #plan(disk: OwnDisk, sizeOf: SizeOf): Promise<DiskPlan> {
    const { set, calls, thresholds } = this.#parts
    let [copies, bytes, after]: [number, number, BlobName | null] = [0, 0, null]
    let isComplete = false
    while (!isComplete && copies < COUNTED_MAX) {
      const from: BlobName | null = after
      const names: readonly BlobName[] = await calls.asked(disk, (store) => store.list(from, PAGE))
      for (const name of names) bytes += sizeOf(name) ?? 0
      copies += names.length
      after = names.at(-1) ?? null
      isComplete = names.length < PAGE
    }
    const others = set.open.filter((one) => one !== disk)
    const roomBytes = others.reduce(
      (sum, { usage }) => sum + (usage === null ? 0 : bytesBefore(usage, thresholds.stopWriting)),
      0,
    )
    const { directory, diskId, status } = disk
    return { directory, diskId, status, copies, bytes, isComplete, roomBytes }
  }
}
