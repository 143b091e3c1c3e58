/**
 * Reads tables and value files of an opened state through in the background, after a start that did not: it checked only the blocks that lead to rows.
 *
 * Owns: the pace, and that a table that a compaction has replaced meanwhile is no fault. Knows nothing of: rows, what follows from a fault.
 * Rule: each of them is read once, whole, unless it is gone meanwhile.
 */
import { setTimeout } from 'node:timers/promises'
import type { Logger } from '../../../cluster/index.ts'
import { isMissing, withTable } from '../level/level-files.ts'
import { liveFiles } from '../level/level-manifest.ts'
import type { SeparatedRows } from '../rows/separated-rows.ts'
import { damageIn } from '../rows/state-errors.ts'
import { faultInTable, type TableBytes } from '../level/level-table.ts'

/** A state of ten million objects, about 4 GB, takes two minutes; a disk that serves requests hardly notices. */
const CHECK_BYTES_PER_SECOND = 32 * 1024 * 1024
const VALUES_PER_STEP = 256 * 1024

export interface TableCheckParts {
  readonly location: string
  /** File number to size. */
  readonly tables: ReadonlyMap<number, number>
  /** Null: they were read. */
  readonly values: SeparatedRows | null
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
    const fault = await this.#faultInValues()
    if (fault !== null) onFault(fault)
    else logger.info({ tables: tables.size }, 'tables and values of the state are verified')
  }

  async #faultInValues(): Promise<string | null> {
    try {
      for (const fault of this.#parts.values?.check(VALUES_PER_STEP) ?? []) {
        if (fault !== null) return fault
        await this.#pause(VALUES_PER_STEP)
      }
      return null
    } catch (error) {
      const damage = this.#abort.signal.aborted ? null : damageIn(error)
      if (damage === null) throw error
      return damage.message
    }
  }

  async #pause(bytes: number): Promise<void> {
    const { signal } = this.#abort
    await setTimeout((bytes / CHECK_BYTES_PER_SECOND) * 1000, undefined, { signal })
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
      await this.#pause(length)
      return table.read(offset, length)
    }
    return { length: table.length, read }
  }
}
