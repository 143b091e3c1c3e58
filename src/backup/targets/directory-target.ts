/**
 * A backup target that is a directory of this machine: a disk or a mounted file system.
 *
 * Owns: the order of writes, what each errno means. Knows nothing of: what is stored.
 * Rules: a file is written beside its place, flushed, renamed, and its directory flushed, so a name has all of its bytes or is not there;
 * nothing but checked names becomes part of a path; symbolic links inside the directory are not followed by a write or a list.
 */
import { randomUUID } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncDirectory } from '../../../cluster/index.ts'
import {
  type BackupTarget,
  checkName,
  TargetCorrupt,
  type TargetEntry,
  TargetError,
  TargetMissing,
  TargetRefused,
  type TargetRange,
  TargetUnreachable,
} from './target.ts'

/** Writes that were cut short lie here; no name begins with a dot. */
const TEMPORARY = '.tmp'
const READ_BYTES = 256 * 1024

const REFUSED = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EFBIG', 'ENAMETOOLONG', 'ELOOP'])
const GONE = new Set(['ENOENT', 'ENOTDIR'])

export class DirectoryTarget implements BackupTarget {
  readonly description: string
  readonly #root: string
  readonly #mustExist: string

  /** `mustExist`: `root` or a folder above it; it is not made, so that a disk that is not mounted is not mistaken for an empty target. */
  constructor(root: string, mustExist: string = root) {
    this.#root = root
    this.#mustExist = mustExist
    this.description = `directory ${root}`
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array>, size: number): Promise<void> {
    const place = this.#placeOf(name)
    await this.#named(`write ${name}`, async () => {
      await this.#findRoot()
      const waiting = join(this.#root, TEMPORARY)
      await mkdir(waiting, { mode: 0o700, recursive: true })
      const temporary = join(waiting, randomUUID())
      try {
        await writeWhole(temporary, { name, bytes, size })
        await this.#makeParents(place)
        await rename(temporary, place)
      } catch (cause) {
        await rm(temporary, { force: true })
        throw cause
      }
      await syncDirectory(dirname(place))
    })
  }

  async *get(name: string, range?: TargetRange): AsyncIterable<Uint8Array> {
    const size = await this.head(name)
    if (size === undefined) throw new TargetMissing(`${name} is not in ${this.description}`)
    const { offset, length } = range ?? { offset: 0, length: size }
    let read = 0
    try {
      if (length > 0) {
        const end = offset + length - 1
        const options = { start: offset, end, highWaterMark: READ_BYTES }
        for await (const piece of createReadStream(this.#placeOf(name), options) as AsyncIterable<Buffer>) {
          read += piece.length
          yield piece
        }
      }
    } catch (cause) {
      throw this.#errorOf(cause, `read ${name}`)
    }
    if (read !== length)
      throw new TargetCorrupt(`${name} in ${this.description} ended after ${read} of ${length} bytes`)
  }

  async head(name: string): Promise<number | undefined> {
    const place = this.#placeOf(name)
    return this.#named(`look at ${name}`, async () => {
      const found = await lstat(place).catch(absent)
      return found?.isFile() === true ? found.size : undefined
    })
  }

  async *list(prefix: string): AsyncIterable<TargetEntry> {
    await this.#named('list', () => this.#findRoot())
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    if (folder !== '') checkName(folder.slice(0, -1))
    yield* this.#below(folder, prefix)
  }

  async remove(name: string): Promise<void> {
    const place = this.#placeOf(name)
    await this.#named(`remove ${name}`, async () => {
      await unlink(place).catch(absent)
      const parent = dirname(place)
      // Folders that are empty go as well; one that is filled meanwhile stays.
      if (parent !== this.#root) await rmdir(parent).catch(() => undefined)
    })
  }

  async close(): Promise<void> {}

  /** `folder` is empty or ends in "/". */
  async *#below(folder: string, prefix: string): AsyncIterable<TargetEntry> {
    const entries = await this.#named(`list ${folder}`, async () => {
      const found = await readdir(join(this.#root, folder), { withFileTypes: true }).catch(absent)
      return (found ?? []).filter((entry) => !entry.name.startsWith('.')).map(asListed)
    })
    // "a-b" stands before "a/b": names are ordered as a whole.
    for (const { listed, isFolder } of entries.toSorted((one, other) =>
      one.listed < other.listed ? -1 : 1,
    )) {
      const name = folder + listed
      if (!name.startsWith(prefix) && !prefix.startsWith(name)) continue
      if (isFolder) yield* this.#below(name, prefix)
      else {
        const size = await this.head(name)
        if (size !== undefined) yield { name, size }
      }
    }
  }

  async #findRoot(): Promise<void> {
    const found = await lstat(this.#mustExist).catch(absent)
    if (found?.isDirectory() !== true && found?.isSymbolicLink() !== true)
      throw new TargetUnreachable(`Directory ${this.#mustExist} is not there: mount it, or make it`)
  }

  async #makeParents(place: string): Promise<void> {
    const made = await mkdir(dirname(place), { mode: 0o700, recursive: true })
    if (made === undefined) return
    for (let folder = dirname(place); folder !== dirname(made); folder = dirname(folder))
      await syncDirectory(dirname(folder))
  }

  #placeOf(name: string): string {
    checkName(name)
    return join(this.#root, name)
  }

  async #named<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw this.#errorOf(cause, what)
    }
  }

  #errorOf(cause: unknown, what: string): unknown {
    if (cause instanceof TargetError || !(cause instanceof Error) || !('syscall' in cause)) return cause
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    const message = `Cannot ${what} in ${this.description} (${code})`
    if (GONE.has(code)) return new TargetMissing(message, { cause })
    return REFUSED.has(code)
      ? new TargetRefused(`${message}: see to its space and its permissions`, { cause })
      : new TargetUnreachable(message, { cause })
  }
}

function absent(cause: unknown): undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  throw cause
}

function asListed(entry: Dirent): { readonly listed: string; readonly isFolder: boolean } {
  const isFolder = entry.isDirectory()
  return { listed: isFolder ? `${entry.name}/` : entry.name, isFolder }
}

async function writeWhole(
  path: string,
  {
    name,
    bytes,
    size,
  }: { readonly name: string; readonly bytes: AsyncIterable<Uint8Array>; readonly size: number },
): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    let written = 0
    for await (const piece of bytes) {
      written += piece.length
      if (written > size) break
      await file.writeFile(piece)
    }
    if (written !== size)
      throw new TargetRefused(
        `Cannot write ${name}: its bytes are ${written > size ? 'more' : 'fewer'} than ${size}`,
      )
    await file.datasync()
  } finally {
    await file.close()
  }
}
