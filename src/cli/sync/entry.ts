/**
 * What there is on one side of a sync, and what is to be done about it. Pure.
 *
 * Owns: the order of names, what a key may become as a file, the decision. Knows nothing of: disks, the service.
 * Rules: both sides come in the order of the UTF-8 bytes of their names, so that they can be laid side by side without holding
 * either; a key that would lead out of the folder, or that no folder can hold, is never a file.
 */
export interface Entry {
  /** With slashes, relative to both sides. */
  readonly path: string
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  /** It is there, and is neither read, written nor removed: a symbolic link, a device. */
  readonly isLeftAlone?: boolean
}

export interface Pair {
  readonly path: string
  /** Null: not there. */
  readonly source: Entry | null
  readonly target: Entry | null
}

export type Step = 'copy' | 'remove' | 'keep' | 'compare'

export interface Rule {
  /** What only the target has goes. */
  readonly removes: boolean
  /** Of the same size: look at the bytes, not at the times. */
  readonly comparesBytes: boolean
}

export function stepFor({ source, target }: Pair, { removes, comparesBytes }: Rule): Step {
  if (source === null) return removes && target?.isLeftAlone !== true ? 'remove' : 'keep'
  if (source.isLeftAlone === true || target?.isLeftAlone === true) return 'keep'
  if (target === null || source.size !== target.size) return 'copy'
  if (comparesBytes) return 'compare'
  return source.modifiedAt > target.modifiedAt ? 'copy' : 'keep'
}

export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** The names of both sides, each once. Throws when a side is out of order, which would make what is there look gone. */
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

/** Whether a file of this path lies in the folder, and is the only one with this path. */
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

/** A key that other programs put in place of an empty folder. */
export const isFolderMark = ({ path, size }: Entry): boolean =>
  size === 0 && (path === '' || path.endsWith('/'))
