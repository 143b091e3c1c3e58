/**
 * A store of packs on a disk in memory, with its parts accessible to a test.
 */
import { BlobLayout } from '../../cluster/blobs/files/blob-layout.ts'
import type { FileOps } from '../../cluster/base/file-ops.ts'
import { FlushGuard } from '../../cluster/blobs/files/flush-guard.ts'
import type { IndexRows } from '../../cluster/blobs/packs/index-rows.ts'
import { PACK_LIMITS, PackBlobStore, type PackLimits } from '../../cluster/blobs/packs/pack-blob-store.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { MemoryFiles } from '../wal/memory-files.ts'
import { type SampleBlob, streamOf } from './blob-samples.ts'
import { ROOT } from './crash-world.ts'
import { blobFilesOn } from './memory-blob-files.ts'
import { MemoryRows } from './memory-rows.ts'

export class PackWorld {
  files = new MemoryFiles()
  rows: IndexRows = new MemoryRows()
  limits: Partial<PackLimits> = {}
  /** Wraps the operations of the disk in memory. */
  wrap: (ops: FileOps) => FileOps = (ops) => ops
  /** Awaited by a compaction before each record. */
  pace: (bytes: number, stopping: AbortSignal) => Promise<void> = async () => undefined
  bytesToSpare = Infinity
  readonly logged: LogLine[] = []
  readonly fatal: Error[] = []

  /** Like after a kill when a store is open already. */
  async open(): Promise<PackBlobStore> {
    const [layout, ops] = [new BlobLayout(ROOT), this.wrap(blobFilesOn(this.files))]
    await layout.prepare(ops)
    const store = new PackBlobStore({
      layout,
      ops,
      guard: new FlushGuard((error) => this.fatal.push(error)),
      rows: this.rows,
      logger: recordingLogger(this.logged),
      limits: { ...PACK_LIMITS, ...this.limits },
      pace: (bytes, stopping) => this.pace(bytes, stopping),
      bytesToSpare: async () => this.bytesToSpare,
    })
    await store.open()
    return store
  }

  packs(): string[] {
    return this.files.paths().filter((path) => path.endsWith('.pack'))
  }

  quarantined(): string[] {
    return this.files.paths().filter((path) => path.includes('/quarantine/'))
  }

  /** Where the header of a blob starts; the newest record when there are several. */
  placeOf({ id }: SampleBlob): { readonly path: string; readonly at: number } {
    for (const path of this.packs().toReversed()) {
      const at = this.files.bytesOf(path).lastIndexOf(id)
      if (at !== -1) return { path, at: at - 57 }
    }
    throw new Error(`"${id}" is in no pack`)
  }

  /** Flips bits in the header, or in the bytes of the blob. */
  damage(blob: SampleBlob, where: 'header' | 'bytes'): void {
    const { path, at } = this.placeOf(blob)
    this.files.bytesOf(path).fill(0xa5, where === 'header' ? at + 20 : at + 256, at + 260)
  }
}

export async function writeAll(store: PackBlobStore, blobs: readonly SampleBlob[]): Promise<void> {
  for (const blob of blobs) await store.write(blob, streamOf(blob.bytes), blob)
}
