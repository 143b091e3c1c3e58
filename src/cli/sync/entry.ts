/**
 * The entries of both sides of a sync, and the decision about each pair. Pure.
 *
 * Owns: the order of names, which keys can be files, the decision. Knows nothing of: disks, the service.
 * Rules: both sides are in the order of the UTF-8 bytes of their names, so that they can be merged without holding either in memory. A key
 * that would lead out of the folder, or that a folder cannot contain, never becomes a file.
 */
import { isSameTime } from '../objects/file-time.ts'

export interface Entry {
  /** With slashes, relative to both sides. */
  readonly path: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  /** Of an object. */
  readonly etag?: string
  /** Of an object: the time of the file that was stored, null if it keeps none. Absent: the listing does not say. */
  readonly fileTime?: number | null
  /** It exists and is neither read, written nor removed: a symbolic link, a device. */
  readonly isLeftAlone?: boolean
}

export interface Pair {
  readonly path: string
  /** Null: it does not exist. */
  readonly source: Entry | null
  readonly target: Entry | null
}

/** `compare`: by bytes; `ask`: by the time that is kept with the object. */
export type Step = 'copy' | 'remove' | 'keep' | 'compare' | 'ask'

export interface Rule {
  /** Entries that exist only at the target are removed. */
  readonly removes: boolean
  /** Compare the bytes, not the times, of entries of the same size. */
  readonly comparesBytes: boolean
  /** Times of files are kept with their objects, so what looks newer may be equal. */
  readonly keepsTimes?: boolean
}

export function stepFor(
  { source, target }: Pair,
  { removes, comparesBytes, keepsTimes = false }: Rule,
): Step {
  if (source === null) return removes && target?.isLeftAlone !== true ? 'remove' : 'keep'
  if (source.isLeftAlone === true || target?.isLeftAlone === true) return 'keep'
  if (target === null || source.size !== target.size) return 'copy'
  if (comparesBytes) return 'compare'
  if (source.modifiedAt <= target.modifiedAt) return 'keep'
  return keepsTimes ? stepByTime(source, target) : 'copy'
}

/** The source looks newer; one of both is an object, and the other the file. */
function stepByTime(source: Entry, target: Entry): Step {
  const [object, file] = source.fileTime === undefined ? [target, source] : [source, target]
  const { fileTime } = object
  if (fileTime === undefined) return 'ask'
  return fileTime !== null && isSameTime(fileTime, file.modifiedAt) ? 'keep' : 'copy'
}

export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** The names of both sides, each once. Throws if a side is out of order: an existing entry would look like a missing one. */
export async function* sideBySide(
  sources: AsyncIterable<Entry>,
  targets: AsyncIterable<Entry>,
): AsyncGenerator<Pair> {
  const left = inOrder(sources)
  const right = inOrder(targets)
  let [source, target] = [await left.next(), await right.next()]
  while (source.done !== true || target.done !== true) {
    const order =
      source.done === true
        ? 1
        : target.done === true
          ? -1
          : comparePaths(source.value.path, target.value.path)
    const here = order <= 0 && source.done !== true ? source.value : null
    const there = order >= 0 && target.done !== true ? target.value : null
    yield { path: (here ?? there)?.path ?? '', source: here, target: there }
    if (here !== null) source = await left.next()
    if (there !== null) target = await right.next()
  }
}

async function* inOrder(entries: AsyncIterable<Entry>): AsyncGenerator<Entry, undefined> {
  let before: string | null = null
  for await (const entry of entries) {
    if (before !== null && comparePaths(before, entry.path) >= 0)
      throw new Error(`A listing is out of order: '${entry.path}' after '${before}'`)
    before = entry.path
    yield entry
  }
  return undefined
}

const NAME_BYTES_MAX = 255

/** Whether a file with this path is inside the folder, and no other path names the same file. */
export function isFilePath(path: string): boolean {
  return path
    .split('/')
    .every(
      (name) =>
        name !== '' &&
        name !== '.' &&
        name !== '..' &&
        !name.includes('\0') &&
        Buffer.byteLength(name) <= NAME_BYTES_MAX,
    )
}

/** A key by which other programs represent an empty folder. */
export const isFolderMark = ({ path, size }: Entry): boolean =>
  size === 0 && (path === '' || path.endsWith('/'))
