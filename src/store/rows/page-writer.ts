/**
 * What a batch of rows is to the LevelDB under a sealed database.
 *
 * Owns: when a page is divided or goes. Knows nothing of: when the batch is written.
 * Rules: a row is in one page, before and after every batch. Only a page that is divided, or whose rows are not known any more, is read.
 */
import { Page, PAGE_BYTES_MAX, PAGE_ROWS_MAX, type PageDirectory } from './page-directory.ts'
import { PageCount, type PageCounts } from './page-counts.ts'
import { nameIn, pageKey, type RawEntry, ROW_OVERHEAD, rowKey, type SealedForm } from './sealed-rows.ts'
import type { BatchOperation } from './separated-rows.ts'
import { Turns } from './turns.ts'

export interface PlannedBatch {
  readonly operations: readonly BatchOperation[]
  /** Null: no page was divided, and none goes. */
  readonly directory: PageDirectory | null
}

export interface PageWriterParts {
  readonly form: SealedForm
  readonly counts: PageCounts
  readonly rowsOf: (page: Page) => Promise<readonly RawEntry[]>
  /** A number that no page has. */
  readonly nextPage: () => number
}

/** What happens to the rows of one page, by their names: the last operation of each. */
type PageDraft = Map<string, BatchOperation>

interface PlacedRow {
  readonly name: string
  readonly key: Buffer
  readonly value: Buffer
  /** It is in the page already, as it is. */
  readonly isStored: boolean
}

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
    const { form } = this.#parts
    for (const [page, draft] of this.#draftsOf(directory, operations)) {
      const count = await this.#counted(page, draft)
      if (count.rows === 0 && page.first.length > 0) this.#giveUp(page, draft)
      else if (count.rows > PAGE_ROWS_MAX || (count.bytes > PAGE_BYTES_MAX && count.rows > 1))
        await this.#divide(page, draft)
      else await this.#take(page, draft)
    }
    if (this.#changes.size === 0) return { operations: this.#operations, directory: null }
    const next = directory.replaced(this.#changes)
    this.#operations.push({ type: 'put', ...form.generationEntry(next.generation) })
    return { operations: this.#operations, directory: next }
  }

  #draftsOf(directory: PageDirectory, operations: readonly BatchOperation[]): Map<Page, PageDraft> {
    const drafts = new Map<Page, PageDraft>()
    for (const row of operations) {
      const page = directory.pageOf(row.key)
      const draft: PageDraft = drafts.get(page) ?? new Map()
      drafts.set(page, draft)
      draft.set(this.#parts.form.nameOf(row.key), row)
    }
    return drafts
  }

  /** As the page will be. */
  async #counted(page: Page, draft: PageDraft): Promise<PageCount> {
    const { counts, rowsOf } = this.#parts
    let count = counts.get(page)
    if (count === undefined) {
      count = new PageCount()
      for (const { key, value } of await rowsOf(page)) count.put(nameIn(key), value.length)
    }
    for (const [name, row] of draft) {
      if (row.type === 'put') count.put(name, sizeOf(row))
      else count.remove(name)
    }
    counts.keep(page, count)
    return count
  }

  async #take(page: Page, draft: PageDraft): Promise<void> {
    for (const [name, row] of draft) {
      if (row.type === 'put') this.#put(page.id, { name, ...row })
      else this.#remove(page.id, name)
      if (this.#turns.isOver(1)) await this.#turns.end()
    }
  }

  /** Every row that the page had is removed by this batch. */
  #giveUp(page: Page, draft: PageDraft): void {
    for (const name of draft.keys()) this.#remove(page.id, name)
    this.#operations.push({ type: 'del', key: pageKey(page.id) })
    this.#changes.set(page, [])
    this.#parts.counts.forget(page)
  }

  async #divide(page: Page, draft: PageDraft): Promise<void> {
    const [first = [], ...others] = pieces(await this.#rowsAfter(page, draft))
    for (const [name, { type }] of draft) if (type === 'del') this.#remove(page.id, name)
    for (const row of first) if (!row.isStored) this.#put(page.id, row)
    this.#parts.counts.keep(page, countOf(first))
    const pages = others.map((piece) => {
      const made = new Page(this.#parts.nextPage(), Buffer.from(piece[0]?.key ?? page.first))
      for (const row of piece) {
        this.#remove(page.id, row.name)
        this.#put(made.id, row)
      }
      this.#operations.push({ type: 'put', ...this.#parts.form.pageEntry(made.id, made.first) })
      this.#parts.counts.keep(made, countOf(piece))
      return made
    })
    this.#changes.set(page, [page, ...pages])
    if (this.#turns.isOver(draft.size)) await this.#turns.end()
  }

  /** In the order of their keys. */
  async #rowsAfter(page: Page, draft: PageDraft): Promise<readonly PlacedRow[]> {
    const rows: PlacedRow[] = []
    for (const entry of await this.#parts.rowsOf(page)) {
      const name = nameIn(entry.key)
      if (!draft.has(name)) rows.push({ name, ...this.#parts.form.openRow(entry), isStored: true })
    }
    for (const [name, row] of draft)
      if (row.type === 'put') rows.push({ name, key: row.key, value: row.value, isStored: false })
    return rows.toSorted((one, other) => Buffer.compare(one.key, other.key))
  }

  #put(page: number, { name, key, value }: Omit<PlacedRow, 'isStored'>): void {
    const raw = rowKey(page, name)
    this.#operations.push({ type: 'put', key: raw, value: this.#parts.form.sealRow(raw, key, value) })
  }

  #remove(page: number, name: string): void {
    this.#operations.push({ type: 'del', key: rowKey(page, name) })
  }
}

function sizeOf({ key, value }: { readonly key: Buffer; readonly value: Buffer }): number {
  return ROW_OVERHEAD + key.length + value.length
}

function countOf(rows: readonly PlacedRow[]): PageCount {
  const count = new PageCount()
  for (const row of rows) count.put(row.name, sizeOf(row))
  return count
}

/** Each half full, so that the next rows do not divide it again. */
function pieces(rows: readonly PlacedRow[]): readonly (readonly PlacedRow[])[] {
  const all: PlacedRow[][] = []
  let piece: PlacedRow[] = []
  let bytes = 0
  for (const row of rows) {
    const isFull = piece.length >= PAGE_ROWS_MAX / 2 || bytes + sizeOf(row) > PAGE_BYTES_MAX / 2
    if (piece.length > 0 && isFull) {
      all.push(piece)
      piece = []
      bytes = 0
    }
    piece.push(row)
    bytes += sizeOf(row)
  }
  return piece.length > 0 ? [...all, piece] : all
}
