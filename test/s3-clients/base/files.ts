/**
 * Files that clients upload, and digests of what they bring back.
 *
 * Owns: the names that are hard to spell in a URL. Rules: the bytes follow from the name of a file, so that a failure can be repeated; large files are
 * written and read in pieces.
 */
import { createCipheriv, createHash } from 'node:crypto'
import { createReadStream, createWriteStream, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface LocalFile {
  readonly path: string
  readonly bytes: number
  /** Lower-case hex. */
  readonly sha256: string
}

/** SHA-256 in hex, by key or path. */
export type Digests = ReadonlyMap<string, string>

const PIECE_BYTES = 1024 * 1024
const SMALL_BYTES_MAX = 4000

export const ODD_NAMES = [
  'plain.txt',
  'with space.txt',
  'plus+plus.txt',
  'percent%20name.txt',
  'größe-日本.txt',
  "brackets()[]{}!*'~.txt",
  'equals=and&amp;.txt',
  'deep/er/file.txt',
  'empty.bin',
] as const

/** Bytes that do not compress and follow from the name. */
export function* contentOf(name: string, bytes: number): Generator<Buffer> {
  const key = createHash('sha256').update(name).digest()
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  for (let left = bytes; left > 0; left -= PIECE_BYTES)
    yield cipher.update(Buffer.alloc(Math.min(left, PIECE_BYTES)))
}

export const bytesOf = (name: string, bytes: number): Buffer => Buffer.concat([...contentOf(name, bytes)])

export async function writeLocal(path: string, bytes: number, name: string = path): Promise<LocalFile> {
  mkdirSync(dirname(path), { recursive: true })
  const hash = createHash('sha256')
  const pieces = function* (): Generator<Buffer> {
    for (const piece of contentOf(name, bytes)) {
      hash.update(piece)
      yield piece
    }
  }
  await pipeline(Readable.from(pieces()), createWriteStream(path))
  return { path, bytes, sha256: hash.digest('hex') }
}

/** A folder with the unusual names and `many` small files. Resolves with digests by relative path. */
export async function writeTree(folder: string, many: number): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  const counted = Array.from({ length: many }, (_, n) => `many/${n % 10}/f${n}.bin`)
  for (const name of [...ODD_NAMES, ...counted]) {
    const bytes = name === 'empty.bin' ? 0 : 1 + ((name.length * 977) % SMALL_BYTES_MAX)
    digests.set(name, (await writeLocal(join(folder, name), bytes, name)).sha256)
  }
  return digests
}

export async function digestOf(source: AsyncIterable<Uint8Array | string>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of source) hash.update(piece)
  return hash.digest('hex')
}

export const digestOfBytes = (...pieces: readonly Uint8Array[]): string => {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

export const digestOfFile = (path: string): Promise<string> => digestOf(createReadStream(path))

/** Digests of all files below a folder, by relative path. */
export async function digestsOf(folder: string): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(folder, name)
    if (statSync(path).isFile()) digests.set(relative(folder, path), await digestOfFile(path))
  }
  return digests
}

/** Sorted and with a prefix, for a comparison that names what differs. */
export const listed = (digests: Digests, prefix = ''): Record<string, string> =>
  Object.fromEntries(
    [...digests].map(([key, digest]) => [prefix + key, digest] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
  )
