/**
 * A state's LevelDB in which nothing can be read without the metadata key: neither keys nor values. docs/formats/sealed-metadata.md
 *
 * LevelDB orders rows by their keys, and a sealed key has no order. So rows lie in pages of neighbours: the key of a row in LevelDB is its page and 16 bytes
 * that stand for its name. A single row is found by its page, which the directory in memory knows; a walk opens page after page and orders the rows of each.
 *
 * Owns: that mapping under the interface that the state has to LevelDB. Knows nothing of: what rows mean.
 * Rules: a batch, and what it changes of pages, is one batch of LevelDB. While LevelDB writes a batch that moves rows, a read finds them in one of two
 * places; a snapshot names the directory of its moment by the generation that it holds. Batches are written one after the other.
 */
import type { MetadataCipher } from '../../../cluster/index.ts'
import {
  type Database,
  type DatabaseOptions,
  type DatabaseSnapshot,
  pinned,
  type RowBatch,
  type RowIterator,
  type RowWalkOptions,
  SizedLevel,
} from './row-database.ts'
import { type BatchOperation, SeparatedRows } from './separated-rows.ts'
import { ValueFiles } from '../values/value-files.ts'
import { Page, PageDirectory } from './page-directory.ts'
import { PageCounts } from './page-counts.ts'
import { PageWriter } from './page-writer.ts'
import { SealedIterator, type WalkedMoment } from './sealed-iterator.ts'
import {
  DIRECTORY_RANGE,
  GENERATION_KEY,
  type RawEntry,
  rowKey,
  rowsOfPage,
  SealedForm,
} from './sealed-rows.ts'

const FIRST_PAGE = 0
/** A page is read at once, unless a row of it is large. */
const READ_BYTES = 1024 * 1024

export class SealedDatabase implements Database {
  readonly rows: SeparatedRows
  readonly #level: SizedLevel
  readonly #form: SealedForm
  #directory: PageDirectory = PageDirectory.of([new Page(FIRST_PAGE, Buffer.alloc(0))], 0)
  /** In force once LevelDB has written the batch under way. */
  #pending: PageDirectory | null = null
  readonly #counts = new PageCounts()
  readonly #moments = new WeakMap<DatabaseSnapshot, PageDirectory>()
  #nextPage = FIRST_PAGE + 1
  /** The last batch. Never rejects. */
  #writing: Promise<unknown> = Promise.resolve()

  constructor(
    location: string,
    { create, separates, valueFileBytes }: DatabaseOptions,
    cipher: MetadataCipher,
  ) {
    this.#level = new SizedLevel(location, create)
    this.#form = new SealedForm(cipher)
    const files = new ValueFiles(location, valueFileBytes)
    this.rows = new SeparatedRows(files, (key) => this.getSync(key), separates, cipher)
  }

  /** How many there are. */
  get pages(): number {
    return this.#directory.size
  }

  get status(): string {
    return this.#level.status
  }

  /** Rejects with StateDamagedError where the directory of pages does not open. */
  async open(): Promise<void> {
    await this.#level.open()
    try {
      await this.#load()
    } catch (error) {
      await this.#level.close()
      throw error
    }
  }

  async #load(): Promise<void> {
    const pages = (await this.#level.iterator(DIRECTORY_RANGE).all()).map(([key, value]) => {
      const { id, first } = this.#form.openPage({ key, value })
      return new Page(id, first)
    })
    const generation = this.#form.openGeneration(this.#level.getSync(GENERATION_KEY))
    this.#directory = PageDirectory.of([new Page(FIRST_PAGE, Buffer.alloc(0)), ...pages], generation)
    this.#nextPage = Math.max(FIRST_PAGE, ...pages.map(({ id }) => id)) + 1
  }

  async close(): Promise<void> {
    await this.#level.close()
    await this.rows.files.close()
  }

  getSync(key: Buffer, { snapshot }: { readonly snapshot?: DatabaseSnapshot } = {}): Buffer | undefined {
    if (snapshot !== undefined) return this.#rowIn(this.#directoryOf(snapshot).pageOf(key), key, snapshot)
    const page = this.#directory.pageOf(key)
    const pending = this.#pending?.pageOf(key) ?? page
    const found = this.#rowIn(page, key)
    // LevelDB may have the batch already, and this thread does not know it yet.
    return found === undefined && pending !== page ? this.#rowIn(pending, key) : found
  }

  rowAt(key: Buffer, snapshot?: DatabaseSnapshot): Buffer | undefined {
    const stored = this.getSync(key, snapshot === undefined ? {} : { snapshot })
    return stored === undefined ? undefined : this.rows.follow(key, stored)
  }

  iterator(options: RowWalkOptions<Buffer>): RowIterator<Buffer> {
    return new SealedIterator(this.#moment(options.snapshot), options, (key) => key)
  }

  texts(options: RowWalkOptions<string>): RowIterator<string> {
    return new SealedIterator(this.#moment(options.snapshot), options, (key) => key.toString('utf8'))
  }

  keys(options: RowWalkOptions<Buffer>): { all(): Promise<Buffer[]> } {
    return { all: async () => (await this.iterator(options).all()).map(([key]) => key) }
  }

  batch(): RowBatch
  batch(operations: BatchOperation[], options: { readonly sync: boolean }): Promise<void>
  batch(operations?: BatchOperation[], options?: { readonly sync: boolean }): RowBatch | Promise<void> {
    if (operations !== undefined) return this.#write(operations, options?.sync ?? false)
    const gathered: BatchOperation[] = []
    return {
      put: (key, value) => gathered.push({ type: 'put', key, value }),
      del: (key) => gathered.push({ type: 'del', key }),
      write: ({ sync }) => this.#write(gathered, sync),
    }
  }

  snapshot(): DatabaseSnapshot {
    const snapshot = pinned(this.#level.snapshot(), this.rows)
    this.#moments.set(snapshot, this.#directoryAt(snapshot))
    return snapshot
  }

  #write(operations: readonly BatchOperation[], sync: boolean): Promise<void> {
    const written = this.#writing.then(() => this.#writeNow(operations, sync))
    this.#writing = written.catch(() => {})
    return written
  }

  async #writeNow(rows: readonly BatchOperation[], sync: boolean): Promise<void> {
    const writer = new PageWriter({
      form: this.#form,
      counts: this.#counts,
      rowsOf: (page) => this.#rawRowsOf(page),
      nextPage: () => this.#nextPage++,
    })
    const { operations, directory } = await writer.plan(this.#directory, rows)
    // From here on a snapshot may hold the batch.
    this.#pending = directory
    const batch = this.#level.batch()
    for (const operation of operations) {
      if (operation.type === 'put') batch.put(operation.key, operation.value)
      else batch.del(operation.key)
    }
    await batch.write({ sync })
    this.#directory = directory ?? this.#directory
    this.#pending = null
  }

  #rowIn(page: Page, key: Buffer, snapshot?: DatabaseSnapshot): Buffer | undefined {
    const raw = rowKey(page.id, this.#form.nameOf(key))
    const value = snapshot === undefined ? this.#level.getSync(raw) : this.#level.getSync(raw, { snapshot })
    return value === undefined ? undefined : this.#form.openRow({ key: raw, value }).value
  }

  #moment(given: DatabaseSnapshot | undefined): WalkedMoment {
    const snapshot = given ?? this.snapshot()
    let isOver = given !== undefined
    return {
      directory: this.#directoryOf(snapshot),
      rowsOf: async (page) =>
        (await this.#rawRowsOf(page, snapshot)).map((entry) => this.#form.openRow(entry)),
      end: async () => {
        if (isOver) return
        isOver = true
        await snapshot.close()
      },
    }
  }

  #directoryOf(snapshot: DatabaseSnapshot): PageDirectory {
    return this.#moments.get(snapshot) ?? this.#directoryAt(snapshot)
  }

  #directoryAt(snapshot: DatabaseSnapshot): PageDirectory {
    const pending = this.#pending
    if (pending === null) return this.#directory
    const generation = this.#form.openGeneration(this.#level.getSync(GENERATION_KEY, { snapshot }))
    return generation === pending.generation ? pending : this.#directory
  }

  async #rawRowsOf(page: Page, snapshot?: DatabaseSnapshot): Promise<readonly RawEntry[]> {
    const range = rowsOfPage(page.id)
    const options = { ...range, highWaterMarkBytes: READ_BYTES }
    const walk = this.#level.iterator(snapshot === undefined ? options : { ...options, snapshot })
    return (await walk.all()).map(([key, value]) => ({ key, value }))
  }
}
