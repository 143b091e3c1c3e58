/**
 * The disks of a node: which of them it uses now, and when one is taken out or in.
 *
 * Owns: the status of each disk, and the record of them. Knows nothing of: rows, copies, where a copy lies.
 * Rules: one disk that fails, vanishes or is another one is taken out alone. A disk that failed is used again after a restart, or when
 * it was away in between, or when another one lies at its directory. What was written and removed meanwhile is unknown to a disk that
 * comes in, and is reported so. A disk that gives no answer for HANG_MS_MAX is out like one that failed, and is not asked again until it
 * answers: each call to it would hold a thread for files that all disks share.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { systemFileOps } from '../../base/file-ops.ts'
import type { DiskStatus, Logger } from '../../base/types.ts'
import type { DiskUsage } from '../base/blob-store.ts'
import type { DiskBlobStore } from '../disk/disk-blob-store.ts'
import { admitDisk } from './disk-admission.ts'
import { isMarkedDraining, lookAtDirectory, writeDiskIdentity } from './disk-identity.ts'
import { type KnownDisk, readDiskRecord, writeDiskRecord } from './disk-record.ts'
import { type DisksExpected, findDisks, firstDirectory, type FoundDisk } from './found-disks.ts'

/** A disk that spins up, or repeats a sector, answers within this time; clients wait no longer than about that for a node. */
const HANG_MS_MAX = 30_000

export interface DiskSetParts {
  readonly expected: DisksExpected
  /** `onFatal`: nothing on that disk can be relied on any more. */
  readonly storeAt: (directory: string, onFatal: (error: Error) => void) => DiskBlobStore
  readonly clock: Pick<Clock, 'after'>
  readonly logger: Logger
  /** The copies on a disk may differ from those that were written and not removed. */
  readonly onUnknown: () => void
  /** A disk fails: `look` should run soon. */
  readonly onTrouble: () => void
}

export class OwnDisk {
  readonly directory: string
  /** False: the settings do not name it, and it is to be emptied. */
  readonly isListed: boolean
  diskId: string
  status: DiskStatus
  /** Null: closed. A failed disk may still be read as a last resort. */
  store: DiskBlobStore | null = null
  /** As of the last measurement. */
  usage: DiskUsage | null = null
  /** Found since the last look. */
  failure: unknown = null
  /** A look at it that has not ended in time, and is still under way. */
  isHanging = false

  constructor(found: FoundDisk) {
    this.directory = found.directory
    this.isListed = found.isListed
    this.diskId = found.known?.diskId ?? ''
    this.status = 'absent'
  }

  get isUsed(): boolean {
    return this.store !== null && (this.status === 'serving' || this.isLeaving)
  }

  /** In use, and nothing has failed since the last look. */
  get isSound(): boolean {
    return this.isUsed && this.failure === null
  }

  /** It takes no new copies. */
  get isLeaving(): boolean {
    return this.status === 'draining' || this.status === 'drained'
  }
}

async function forgotten(
  { dataDir }: DisksExpected,
  found: readonly FoundDisk[],
): Promise<readonly KnownDisk[]> {
  const record = await readDiskRecord(dataDir)
  return record.filter((disk) => found.every(({ directory }) => directory !== disk.directory))
}

export class DiskSet {
  readonly #parts: DiskSetParts
  #disks: readonly OwnDisk[] = []
  #closing: Promise<void>[] = []

  constructor(parts: DiskSetParts) {
    this.#parts = parts
  }

  /** In the order of the settings. */
  get all(): readonly OwnDisk[] {
    return this.#disks
  }

  /** Those with copies that count. */
  get used(): readonly OwnDisk[] {
    return this.#disks.filter(({ isUsed }) => isUsed)
  }

  /** Those that take new copies, if they have space. */
  get open(): readonly OwnDisk[] {
    return this.#disks.filter((disk) => disk.isSound && disk.status === 'serving')
  }

  /** Throws StartError. */
  async start(): Promise<void> {
    const { expected, onUnknown, logger } = this.#parts
    const found = await findDisks(expected)
    for (const { directory } of await forgotten(expected, found))
      logger.warn({ directory }, 'directory of blobs is no longer named, its copies are made again')
    this.#disks = found.map((one) => new OwnDisk(one))
    // Ids are recorded before anything is written, so a disk that is away from here on is missed.
    for (const [at, { directory, admission }] of found.entries()) {
      const disk = this.#disks[at]
      if (disk === undefined) continue
      if (admission.kind === 'make') disk.diskId = await this.#name(directory)
      if (admission.kind === 'serve') disk.diskId = admission.diskId
    }
    await this.#keep()
    for (const [at, { known, admission }] of found.entries()) {
      const disk = this.#disks[at]
      if (disk === undefined) continue
      if (admission.kind === 'make' || admission.kind === 'serve') {
        await this.#takeIn(disk)
        if (known === null || known.isOut || known.diskId !== disk.diskId) onUnknown()
      } else {
        disk.status = admission.kind === 'out' ? admission.status : 'failed'
        this.#sayOut(disk, admission.kind === 'failed' ? admission.cause : null)
      }
    }
    await this.#keep()
    if (this.used.length === 0) logger.error({}, 'no disk for blobs is usable')
  }

  /** Compares all disks with what lies at their directories. True: copies may be gone, or be there again. One call at a time. */
  async look(): Promise<boolean> {
    let isChanged = false
    for (const disk of this.#disks) if (await this.#lookInTime(disk)) isChanged = true
    if (isChanged) await this.#keep()
    return isChanged
  }

  /** Call with an error after which the disk is not to be used. */
  fail(disk: OwnDisk, cause: unknown): void {
    if (!disk.isUsed || disk.failure !== null) return
    disk.failure = cause
    this.#parts.onTrouble()
  }

  /** A disk that cannot be measured keeps its last figures, until it is taken out. */
  async measure(disk: OwnDisk): Promise<void> {
    const { store } = disk
    const usage = await store?.usage().catch(() => null)
    if (usage === null || usage === undefined || disk.store !== store) return
    disk.usage = usage
    if (usage.isSuspect) this.fail(disk, new Error('Several operations in a row failed'))
  }

  async close(): Promise<void> {
    await Promise.all(this.#disks.flatMap(({ store }) => (store === null ? [] : [store.close()])))
    await Promise.all(this.#closing)
  }

  // ---------------------------------------------------------------------------------------------

  async #lookInTime(disk: OwnDisk): Promise<boolean> {
    if (disk.isHanging) return false
    const looked = this.#lookAt(disk)
    const isOver = await this.#inTime(looked)
    if (isOver) return looked
    disk.isHanging = true
    looked
      .catch((err: unknown) =>
        this.#parts.logger.warn({ directory: disk.directory, err }, 'late look at a disk'),
      )
      .finally(() => {
        disk.isHanging = false
      })
    const wasUsed = disk.isUsed
    this.#drop(disk, { waits: false })
    disk.status = 'failed'
    this.#sayOut(disk, new Error(`No answer within ${HANG_MS_MAX / 1000} s`))
    return wasUsed
  }

  #inTime(work: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#parts.clock.after(HANG_MS_MAX, () => resolve(false))
      const end = (): void => {
        timer.cancel()
        resolve(true)
      }
      work.then(end, end)
    })
  }

  async #lookAt(disk: OwnDisk): Promise<boolean> {
    if (disk.isUsed) await this.measure(disk)
    if (disk.isUsed && disk.failure !== null) {
      disk.status = 'failed'
      this.#sayOut(disk, disk.failure)
      return true
    }
    const there = await this.#foundAt(disk)
    if (disk.isHanging) return false
    const isSame = there.kind === 'serve' && there.diskId === disk.diskId
    if (isSame && disk.isUsed) await this.#judge(disk)
    if (isSame && (disk.isUsed || disk.status === 'failed')) return false
    const wasUsed = disk.isUsed
    if (there.kind !== 'serve') {
      const isNews = disk.status !== there.status
      this.#drop(disk)
      disk.status = there.status
      if (isNews) this.#sayOut(disk, there.cause)
      return wasUsed
    }
    this.#drop(disk)
    if (!isSame)
      this.#parts.logger.info(
        { directory: disk.directory, disk: there.diskId },
        'another disk of blobs is in its place',
      )
    disk.diskId = there.diskId
    await this.#takeIn(disk)
    this.#parts.onUnknown()
    return true
  }

  async #foundAt(
    disk: OwnDisk,
  ): Promise<
    | { readonly kind: 'serve'; readonly diskId: string }
    | { readonly kind: 'out'; readonly status: 'absent' | 'foreign' | 'failed'; readonly cause: unknown }
  > {
    const { directory, diskId: knownId } = disk
    const { expected } = this.#parts
    try {
      const found = await lookAtDirectory(directory)
      const others = new Set(this.#disks.flatMap((one) => (one === disk || !one.isUsed ? [] : [one.diskId])))
      const isFirst = directory === firstDirectory(expected.dataDir)
      const admission = admitDisk({ directory, found, knownId, isFirst }, expected, others)
      if (admission.kind === 'serve') return admission
      const status = admission.kind === 'out' ? admission.status : 'foreign'
      return { kind: 'out', status, cause: null }
    } catch (cause) {
      return { kind: 'out', status: 'failed', cause }
    }
  }

  async #name(directory: string): Promise<string> {
    const { clusterId, nodeId } = this.#parts.expected
    const diskId = randomBytes(16).toString('hex')
    await systemFileOps.makeDirectory(directory)
    await writeDiskIdentity(directory, { clusterId, nodeId, diskId })
    return diskId
  }

  async #takeIn(disk: OwnDisk): Promise<void> {
    const { storeAt, logger } = this.#parts
    disk.failure = null
    let early: unknown = null
    // What an earlier store at this directory still reports says nothing about this one.
    const store: DiskBlobStore = storeAt(disk.directory, (cause) => {
      if (disk.store === store) this.fail(disk, cause)
      else early ??= cause
    })
    try {
      await store.open()
      disk.usage = await store.usage()
      if (early !== null) throw early
      if (disk.isHanging) throw new Error('It answered too late')
    } catch (cause) {
      disk.status = 'failed'
      this.#sayOut(disk, cause)
      await store.close().catch(() => undefined)
      return
    }
    disk.store = store
    disk.status = 'serving'
    await this.#judge(disk)
    logger.info({ directory: disk.directory, disk: disk.diskId, status: disk.status }, 'disk of blobs in use')
  }

  /** Of a disk that is used: whether it takes new copies, and whether it has any. */
  async #judge(disk: OwnDisk): Promise<void> {
    const before = disk.status
    try {
      const isLeaving = !disk.isListed || (await isMarkedDraining(disk.directory))
      const isEmpty = isLeaving && (await disk.store?.list(null, 1))?.length === 0
      if (!isLeaving) disk.status = 'serving'
      else disk.status = isEmpty ? 'drained' : 'draining'
    } catch (cause) {
      this.fail(disk, cause)
    }
    const { directory, diskId, status } = disk
    if (status !== before)
      this.#parts.logger.info({ directory, disk: diskId, status }, 'disk of blobs changed its status')
  }

  /** Calls in progress on the closed store fail, as they do on a disk that is gone. */
  #drop(disk: OwnDisk, { waits } = { waits: true }): void {
    const { store } = disk
    disk.store = null
    disk.usage = null
    if (store === null) return
    const end = store
      .close()
      .catch((err: unknown) => this.#parts.logger.debug({ err }, 'disk of blobs not closed cleanly'))
    if (!waits) return
    this.#closing.push(end)
    void end.then(() => {
      this.#closing = this.#closing.filter((one) => one !== end)
    })
  }

  #sayOut({ directory, diskId, status }: OwnDisk, err: unknown): void {
    this.#parts.logger.error(
      { directory, disk: diskId, status, ...(err === null ? {} : { err }) },
      'disk of blobs taken out of use',
    )
  }

  #keep(): Promise<void> {
    const disks = this.#disks.map((disk) => ({
      directory: disk.directory,
      diskId: disk.diskId,
      isOut: !disk.isUsed,
    }))
    return writeDiskRecord(this.#parts.expected.dataDir, disks)
  }
}
