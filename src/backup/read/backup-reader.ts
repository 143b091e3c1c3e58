/**
 * Reads one backup out of a target, with every check.
 *
 * Owns: which bytes are believed. Knows nothing of: what is done with them. Rule: a target may give any bytes: a file counts only when digest and seal agree with
 * the manifest, a chunk only when its bytes have the digest in its name.
 */
import { hash } from 'node:crypto'
import type { MasterKey } from '../../access/master-key.ts'
import { type ChunkEntry, decodeChunks } from '../format/chunk-list.ts'
import {
  type BackupCut,
  type BackupFile,
  type ChunkFile,
  decodeManifest,
  type Manifest,
  MANIFEST_BYTES_MAX,
  type OpenedManifest,
} from '../format/manifest.ts'
import {
  BACKUPS,
  backupFolder,
  backupsFolder,
  chunkName,
  clusterFolder,
  manifestIn,
  manifestName,
} from '../format/names.ts'
import { openFile } from '../format/sealed-file.ts'
import { readWhole, SealedFiles } from '../run/sealed-files.ts'
import { type BackupTarget, TargetCorrupt, TargetError, TargetMissing } from '../targets/target.ts'

const ADDITION_BYTES_MAX = 16 * 1024 * 1024

export interface ListedBackup {
  /** The id of its cluster, in lower case. */
  readonly cluster: string
  readonly backupId: string
}

/** Finished backups, the oldest first, those of one second in any order; `clusterId` null: of every cluster that has any in this target. */
export async function* listBackups(
  target: BackupTarget,
  clusterId: string | null,
): AsyncGenerator<ListedBackup> {
  const folder = clusterId === null ? BACKUPS : backupsFolder(clusterId)
  for await (const { name } of target.list(folder)) {
    const found = manifestIn(name)
    if (found !== null) yield found
  }
}

export class BackupReader {
  readonly target: BackupTarget
  readonly manifest: Manifest
  readonly #files: SealedFiles
  readonly #folder: string
  readonly #backupKey: Uint8Array

  private constructor(target: BackupTarget, { manifest, backupKey }: OpenedManifest) {
    this.target = target
    this.manifest = manifest
    const folder = backupFolder(manifest.clusterId, manifest.backupId)
    this.#files = new SealedFiles({ target, folder, backupKey })
    this.#folder = folder
    this.#backupKey = backupKey
  }

  /** Throws TargetError. */
  static async open(
    target: BackupTarget,
    { cluster, backupId }: ListedBackup,
    masterKey: Pick<MasterKey, 'open'>,
  ): Promise<BackupReader> {
    const name = manifestName(cluster, backupId)
    const opened = await readManifest<Manifest>(target, name, masterKey)
    const { manifest } = opened
    if (manifest.backupId !== backupId || clusterFolder(manifest.clusterId) !== clusterFolder(cluster))
      throw new TargetCorrupt(`${name} is the manifest of another backup, "${manifest.backupId}"`)
    return new BackupReader(target, opened)
  }

  record(): Promise<Buffer> {
    return this.#files.read(this.manifest.record)
  }

  /** Rows in the form of a block, in the order of their keys. Throws TargetError. */
  async *rowBlocks(): AsyncGenerator<Buffer> {
    for (const file of this.manifest.state) yield await this.rowsIn(file)
  }

  /** One of `manifest.state`. Throws TargetError. */
  rowsIn(file: BackupFile): Promise<Buffer> {
    return this.#files.read(file)
  }

  /** Throws TargetError. */
  async chunksOf(file: ChunkFile): Promise<readonly ChunkEntry[]> {
    return decodeChunks(file.name, await this.#files.read(file))
  }

  /** Whether its manifest is still there. Throws TargetError. */
  async isListed(): Promise<boolean> {
    const { clusterId, backupId } = this.manifest
    return (await this.target.head(manifestName(clusterId, backupId))) !== undefined
  }

  /** A sealed file that was added behind the manifest; null: there is none. Throws TargetError. */
  async addition(name: string): Promise<Buffer | null> {
    const file = this.#folder + name
    if ((await this.target.head(file)) === undefined) return null
    return openFile(this.#backupKey, file, await readWhole(this.target, file, ADDITION_BYTES_MAX))
  }

  /** Throws TargetError. */
  async add(name: string, plain: Uint8Array): Promise<void> {
    await this.#files.write(name, plain)
  }

  /** Throws TargetError. */
  async removeAdditions(prefix: string): Promise<void> {
    const names: string[] = []
    for await (const { name } of this.target.list(this.#folder + prefix)) names.push(name)
    for (const name of names) await this.target.remove(name)
  }

  nameOf(entry: ChunkEntry): string {
    return chunkName(this.manifest.clusterId, entry)
  }

  /** The sealed bytes. Throws TargetMissing, TargetCorrupt, or TargetUnreachable. */
  async chunk(entry: ChunkEntry): Promise<Buffer> {
    const name = this.nameOf(entry)
    const sealed = await readWhole(this.target, name, entry.sealedSize)
    if (sealed.length === entry.sealedSize && hash('sha256', sealed, 'hex') === entry.checksum) return sealed
    throw new TargetCorrupt(`${name} has other bytes than were written`)
  }
}

export async function readManifest<M extends BackupCut>(
  target: BackupTarget,
  name: string,
  masterKey: Pick<MasterKey, 'open'>,
): Promise<OpenedManifest<M>> {
  return decodeManifest<M>(name, await readWhole(target, name, MANIFEST_BYTES_MAX), masterKey)
}

/** What is wrong with a part of a backup; null: the error says nothing about it, such as one of a target that is away. */
export function damageOf(error: unknown): 'missing' | 'damaged' | null {
  if (error instanceof TargetMissing) return 'missing'
  if (error instanceof TargetCorrupt) return 'damaged'
  if (error instanceof TargetError) return null
  return null
}
