/**
 * A node with two disks or more in temporary folders. Each can be made to fail.
 */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { DISK_THRESHOLDS, type DiskSize } from '../../cluster/base/disk-level.ts'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import type { BlobName } from '../../cluster/base/types.ts'
import { BlobDisks } from '../../cluster/blobs/disks/blob-disks.ts'
import { DiskSet } from '../../cluster/blobs/disks/disk-set.ts'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { WholeBytes } from '../../cluster/blobs/base/whole-bytes.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { SILENT } from '../helpers/loggers.ts'
import { sampleBlob } from './blob-samples.ts'

export const OWNER = { clusterId: 'cluster-1', nodeId: 'n1' }

interface Shape {
  readonly fileBytesMin: number
  readonly disks: number
}

export class DisksWorld {
  readonly root: string
  readonly directories: string[]
  /** Operations below this directory fail with EIO: all, or flushes alone. */
  broken: string | null = null
  areFlushesBroken = false
  /** Awaited before each operation on a file. */
  gate: (what: 'create' | 'open' | 'flush' | 'measure', path: string) => Promise<void> = async () => undefined
  /** In place of the sizes of the file system. */
  sizes: Readonly<Record<string, DiskSize>> = {}
  /** The last that was opened. */
  opened: { readonly set: DiskSet; readonly store: BlobDisks } | null = null
  unknown = 0
  troubles = 0
  readonly clock = new VirtualClock()
  readonly #t: Test
  readonly #fileBytesMin: number

  private constructor(t: Test, root: string, { fileBytesMin, disks }: Shape) {
    this.root = root
    this.directories = Array.from({ length: disks }, (_, n) => join(root, `d${n + 1}`))
    this.#t = t
    this.#fileBytesMin = fileBytesMin
  }

  static async make(t: Test, fileBytesMin = 4096, disks = 2): Promise<DisksWorld> {
    const root = await mkdtemp(join(tmpdir(), 'holdfast-disks-'))
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const world = new DisksWorld(t, root, { fileBytesMin, disks })
    for (const directory of [...world.directories, join(root, 'data')]) await mkdir(directory)
    return world
  }

  get dataDir(): string {
    return join(this.root, 'data')
  }

  async open(): Promise<{ readonly set: DiskSet; readonly store: BlobDisks }> {
    const expected = { ...OWNER, dataDir: this.dataDir, directories: this.directories }
    const set: DiskSet = new DiskSet({
      expected,
      storeAt: (directory, onFatal) => {
        const options = { directory, logger: SILENT, onFatal, fileBytesMin: this.#fileBytesMin }
        return new DiskBlobStore({ ...options, fileOps: this.#files(directory) })
      },
      clock: this.clock,
      logger: SILENT,
      onUnknown: () => this.unknown++,
      onTrouble: () => this.troubles++,
    })
    const store = new BlobDisks(set, { expected, thresholds: DISK_THRESHOLDS })
    await store.open()
    this.opened = { set, store }
    this.#t.teardown(() => store.close())
    return { set, store }
  }

  /** The directory in which the copy lies. */
  async where({ id, birth }: BlobName): Promise<string[]> {
    const found: string[] = []
    for (const directory of this.directories)
      if (
        (await readdir(join(directory, id.slice(0, 2))).catch((): string[] => [])).includes(`${id}.${birth}`)
      )
        found.push(directory)
    return found
  }

  #files(directory: string): FileOps {
    const failing = async <T>(work: () => Promise<T>, isFlush = false): Promise<T> => {
      if (this.broken === directory && (isFlush || !this.areFlushesBroken))
        throw Object.assign(new Error('EIO'), { code: 'EIO' })
      return work()
    }
    return {
      ...systemFileOps,
      create: async (path) => {
        await this.gate('create', path)
        return failing(() => systemFileOps.create(path))
      },
      openForRead: async (path) => {
        await this.gate('open', path)
        return failing(() => systemFileOps.openForRead(path))
      },
      syncFile: async (file) => {
        await this.gate('flush', directory)
        return failing(() => systemFileOps.syncFile(file), true)
      },
      diskUsage: async (path) => {
        await this.gate('measure', directory)
        return this.sizes[directory] ?? systemFileOps.diskUsage(path)
      },
    }
  }
}

const LARGE = 5_000
export const largeBlobs = (count: number, first = 0) =>
  Array.from({ length: count }, (_, n) => sampleBlob(first + n, LARGE))

export async function writeAll(
  store: BlobDisks,
  all: readonly ReturnType<typeof sampleBlob>[],
): Promise<void> {
  for (const blob of all) await store.writeNew(blob, new WholeBytes(blob.bytes), blob)
}
