/**
 * Writes rows to the files of the spool, many in one flush.
 *
 * Owns: pending rows, the order write -> flush -> resolve waiters, the start of a new file. Knows nothing of: the content of rows,
 * where they go. Rules: a row is durable FLUSH_AFTER_MS plus one flush after it was appended, sooner if a caller waits; row numbers
 * ascend over the files of one process and are never reused; a write to a full disk is retried; after any other failure nothing
 * more is written, because the contents of the disk are uncertain.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Condition } from '../../cluster/index.ts'
import type { SpoolFile, SpoolFiles } from './spool-files.ts'
import { decodeHead, encodeGroup, encodeHead } from './spool-format.ts'

const ID_BYTES = 16
/** Together with the flush this stays below 100 ms. */
const FLUSH_AFTER_MS = 75
const RETRY_MS = 1000
/** A group is read, packed and proposed as a whole. */
export const GROUP_BYTES_MAX = 256 * 1024
/** At this size a new file starts, so that the old one can be removed. */
const FILE_BYTES = 4 * 1024 * 1024
const ORDINAL_DIGITS = 8
const FULL_DISK: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])
const FILE_NAME = /^(\d{8})\.spool$/

export const spoolFileName = (ordinal: number): string =>
  `${String(ordinal).padStart(ORDINAL_DIGITS, '0')}.spool`

/** Null: not the name of a spool file. */
export function ordinalOf(name: string): number | null {
  const digits = FILE_NAME.exec(name)?.[1]
  return digits === undefined ? null : Number(digits)
}

/** A file of this process. `bytes`: the number of durable bytes. */
export interface WrittenFile {
  readonly path: string
  bytes: number
  isFinished: boolean
}

export interface SpoolWriterParts {
  readonly dir: string
  readonly files: SpoolFiles
  /** Ordinal of the first file; higher than those of all earlier files. */
  readonly ordinal: number
  /** Called once, if rows that a caller relies on may have been lost. */
  readonly onFatal: (error: Error) => void
  readonly later?: (work: () => void, ms: number) => void
}

interface OpenFile {
  readonly file: SpoolFile
  readonly entry: WrittenFile
  /** Its name is durable, and it is listed in `written`. */
  isNamed: boolean
}

interface Waiter {
  readonly count: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

const soon = (work: () => void, ms: number): void => void setTimeout(work, ms).unref()

export class SpoolWriter {
  readonly #parts: SpoolWriterParts
  readonly #head = encodeHead(randomBytes(ID_BYTES))
  readonly #seed: number
  readonly written: WrittenFile[] = []
  #open: OpenFile | null = null
  #ordinal: number
  #pending: string[] = []
  #pendingBytes = 0
  /** Number of all appended rows, and of durable ones. */
  #appended = 0
  #durable = 0
  #waiters: Waiter[] = []
  #isTimed = false
  #flushing: Promise<void> | null = null
  #isStalled = false
  #failure: Error | null = null

  constructor(parts: SpoolWriterParts) {
    this.#parts = parts
    this.#ordinal = parts.ordinal
    const head = decodeHead(this.#head)
    assert(head !== null, 'a head that was just made can be read')
    this.#seed = head.seed
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  get appended(): number {
    return this.#appended
  }

  /** The last write failed because the disk is full. */
  get isStalled(): boolean {
    return this.#isStalled
  }

  get failure(): Error | null {
    return this.#failure
  }

  append(row: string): void {
    this.#pending.push(row)
    this.#pendingBytes += row.length
    this.#appended++
    if (this.#pendingBytes >= GROUP_BYTES_MAX) this.#flush()
    else this.#flushAfter(FLUSH_AFTER_MS)
  }

  /** Resolves when everything appended so far is durable. Throws Condition. */
  durable(): Promise<void> {
    if (this.#failure !== null) return Promise.reject(cannotWrite(this.#failure))
    if (this.#durable === this.#appended) return Promise.resolve()
    return new Promise((resolve, reject) => {
      this.#waiters.push({ count: this.#appended, resolve, reject })
      this.#flush()
    })
  }

  /** Call it after the last `append`. */
  async close(): Promise<void> {
    await this.durable().catch(() => undefined)
    await this.#open?.file.close()
    this.#open = null
  }

  #flushAfter(ms: number): void {
    if (this.#isTimed) return
    this.#isTimed = true
    const { later = soon } = this.#parts
    later(() => {
      this.#isTimed = false
      this.#flush()
    }, ms)
  }

  #flush(): void {
    if (this.#flushing !== null || this.#failure !== null) return
    this.#flushing = this.#writePending().finally(() => {
      this.#flushing = null
    })
  }

  /** Never rejects. */
  async #writePending(): Promise<void> {
    while (this.#pending.length > 0 && this.#failure === null) {
      const rows = this.#pending
      try {
        await this.#write(rows.slice())
      } catch (error) {
        return this.#failed(error as Error)
      }
    }
  }

  async #write(rows: readonly string[]): Promise<void> {
    const open = await this.#place()
    const { file, entry } = open
    const groups = groupsOf(rows, this.#durable, this.#seed)
    const bytes = Buffer.concat(entry.bytes === 0 ? [this.#head, ...groups] : groups)
    await file.write(bytes, entry.bytes)
    await flushed(() => file.sync())
    if (!open.isNamed) {
      await flushed(() => this.#parts.files.syncDir(this.#parts.dir))
      open.isNamed = true
      this.written.push(entry)
    }
    entry.bytes += bytes.length
    this.#isStalled = false
    this.#durable += rows.length
    this.#pending = this.#pending.slice(rows.length)
    this.#pendingBytes = this.#pending.reduce((sum, { length }) => sum + length, 0)
    const served = this.#waiters.filter(({ count }) => count <= this.#durable)
    this.#waiters = this.#waiters.filter(({ count }) => count > this.#durable)
    for (const { resolve } of served) resolve()
  }

  async #place(): Promise<OpenFile> {
    const before = this.#open
    if (before !== null && before.entry.bytes < FILE_BYTES) return before
    const path = join(this.#parts.dir, spoolFileName(this.#ordinal))
    const file = await this.#parts.files.create(path)
    this.#ordinal++
    this.#open = { file, entry: { path, bytes: 0, isFinished: false }, isNamed: false }
    if (before !== null) {
      before.entry.isFinished = true
      await before.file.close()
    }
    return this.#open
  }

  #failed(error: Error): void {
    const isFull = FULL_DISK.has((error as NodeJS.ErrnoException).code ?? '')
    if (isFull) {
      this.#isStalled = true
      this.#flushAfter(RETRY_MS)
    } else this.#failure = error
    const waiters = this.#waiters
    this.#waiters = []
    for (const { reject } of waiters) reject(cannotWrite(error))
    if (!isFull) this.#parts.onFatal(error)
  }
}

/** It is unknown which bytes a failed flush has lost, so it is never treated as a full disk. */
async function flushed(flush: () => Promise<void>): Promise<void> {
  try {
    await flush()
  } catch (cause) {
    throw new Error('Cannot flush the spool of the audit log', { cause })
  }
}

function cannotWrite(cause: Error): Condition {
  return new Condition('disk_full', 'This node cannot write its audit log; try another node', { cause })
}

/** Groups of at most GROUP_BYTES_MAX characters, or of one longer row. */
function groupsOf(rows: readonly string[], first: number, seed: number): readonly Buffer[] {
  const groups: Buffer[] = []
  let begin = 0
  let size = 0
  for (const [n, row] of rows.entries()) {
    if (n > begin && size + row.length > GROUP_BYTES_MAX) {
      groups.push(encodeGroup(rows.slice(begin, n), first + begin, seed))
      begin = n
      size = 0
    }
    size += row.length
  }
  groups.push(encodeGroup(rows.slice(begin), first + begin, seed))
  return groups
}
