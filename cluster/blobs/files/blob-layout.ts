/**
 * The directories of a blob store: `<root>/<first two hex digits of the id>/<id>.<birth>`, and beside these
 * `tmp`, `quarantine`, `packs` and `pack-index`.
 *
 * One level of 256 directories is enough: ids are uniformly distributed, and a million blobs (4 TB of full chunks) are 4,000 names
 * in each. All 256 are created and synced when the store opens, so a write has to sync one directory, never a chain of parents.
 * Rule: every path is built here, from a validated name or from a counter; none comes from outside.
 */
import { dirname, join } from 'node:path'
import type { BlobName } from '../../base/types.ts'
import { fileNameOf } from '../base/blob-name.ts'
import type { FileOps } from '../../base/file-ops.ts'

export const SHARDS: readonly string[] = Array.from({ length: 256 }, (_, n) =>
  n.toString(16).padStart(2, '0'),
)

const PACK_DIGITS = 10
const PACK_FILE = /^([0-9]{10})\.pack$/

export function shardOf(name: BlobName): string {
  return name.id.slice(0, 2)
}

export class BlobLayout {
  readonly root: string
  readonly temporaryDirectory: string
  readonly quarantineDirectory: string
  readonly packDirectory: string
  /** Created by LevelDB itself. */
  readonly packIndexDirectory: string
  #temporaries = 0
  #quarantined = 0

  constructor(root: string) {
    this.root = root
    this.temporaryDirectory = join(root, 'tmp')
    this.quarantineDirectory = join(root, 'quarantine')
    this.packDirectory = join(root, 'packs')
    this.packIndexDirectory = join(root, 'pack-index')
  }

  shardDirectory(shard: string): string {
    return join(this.root, shard)
  }

  pathOfPack(pack: number): string {
    return join(this.packDirectory, `${String(pack).padStart(PACK_DIGITS, '0')}.pack`)
  }

  /** Null for a file that is not a pack. */
  packOf(fileName: string): number | null {
    const digits = PACK_FILE.exec(fileName)?.[1]
    return digits === undefined ? null : Number(digits)
  }

  pathOf(name: BlobName): string {
    const fileName = fileNameOf(name)
    return join(this.root, shardOf(name), fileName)
  }

  /** A path not used since `prepare`, which empties the directory. */
  nextTemporary(): string {
    return join(this.temporaryDirectory, String(this.#temporaries++))
  }

  /** One name may be quarantined several times, before and after a restart: each time under its own number. */
  nextQuarantine(name: BlobName): string {
    return join(this.quarantineDirectory, `${fileNameOf(name)}.${this.#quarantined++}`)
  }

  /** For a whole pack that cannot be read. */
  nextPackQuarantine(pack: number): string {
    return join(this.quarantineDirectory, `${pack}.pack.${this.#quarantined++}`)
  }

  /** Creates and syncs missing directories and removes files that a crash left in tmp. */
  async prepare(ops: FileOps): Promise<void> {
    await ops.makeDirectory(this.root)
    await ops.syncDirectory(dirname(this.root))
    const there = new Set(await ops.listDirectory(this.root))
    for (const name of ['tmp', 'quarantine', 'packs', ...SHARDS])
      if (!there.has(name)) await ops.makeDirectory(join(this.root, name))
    // Unconditional: an earlier start may have crashed after it created the directories and before it synced them.
    await ops.syncDirectory(this.root)
    for (const leftover of await ops.listDirectory(this.temporaryDirectory)) {
      await ops.unlink(join(this.temporaryDirectory, leftover))
    }
    const numbers = (await ops.listDirectory(this.quarantineDirectory)).map((file) =>
      Number(file.split('.').at(-1)),
    )
    this.#quarantined = numbers.filter(Number.isSafeInteger).reduce((most, n) => Math.max(most, n + 1), 0)
  }
}
