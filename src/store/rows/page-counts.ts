/**
 * Which rows pages of a sealed database have, of those that were written to lately.
 *
 * Owns: their names and sizes, and the bound. Knows nothing of: keys, when a page is divided.
 * Rule: what is known of a page is exact; what was forgotten is read from LevelDB again.
 */
import type { Page } from './page-directory.ts'

/** Some ten megabytes. */
const PAGES_MAX = 2_048

export class PageCount {
  /** By the name of a row: its bytes. */
  readonly #sizes = new Map<string, number>()
  #bytes = 0

  get rows(): number {
    return this.#sizes.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get names(): Iterable<string> {
    return this.#sizes.keys()
  }

  put(name: string, bytes: number): void {
    this.#bytes += bytes - (this.#sizes.get(name) ?? 0)
    this.#sizes.set(name, bytes)
  }

  remove(name: string): void {
    this.#bytes -= this.#sizes.get(name) ?? 0
    this.#sizes.delete(name)
  }
}

export class PageCounts {
  /** In the order of their last use. */
  readonly #known = new Map<Page, PageCount>()

  get(page: Page): PageCount | undefined {
    return this.#known.get(page)
  }

  keep(page: Page, count: PageCount): void {
    this.#known.delete(page)
    this.#known.set(page, count)
    if (this.#known.size <= PAGES_MAX) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
  }

  forget(page: Page): void {
    this.#known.delete(page)
  }
}
