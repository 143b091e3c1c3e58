/**
 * Which page of a sealed database the row of a key lies in. docs/formats/sealed-metadata.md
 *
 * Owns: the pages in the order of their first keys. Knows nothing of: LevelDB, ciphers, rows.
 * Rules: a directory never changes, so a walk and a snapshot keep the one of their moment; a change makes another that shares most of it. The first page
 * begins at the empty key and never goes, so every key has a page.
 */
import assert from 'node:assert/strict'

/** A page with more rows is divided. A walk reads whole pages, so larger ones cost short walks more. */
export const PAGE_ROWS_MAX = 64
/** A page with more bytes is divided where it has two rows. */
export const PAGE_BYTES_MAX: number = 256 * 1024
/** Pages that are copied when one of them changes. */
const BLOCK_PAGES_MAX = 512

export class Page {
  readonly id: number
  /** No row of it has a lesser key. */
  readonly first: Buffer
  /** The same as latin1, whose order is that of bytes: texts are compared ten times as fast. */
  readonly text: string
  constructor(id: number, first: Buffer) {
    this.id = id
    this.first = first
    this.text = first.toString('latin1')
  }
}

interface Place {
  readonly block: number
  readonly at: number
}

export class PageDirectory {
  /** Rises by one with every change. */
  readonly generation: number
  readonly #blocks: readonly (readonly Page[])[]

  private constructor(blocks: readonly (readonly Page[])[], generation: number) {
    this.#blocks = blocks
    this.generation = generation
  }

  /** In any order. */
  static of(pages: readonly Page[], generation: number): PageDirectory {
    const sorted = pages.toSorted((one, other) => Buffer.compare(one.first, other.first))
    assert(sorted[0]?.first.length === 0, 'the first page begins at the empty key')
    return new PageDirectory(blocksOf(sorted), generation)
  }

  get size(): number {
    return this.#blocks.reduce((sum, { length }) => sum + length, 0)
  }

  get last(): Page {
    const block = this.#blocks.length - 1
    return this.#pageAt({ block, at: (this.#blocks[block]?.length ?? 0) - 1 })
  }

  pageOf(key: Buffer): Page {
    return this.#pageAt(this.#placeOf(key.toString('latin1')))
  }

  /** Null: it is the last. */
  after(page: Page): Page | null {
    const { block, at } = this.#placeOf(page.text)
    return this.#blocks[block]?.[at + 1] ?? this.#blocks[block + 1]?.[0] ?? null
  }

  /** Null: it is the first. */
  before(page: Page): Page | null {
    const { block, at } = this.#placeOf(page.text)
    return this.#blocks[block]?.[at - 1] ?? this.#blocks[block - 1]?.at(-1) ?? null
  }

  /** In the place of each page those that follow it in the map, ascending; none: it goes. */
  replaced(changes: ReadonlyMap<Page, readonly Page[]>): PageDirectory {
    const touched = new Set([...changes.keys()].map(({ text }) => this.#placeOf(text).block))
    const blocks = this.#blocks.flatMap((pages, block) =>
      touched.has(block) ? blocksOf(pages.flatMap((page) => changes.get(page) ?? [page])) : [pages],
    )
    return new PageDirectory(blocks, this.generation + 1)
  }

  #placeOf(text: string): Place {
    let [block, behind] = [0, this.#blocks.length]
    while (behind - block > 1) {
      const middle = (block + behind) >>> 1
      if ((this.#blocks[middle]?.[0]?.text ?? '') > text) behind = middle
      else block = middle
    }
    const pages = this.#blocks[block] ?? []
    let at = 0
    behind = pages.length
    while (behind - at > 1) {
      const middle = (at + behind) >>> 1
      if ((pages[middle]?.text ?? '') > text) behind = middle
      else at = middle
    }
    return { block, at }
  }

  #pageAt({ block, at }: Place): Page {
    const page = this.#blocks[block]?.[at]
    assert(page !== undefined, 'every key has a page')
    return page
  }
}

/** None for no pages. */
function blocksOf(pages: readonly Page[]): readonly (readonly Page[])[] {
  const blocks: (readonly Page[])[] = []
  const count = Math.ceil(pages.length / BLOCK_PAGES_MAX)
  const size = Math.ceil(pages.length / Math.max(1, count))
  for (let at = 0; at < pages.length; at += size) blocks.push(pages.slice(at, at + size))
  return blocks
}
