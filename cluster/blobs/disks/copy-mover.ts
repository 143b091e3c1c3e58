/**
 * Moves copies between disks of this node: off disks that are emptied, and from fuller disks to emptier ones.
 *
 * Owns: the way of one copy. Knows nothing of: pace, order, locks: the caller holds the lock of the copy.
 * Rule: a copy is copied, read back on another disk that stays in use, and only then removed where it was.
 */
import type { BlobName } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'
import { type BlobContent, BlobWriteError } from '../base/blob-store.ts'
import { type Crowding, crowdingOf, rankDisks } from './disk-choice.ts'
import type { DiskCalls } from './disk-calls.ts'
import type { DiskSet, OwnDisk } from './disk-set.ts'
import type { MovedNames } from './moved-names.ts'
import { listOf } from './list-of-disks.ts'

export interface CopyMoverParts {
  readonly set: DiskSet
  readonly calls: DiskCalls
  readonly moved: MovedNames
}

export class CopyMover {
  readonly #parts: CopyMoverParts

  constructor(parts: CopyMoverParts) {
    this.#parts = parts
  }

  /** Copies on disks that take no new ones, in the order of their names. */
  leaving(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const { calls } = this.#parts
    const lists = this.#leavingDisks.map((disk) => ({
      list: (from: BlobName | null, most: number) => calls.asked(disk, (store) => store.list(from, most)),
    }))
    return listOf(lists, after, limit)
  }

  /**
   * The copy lies on another disk when it resolves. Resolves with the bytes that were copied. Throws BlobWriteError: `disk_full` when no
   * other disk takes it, `checksum_mismatch` when it is damaged.
   */
  async moveOff(name: BlobName): Promise<number> {
    let copied = 0
    for (const disk of this.#leavingDisks) copied += await this.#move(name, disk, this.#ranked(name))
    return copied
  }

  /** Which disk is fuller than others by so much that copies should leave it, as measured now; null: none is. */
  async crowding(): Promise<Crowding | null> {
    const { set } = this.#parts
    await Promise.all(set.used.map((disk) => set.measure(disk)))
    return crowdingOf(set.open.flatMap(({ diskId, usage }) => (usage === null ? [] : [{ diskId, ...usage }])))
  }

  /** Copies on this disk, in the order of their names. */
  async on(diskId: string, after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const disk = this.#open(diskId)
    return disk === undefined ? [] : this.#parts.calls.asked(disk, (store) => store.list(after, limit))
  }

  /** Moves a copy from this disk to one of the emptier ones. Resolves with the bytes that were copied; 0 when it is not there any more. */
  async moveTo(name: BlobName, { from, to }: Pick<Crowding, 'from' | 'to'>): Promise<number> {
    const disk = this.#open(from)
    if (disk === undefined) return 0
    const targets = this.#ranked(name).filter(({ diskId }) => to.includes(diskId))
    return targets.length === 0 ? 0 : this.#move(name, disk, targets)
  }

  // ---------------------------------------------------------------------------------------------

  get #leavingDisks(): readonly OwnDisk[] {
    return this.#parts.set.used.filter(({ isLeaving }) => isLeaving)
  }

  #open(diskId: string): OwnDisk | undefined {
    return this.#parts.set.open.find((disk) => disk.diskId === diskId)
  }

  #ranked(name: BlobName): readonly OwnDisk[] {
    return rankedFor(name, this.#parts.set)
  }

  async #move(name: BlobName, from: OwnDisk, targets: readonly OwnDisk[]): Promise<number> {
    const { calls, moved } = this.#parts
    const content = await calls.asked(from, (store) => store.stat(name))
    if (content === null) return 0
    const isBeside = await this.#isBeside(from, name)
    if (!isBeside) await this.#copy(name, content, { from, targets })
    moved.note(name)
    await calls.asked(from, (store) => store.remove([name]))
    return isBeside ? 0 : content.size
  }

  async #isBeside(from: OwnDisk, name: BlobName): Promise<boolean> {
    const { set, calls } = this.#parts
    for (const disk of set.open) {
      if (disk === from) continue
      const isGood = await calls
        .asked(disk, (store) => store.verify(name))
        .then(
          () => true,
          () => false,
        )
      if (isGood && disk.isSound) return true
    }
    return false
  }

  async #copy(
    name: BlobName,
    content: BlobContent,
    { from, targets }: { readonly from: OwnDisk; readonly targets: readonly OwnDisk[] },
  ): Promise<void> {
    const { calls } = this.#parts
    if (targets.length === 0) throw noDisk(this.#parts.set)
    for (const [at, disk] of targets.entries()) {
      const { store: source } = from
      if (source === null) throw new BlobWriteError('io_error', 'Cannot move a blob: its disk is out of use')
      try {
        await calls.onto(disk, name, (store) =>
          store.write(name, source.read(name, 0, content.size), content),
        )
        await calls.asked(disk, (store) => store.verify(name))
        if (disk.isSound) return
        throw new BlobWriteError('io_error', 'Cannot move a blob: the other disk was taken out of use')
      } catch (cause) {
        if (!isOfDisk(cause) || at === targets.length - 1) throw cause
      }
    }
  }
}

/** The disks that take a new copy of this name, best first. */
export function rankedFor(name: BlobName, { open }: DiskSet): readonly OwnDisk[] {
  const rooms = open.flatMap(({ diskId, usage }) => (usage === null ? [] : [{ diskId, ...usage }]))
  const order = rankDisks(fileNameOf(name), rooms)
  return order.flatMap((diskId) => open.find((disk) => disk.diskId === diskId) ?? [])
}

export function noDisk({ used }: DiskSet): BlobWriteError {
  return used.length > 0
    ? new BlobWriteError(
        'disk_full',
        'Cannot write a blob: every disk of this node is nearly full; free space or add a disk',
      )
    : new BlobWriteError('io_error', 'Cannot write a blob: no disk of this node is in use')
}

/** Another disk may take what this one did not. */
export function isOfDisk(cause: unknown): boolean {
  return cause instanceof BlobWriteError && ['disk_full', 'io_error', 'store_failed'].includes(cause.code)
}
