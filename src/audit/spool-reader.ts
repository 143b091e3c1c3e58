/**
 * Reads the spool from its oldest row on, and removes files that the cluster has taken over.
 *
 * Owns: the position up to which rows were taken over, the distinction of a torn end from damage. Knows nothing of: where rows go.
 * Rules: only durable rows are returned; a file is removed when its last row was taken over and it is finished. The position is
 * not stored: after a restart rows are returned again, and the replicated state knows which ones it has.
 */
import { join } from 'node:path'
import type { Logger } from '../../cluster/index.ts'
import { AUDIT_ROWS_MAX } from '../state-machine/audit/records.ts'
import type { SpoolFiles } from './spool-files.ts'
import { decodeGroup, decodeHead, HEAD_BYTES, nextGroup, type SpoolGroup } from './spool-format.ts'
import { GROUP_BYTES_MAX, ordinalOf, spoolFileName, type WrittenFile } from './spool-writer.ts'

/** Enough for at least one whole group, except with rows of unusual size. */
const READ_BYTES = 2 * GROUP_BYTES_MAX

export interface SpoolBatch {
  readonly spool: string
  /** Number of the first row. */
  readonly first: number
  readonly rows: readonly string[]
  readonly place: { readonly path: string; readonly end: number }
}

interface ReadFile {
  readonly path: string
  /** Durable bytes. */
  readonly bytes: number
  readonly isFinished: boolean
}

interface Cursor {
  readonly path: string
  readonly spool: string
  readonly seed: number
  offset: number
  /** Number of the next row; null: any. */
  expected: number | null
}

export interface SpoolReaderParts {
  readonly dir: string
  readonly files: SpoolFiles
  /** Files of earlier processes, oldest first. */
  readonly left: readonly ReadFile[]
  /** Files of this process. */
  readonly written: WrittenFile[]
  readonly logger: Logger
}

export class SpoolReader {
  readonly #parts: SpoolReaderParts
  #left: readonly ReadFile[]
  #cursor: Cursor | null = null
  #rowsLost = 0

  constructor(parts: SpoolReaderParts) {
    this.#parts = parts
    this.#left = parts.left
  }

  /** Rows that were written and could not be read back. */
  get rowsLost(): number {
    return this.#rowsLost
  }

  /** Bytes that were not taken over yet. */
  get bytes(): number {
    const all = this.#files().reduce((sum, { bytes }) => sum + bytes, 0)
    return Math.max(0, all - (this.#cursor?.offset ?? 0))
  }

  /** The oldest rows that were not taken over; null: there are none. Returns the same rows until `taken` is called. */
  async oldest(): Promise<SpoolBatch | null> {
    for (;;) {
      const [file] = this.#files()
      if (file === undefined) return null
      const cursor = await this.#cursorOf(file)
      const group = cursor === null ? null : await this.#groupAt(cursor, file)
      if (cursor !== null && group !== null) {
        const { first, text, end } = group
        return { spool: cursor.spool, first, rows: text.split('\n'), place: { path: file.path, end } }
      }
      if (!file.isFinished) return null
      await this.#remove(file)
    }
  }

  async taken({ first, rows, place: { path, end } }: SpoolBatch): Promise<void> {
    if (this.#cursor?.path !== path) return
    this.#cursor.offset = end
    this.#cursor.expected = first + rows.length
    const [file] = this.#files()
    if (file?.path === path && file.isFinished && end >= file.bytes) await this.#remove(file)
  }

  #files(): readonly ReadFile[] {
    return [...this.#left, ...this.#parts.written]
  }

  /** Null: the file has no valid head, so its contents cannot be read. */
  async #cursorOf(file: ReadFile): Promise<Cursor | null> {
    const { path } = file
    if (this.#cursor?.path === path) return this.#cursor
    const head = decodeHead(await this.#parts.files.read(path, 0, HEAD_BYTES))
    if (head === null) {
      if (file.bytes > HEAD_BYTES)
        this.#parts.logger.error({ file: path }, 'audit spool has no head, its rows are lost')
      return null
    }
    this.#cursor = { path, ...head, offset: HEAD_BYTES, expected: null }
    return this.#cursor
  }

  async #groupAt(cursor: Cursor, { path, bytes, isFinished }: ReadFile): Promise<SpoolGroup | null> {
    const { offset, seed } = cursor
    if (offset >= bytes) return null
    const { files, logger } = this.#parts
    const left = bytes - offset
    const piece = await files.read(path, offset, Math.min(left, READ_BYTES))
    const next = decodeGroup(piece, 0, seed)
    if (next !== null) return placed(gathered(piece, next, seed), offset)
    const rest = await files.read(path, offset, left)
    const found = decodeGroup(rest, 0, seed) ?? nextGroup(rest, 0, seed)
    if (found === null) {
      if (isFinished) logger.warn({ file: path, bytes: left }, 'audit spool ends in bytes that are not rows')
      return null
    }
    this.#countLost(cursor, found)
    return placed(found, offset)
  }

  /** Counts damaged rows that were durable: groups are written one after the other, so a later group proves the earlier ones durable. */
  #countLost({ path, expected }: Cursor, { first }: SpoolGroup): void {
    // At least one, if the number is unknown.
    const rows = expected === null ? 1 : first - expected
    if (rows <= 0) return
    this.#rowsLost += rows
    this.#parts.logger.error({ file: path, rows }, 'audit spool is damaged, rows are lost')
  }

  async #remove({ path }: ReadFile): Promise<void> {
    await this.#parts.files.unlink(path)
    await this.#parts.files.syncDir(this.#parts.dir)
    this.#left = this.#left.filter((file) => file.path !== path)
    const { written } = this.#parts
    if (written[0]?.path === path) written.shift()
    if (this.#cursor?.path === path) this.#cursor = null
  }
}

/** Joins the groups that follow in the same piece, up to the size of one batch, to need fewer log entries. */
function gathered(piece: Buffer, group: SpoolGroup, seed: number): SpoolGroup {
  const texts = [group.text]
  let { count, end } = group
  let size = group.text.length
  for (;;) {
    const next = decodeGroup(piece, end, seed)
    if (next === null || next.first !== group.first + count) break
    size += next.text.length
    if (size > GROUP_BYTES_MAX || count + next.count > AUDIT_ROWS_MAX) break
    texts.push(next.text)
    count += next.count
    end = next.end
  }
  return { first: group.first, count, text: texts.join('\n'), end }
}

function placed(group: SpoolGroup, offset: number): SpoolGroup {
  return { ...group, end: group.end + offset }
}

/** Files that earlier processes have left, oldest first. */
export async function filesLeft(
  files: SpoolFiles,
  dir: string,
): Promise<readonly (ReadFile & { readonly ordinal: number })[]> {
  const ordinals = (await files.list(dir)).flatMap((name) => ordinalOf(name) ?? [])
  const left: (ReadFile & { readonly ordinal: number })[] = []
  for (const ordinal of ordinals.toSorted((a, b) => a - b)) {
    const path = join(dir, spoolFileName(ordinal))
    left.push({ path, ordinal, bytes: await files.size(path), isFinished: true })
  }
  return left
}
