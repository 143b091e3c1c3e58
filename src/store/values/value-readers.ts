/**
 * Open value files, for reading.
 *
 * Owns: a bounded number of descriptors, least recently used first to go, and what a failed read means. Knows nothing of: records.
 * Rule: reads are synchronous, as those of LevelDB are: a state machine decides without waiting.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { StateDamagedError } from '../../../cluster/index.ts'

export interface ValuePlace {
  /** Number of the file. */
  readonly file: number
  readonly offset: number
  readonly length: number
}

/** Beside those of LevelDB. */
const OPEN_FILES_MAX = 64
/** The file may be whole: other files keep this one from being opened. */
const REFUSALS: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'EACCES', 'EPERM', 'ENOMEM'])

export class ValueReaders {
  readonly #pathOf: (file: number) => string
  /** In the order of their last use. */
  readonly #open = new Map<number, number>()

  constructor(pathOf: (file: number) => string) {
    this.#pathOf = pathOf
  }

  /** Fewer bytes than asked for are at the end of the file. Throws StateDamagedError, or the error of a system that gives no access. */
  read({ file, offset, length }: ValuePlace): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    let filled = 0
    try {
      const descriptor = this.#descriptor(file)
      while (filled < length) {
        const read = readSync(descriptor, bytes, filled, length - filled, offset + filled)
        if (read === 0) break
        filled += read
      }
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && REFUSALS.has(cause.code)) throw cause
      const what = cause instanceof Error ? cause.message : String(cause)
      throw new StateDamagedError(`Cannot read a value of the state: the disk says "${what}"`, { cause })
    }
    return bytes.subarray(0, filled)
  }

  close(file: number): void {
    const descriptor = this.#open.get(file)
    if (descriptor === undefined) return
    this.#open.delete(file)
    closeSync(descriptor)
  }

  closeAll(): void {
    for (const file of this.#open.keys()) this.close(file)
  }

  #descriptor(file: number): number {
    const known = this.#open.get(file)
    if (known !== undefined) this.#open.delete(file)
    const descriptor = known ?? openSync(this.#pathOf(file), 'r')
    this.#open.set(file, descriptor)
    if (this.#open.size > OPEN_FILES_MAX) this.close(this.#open.keys().next().value ?? file)
    return descriptor
  }
}
