/**
 * What a batch of rows is to the LevelDB under a sealed database.
 *
 * Owns: when a page is divided or goes. Knows nothing of: when the batch is written.
 * Rules: a row is in one page, before and after every batch. A page that may be too large or empty is counted before it is written to; others are not read.
 */
import type { BatchOperation } from './separated-rows.ts'
import { Turns } from './turns.ts'
import { Page, PAGE_BYTES_MAX, PAGE_ROWS_MAX, type PageDirectory } from './page-directory.ts'
import { pageKey, type RawEntry, ROW_OVERHEAD, type SealedForm } from './sealed-rows.ts'

export interface PlannedBatch {
  readonly operations: readonly BatchOperation[]
  /** Null: no page was divided, and none goes. */
  readonly directory: PageDirectory | null
}

export interface PageWriterParts {
  readonly form: SealedForm
  readonly rowsOf: (page: Page) => Promise<readonly RawEntry[]>
  /** A number that no page has. */
  readonly nextPage: () => number
}

/** What happens to the rows of one page, by the key in LevelDB; null: it is removed. */
type PageDraft = Map<string, { readonly raw: Buffer; readonly row: BatchOperation }>

export class PageWriter {
  readonly #parts: PageWriterParts
  readonly #operations: BatchOperation[] = []
  readonly #changes = new Map<Page, readonly Page[]>()
  readonly #turns = new Turns()

  constructor(parts: PageWriterParts) {
    this.#parts = parts
  }

  /** Once. Throws StateDamagedError for a row of a page to be divided that does not open. */
  async plan(directory: PageDirectory, operations: readonly BatchOperation[]): Promise<PlannedBatch> {
    const drafts = new Map<Page, PageDraft>()
    for (const row of operations) {
      const page = directory.pageOf(row.key)
      const draft: PageDraft = drafts.get(page) ?? new Map()
      drafts.set(page, draft)
      const raw = this.#parts.form.rowKey(page.id, row.key)
      draft.set(raw.toString('latin1'), { raw, row })
    }
    for (const [page, draft] of drafts) {
      if (isDue(page, draft)) await this.#settle(page, draft)
      else await this.#take(draft)
    }
    if (this.#changes.size === 0) return { operations: this.#operations, directory: null }
    const next = directory.replaced(this.#changes)
    this.#operations.push({ type: 'put', ...this.#parts.form.generationEntry(next.generation) })
    return { operations: this.#operations, directory: next }
  }

  async #take(draft: PageDraft): Promise<void> {
    for (const { raw, row } of draft.values()) {
      this.#put(raw, row)
      if (this.#turns.isOver(1)) await this.#turns.end()
    }
  }

  /** Counts the page as it will be; divides it, or gives it up. */
  async #settle(page: Page, draft: PageDraft): Promise<void> {
    const stored = await this.#parts.rowsOf(page)
    const kept = stored.filter(({ key }) => !draft.has(key.toString('latin1')))
    const puts = [...draft.values()].flatMap(({ row }) => (row.type === 'put' ? [row] : []))
    const count = kept.length + puts.length
    const bytes =
      kept.reduce((sum, { value }) => sum + value.length, 0) + puts.reduce((sum, row) => sum + sizeOf(row), 0)
    if (count === 0 && page.first.length > 0) {
      for (const { key } of stored) this.#operations.push({ type: 'del', key })
      this.#operations.push({ type: 'del', key: pageKey(page.id) })
      this.#changes.set(page, [])
      return
    }
    if (count > PAGE_ROWS_MAX || (bytes > PAGE_BYTES_MAX && count > 1)) await this.#divide(page, kept, draft)
    else {
      await this.#take(draft)
      page.counted(count, bytes)
    }
  }

  async #divide(page: Page, kept: readonly RawEntry[], draft: PageDraft): Promise<void> {
    const { form } = this.#parts
    const written = [...draft.values()].flatMap(({ row }) =>
      row.type === 'put' ? [{ ...row, raw: null, bytes: sizeOf(row) }] : [],
    )
    const stored = kept.map((entry) => ({
      ...form.openRow(entry),
      raw: entry.key,
      bytes: entry.value.length,
    }))
    const rows = [...stored, ...written].toSorted((one, other) => Buffer.compare(one.key, other.key))
    const [first = [], ...others] = pieces(rows)
    // What is removed, or moved out of this page.
    for (const { raw, row } of draft.values())
      if (row.type === 'del') this.#operations.push({ type: 'del', key: raw })
    for (const { raw, key, value } of first) if (raw === null) this.#seal(page.id, key, value)
    const pages = others.map((piece) => {
      const id = this.#parts.nextPage()
      const begin = Buffer.from((piece[0] as { readonly key: Buffer }).key)
      for (const { raw, key, value } of piece) {
        // A row that is written may be stored here as well: its former place is named by its key.
        this.#operations.push({ type: 'del', key: raw ?? form.rowKey(page.id, key) })
        this.#seal(id, key, value)
      }
      this.#operations.push({ type: 'put', ...form.pageEntry(id, begin) })
      return new Page(id, begin).counted(piece.length, bytesOf(piece))
    })
    this.#changes.set(page, [page.counted(first.length, bytesOf(first)), ...pages])
    if (this.#turns.isOver(rows.length)) await this.#turns.end()
  }

  #seal(page: number, key: Buffer, value: Buffer): void {
    this.#put(this.#parts.form.rowKey(page, key), { type: 'put', key, value })
  }

  #put(raw: Buffer, row: BatchOperation): void {
    if (row.type === 'del') this.#operations.push({ type: 'del', key: raw })
    else {
      const value = this.#parts.form.sealRow(raw, row.key, row.value)
      this.#operations.push({ type: 'put', key: raw, value })
    }
  }
}

function isDue(page: Page, draft: PageDraft): boolean {
  let [puts, bytes] = [0, 0]
  for (const { row } of draft.values()) {
    if (row.type === 'del') continue
    puts++
    bytes += sizeOf(row)
  }
  return page.changes(puts, bytes, draft.size - puts)
}

function sizeOf({ key, value }: { readonly key: Buffer; readonly value: Buffer }): number {
  return ROW_OVERHEAD + key.length + value.length
}

interface Sized {
  readonly bytes: number
}

function bytesOf(rows: readonly Sized[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Each half full, so that the next rows do not divide it again. */
function pieces<R extends Sized>(rows: readonly R[]): readonly (readonly R[])[] {
  const all: R[][] = []
  let piece: R[] = []
  let bytes = 0
  for (const row of rows) {
    if (piece.length > 0 && (piece.length >= PAGE_ROWS_MAX / 2 || bytes + row.bytes > PAGE_BYTES_MAX / 2)) {
      all.push(piece)
      piece = []
      bytes = 0
    }
    piece.push(row)
    bytes += row.bytes
  }
  return piece.length > 0 ? [...all, piece] : all
}
