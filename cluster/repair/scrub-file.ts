/**
 * The progress of this node's scrub: `scrub.json` in the data directory.
 *
 * Layout: two lines, the record as JSON and the SHA-256 of that line in hex. Documented in docs/formats/scrub.md.
 * Rules: replaced as a whole (temporary file, fsync, rename, fsync of the directory). A file that is absent or damaged in any way
 * counts as absent: a scrub that starts again only reads more, whereas one that starts at a wrong position would skip copies.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parseFileName, fileNameOf } from '../blobs/base/blob-name.ts'
import { type FileOps, systemFileOps } from '../base/file-ops.ts'
import type { BlobName } from '../base/types.ts'
import { replaceFile } from '../base/replace-file.ts'

export interface ScrubMark {
  /** When the current pass started, or the last one if `isOver`. ms since 1970, like the next. */
  readonly startedAt: number
  /** When a pass last completed. */
  readonly lastFullAt: number | null
  /** All copies up to this name were checked in this pass; null: none yet. */
  readonly after: BlobName | null
  readonly isOver: boolean
  /** The token with which this pass was requested; null: it was not requested, it was due. */
  readonly demand: string | null
  /** The counts of this pass, up to `after`. */
  readonly passed: PassCounts
  /** The last token whose pass completed, and the counts of that pass. */
  readonly answered: (PassCounts & { readonly word: string }) | null
}

export interface PassCounts {
  readonly copies: number
  readonly bytes: number
  readonly lost: number
}

export const NOTHING_PASSED: PassCounts = { copies: 0, bytes: 0, lost: 0 }
const FORMAT = 1

export class ScrubFile {
  readonly #path: string
  readonly #ops: FileOps

  constructor(path: string, ops: FileOps = systemFileOps) {
    this.#path = path
    this.#ops = ops
  }

  async read(): Promise<ScrubMark | null> {
    try {
      return parse(await readFile(this.#path, 'utf8'))
    } catch {
      return null
    }
  }

  /** Durable when it resolves. */
  write(mark: ScrubMark): Promise<void> {
    return replaceFile(this.#path, format(mark), this.#ops)
  }
}

function format(mark: ScrubMark): string {
  const after = mark.after === null ? null : fileNameOf(mark.after)
  const line = JSON.stringify({ format: FORMAT, ...mark, after })
  return `${line}\n${digestOf(line)}\n`
}

/** Throws for any text that `format` did not produce. */
function parse(text: string): ScrubMark {
  const [line = '', digest] = text.split('\n')
  if (digest !== digestOf(line)) throw new Error('The digest is not that of the record')
  const row = new Map<string, unknown>(Object.entries(JSON.parse(line) as object))
  if (row.get('format') !== FORMAT) throw new Error('The format is not known')
  const afterFile = row.get('after')
  const after = typeof afterFile === 'string' ? parseFileName(afterFile) : null
  if (afterFile !== null && after === null) throw new Error('The position is not a name')
  const lastFullAt = row.get('lastFullAt')
  return {
    startedAt: timeOf(row.get('startedAt')),
    lastFullAt: lastFullAt === null ? null : timeOf(lastFullAt),
    after,
    isOver: row.get('isOver') === true,
    ...demandOf(row),
  }
}

/** Absent in files of versions in which a pass could not be requested. */
function demandOf(row: ReadonlyMap<string, unknown>): Pick<ScrubMark, 'demand' | 'passed' | 'answered'> {
  const { demand, passed, answered } = Object.fromEntries(row) as Partial<ScrubMark>
  return { demand: demand ?? null, passed: passed ?? NOTHING_PASSED, answered: answered ?? null }
}

function timeOf(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new Error('A time is not a number')
}

function digestOf(line: string): string {
  return createHash('sha256').update(line).digest('hex')
}
