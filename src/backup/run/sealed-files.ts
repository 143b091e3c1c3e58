/**
 * Files of metadata of one backup in a target: written sealed, read back and compared with what the manifest says.
 *
 * Owns: the digests. Knows nothing of: what is in the files. Rule: what a target gives back counts only when its size, its digest and its seal
 * agree.
 */
import { hash } from 'node:crypto'
import { type BackupTarget, TargetCorrupt } from '../targets/target.ts'
import type { BackupFile } from '../format/manifest.ts'
import { openFile, sealFile } from '../format/sealed-file.ts'

export interface SealedFilesParts {
  readonly target: BackupTarget
  /** The folder of the backup, with a slash at its end. */
  readonly folder: string
  readonly backupKey: Uint8Array
}

export class SealedFiles {
  readonly #parts: SealedFilesParts

  constructor(parts: SealedFilesParts) {
    this.#parts = parts
  }

  async write(name: string, plain: Uint8Array): Promise<BackupFile> {
    const { target, folder, backupKey } = this.#parts
    const sealed = await sealFile(backupKey, folder + name, plain)
    await target.put(folder + name, once(sealed), sealed.length)
    return { name, size: sealed.length, sha256: hash('sha256', sealed, 'hex') }
  }

  /** Throws TargetMissing or TargetCorrupt. */
  async read({ name, size, sha256 }: BackupFile): Promise<Buffer> {
    const { target, folder, backupKey } = this.#parts
    const sealed = await readWhole(target, folder + name, size)
    if (sealed.length !== size || hash('sha256', sealed, 'hex') !== sha256)
      throw new TargetCorrupt(`${folder}${name} has other bytes than were written`)
    return openFile(backupKey, folder + name, sealed)
  }
}

export async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

/** Throws TargetMissing, or TargetCorrupt for more than `bytesMax`. */
export async function readWhole(target: BackupTarget, name: string, bytesMax: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of target.get(name)) {
    bytes += piece.length
    if (bytes > bytesMax) throw new TargetCorrupt(`${name} has more than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
