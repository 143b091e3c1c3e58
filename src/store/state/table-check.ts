/**
 * Reads tables of an opened state through in the background, after a start that checked only the blocks that lead to their rows.
 *
 * Owns: the pace, and that a table that a compaction has replaced meanwhile is no fault. Knows nothing of: rows, what follows from a fault.
 * Rule: each of the tables is read once, whole, unless the manifest no longer names it.
 */
import { setTimeout } from 'node:timers/promises'
import type { Logger } from '../../../cluster/index.ts'
import { isMissing, withTable } from '../level/level-files.ts'
import { liveFiles } from '../level/level-manifest.ts'
import { faultInTable, type TableBytes } from '../level/level-table.ts'

/** A state of ten million objects, about 4 GB, takes two minutes; a disk that serves requests hardly notices. */
const CHECK_BYTES_PER_SECOND = 32 * 1024 * 1024

export interface TableCheckParts {
  readonly location: string
  /** File number to size. */
  readonly tables: ReadonlyMap<number, number>
  readonly logger: Logger
  readonly onFault: (fault: string) => void
}

export class TableCheck {
  readonly #parts: TableCheckParts
  readonly #abort = new AbortController()
  readonly #done: Promise<void>

  /** Starts at once. */
  constructor(parts: TableCheckParts) {
    this.#parts = parts
    this.#done = this.#run().catch((err: unknown) => {
      // The daily read of all rows remains.
      if (!this.#abort.signal.aborted) parts.logger.warn({ err }, 'tables of the state not read through')
    })
  }

  /** Resolves when every table was read, a fault was reported, or nothing can be read. Never rejects. */
  get done(): Promise<void> {
    return this.#done
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#done
  }

  async #run(): Promise<void> {
    const { location, tables, logger, onFault } = this.#parts
    for (const [number, size] of tables) {
      this.#abort.signal.throwIfAborted()
      const fault = await this.#faultIn(number, size)
      if (fault === null || !(await liveFiles(location)).tables.has(number)) continue
      onFault(`its table ${number}: ${fault}`)
      return
    }
    logger.info({ tables: tables.size }, 'tables of the state are verified')
  }

  async #faultIn(number: number, size: number): Promise<string | null> {
    try {
      return await withTable(this.#parts.location, number, (table) =>
        faultInTable(this.#paced(table), size, 'whole'),
      )
    } catch (error) {
      if (isMissing(error)) return 'it is missing'
      throw error
    }
  }

  #paced(table: TableBytes): TableBytes {
    const read = async (offset: number, length: number): Promise<Buffer> => {
      const waitMs = (length / CHECK_BYTES_PER_SECOND) * 1000
      await setTimeout(waitMs, undefined, { signal: this.#abort.signal })
      return table.read(offset, length)
    }
    return { length: table.length, read }
  }
}
