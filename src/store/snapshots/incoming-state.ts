/**
 * The rows of an install under way: a database beside the state that is filled block by block and records which blocks it holds.
 *
 * Owns: the directory `incoming`, its rows and the notes of the blocks they came in. Knows nothing of: where blocks come from.
 * Rules: rows and the note of their block become durable together; a note is accepted only after the rows were read back
 * and have its digest, so damage here costs another pull and nothing else. Memory holds one block.
 */
import { createHash, hash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { Packr } from 'msgpackr'
import { type MetadataCipher, StateDamagedError, type StateBlock } from '../../../cluster/index.ts'
import { damageIn, isLocked, isRefusal } from '../rows/state-errors.ts'
import { faultInFiles } from '../level/level-files.ts'
import { openDatabase } from '../rows/open-database.ts'
import type { BatchOperation } from '../rows/separated-rows.ts'
import { frameRow, rowsOf } from '../rows/row-block.ts'
import { openRow, sealRow } from '../rows/row-codec.ts'
import { rowHash, RowSum } from '../rows/row-sum.ts'
import { sealOperations, type StateSeal } from '../rows/state-seal.ts'
import { type Database, FIRST_STATE_KEY, removeKeys, type RowRange, scanRows } from '../rows/state-rows.ts'

const NOTE_PREFIX = Buffer.of(0)
const NO_ROWS = hash('sha256', '', 'buffer')

const packr = new Packr({ useRecords: false })

export interface HeldRange {
  readonly through: Buffer
  readonly digest: Buffer
}

interface Note extends HeldRange {
  readonly after: Buffer
}

export class IncomingState {
  readonly #db: Database

  private constructor(db: Database) {
    this.#db = db
  }

  /** Opens the directory of an earlier install, if it can be used. `separates`: large values may lie beside LevelDB. */
  static async open(
    location: string,
    separates: boolean,
    cipher: MetadataCipher | null = null,
  ): Promise<IncomingState> {
    try {
      // LevelDB may do anything with damaged files, including end the process.
      if ((await faultInFiles(location)) === null)
        return new IncomingState(await openDatabase(location, { create: false, separates }, cipher))
    } catch (error) {
      if (isLocked(error) || isRefusal(error)) throw error
    }
    await rm(location, { recursive: true, force: true })
    return new IncomingState(await openDatabase(location, { create: true, separates }, cipher))
  }

  async close(): Promise<void> {
    await this.#db.close()
  }

  /** The block that begins after this key, if its rows are unchanged. */
  async held(after: Uint8Array): Promise<HeldRange | null> {
    return await guarded(async () => {
      const note = this.#note(after)
      if (note === null || Buffer.compare(note.through, after) <= 0) return null
      const found = await this.#digestOf(note)
      return found?.equals(note.digest) === true ? note : null
    })
  }

  /** From `after` on, up to the end of the block, or without an end where it is the last, the rows are those of the block. */
  async replace(after: Uint8Array, block: StateBlock): Promise<void> {
    const { rows, digest, through, isEnd } = block
    await guarded(async () => {
      if (rows === null) {
        if (isEnd) await this.#clear({ after: through, through: null })
        return
      }
      const rest = await this.#clear({ after, through: isEnd ? null : through })
      await this.#write([
        ...Array.from(rowsOf(rows), (row) => ({ type: 'put', ...row }) as const),
        noteOperation({ after, through, digest }),
        ...(rest === null ? [] : [noteOperation(rest)]),
      ])
    })
  }

  /** The sum of all rows up to `end`, each read back; null when they have changed. The note of a bad block is then removed. */
  async readBack(end: Uint8Array): Promise<RowSum | null> {
    return await guarded(async () => {
      const sum = new RowSum()
      let after: Uint8Array = new Uint8Array()
      do {
        const note = this.#note(after)
        const found = note === null ? null : await this.#digestOf(note, sum)
        if (note === null || found?.equals(note.digest) !== true) {
          await this.#write([{ type: 'del', key: noteKey(after) }])
          return null
        }
        after = note.through
      } while (Buffer.compare(after, end) < 0)
      const beyond = await this.#digestOf({ after: end, through: null })
      return end.length === 0 || beyond?.equals(NO_ROWS) === true ? sum : null
    })
  }

  /** Makes the rows a state. The notes stay, for an install that is cut short before the state is the current one. */
  async seal(seal: StateSeal): Promise<void> {
    await this.#write(sealOperations(seal))
  }

  /**
   * Removes rows of a range, and the notes of blocks that begin in it. Where the last of these blocks reaches further, the
   * rest of it is returned as a note, still to be written.
   */
  async #clear(range: RowRange): Promise<Note | null> {
    const cut = await this.#removeNotes(range)
    await removeKeys(this.#db, {
      ...(range.after.length === 0 ? { gte: FIRST_STATE_KEY } : { gt: Buffer.from(range.after) }),
      ...(range.through === null ? {} : { lte: Buffer.from(range.through) }),
    })
    if (cut === null || range.through === null || Buffer.compare(cut.through, range.through) <= 0) return null
    const rest = { after: Buffer.from(range.through), through: cut.through }
    const digest = await this.#digestOf(rest)
    return digest === null ? null : { ...rest, digest }
  }

  /** Returns the last note that was removed. */
  async #removeNotes({ after, through }: RowRange): Promise<Note | null> {
    const bounds = { gte: noteKey(after), lt: through === null ? FIRST_STATE_KEY : noteKey(through) }
    const [lastKey] = await this.#db.keys({ ...bounds, reverse: true, limit: 1 }).all()
    if (lastKey === undefined) return null
    const last = this.#note(lastKey.subarray(NOTE_PREFIX.length))
    await removeKeys(this.#db, bounds)
    return last
  }

  /** Sum of the rows on disk; null when one of them is damaged. */
  async #digestOf(range: RowRange, sum?: RowSum): Promise<Buffer | null> {
    const digest = createHash('sha256')
    try {
      for await (const rows of scanRows(this.#db, range)) {
        for (const { key, value } of rows) {
          digest.update(frameRow(key, value))
          sum?.add(rowHash(key, value))
        }
      }
    } catch (error) {
      if (error instanceof StateDamagedError) return null
      throw error
    }
    return digest.digest()
  }

  #note(after: Uint8Array): Note | null {
    const key = noteKey(after)
    const value = this.#db.getSync(key)
    if (value === undefined) return null
    try {
      const [through, digest] = packr.unpack(openRow(key, value)) as [Buffer, Buffer]
      return { after: Buffer.from(after), through, digest }
    } catch (error) {
      if (error instanceof StateDamagedError) return null
      throw error
    }
  }

  async #write(operations: readonly BatchOperation[]): Promise<void> {
    // NOTE: every batch is synced. A later synced batch would not cover earlier ones: LevelDB changes its log file
    // without syncing the one it leaves.
    const { operations: stored, settle } = await this.#db.rows.separate(operations)
    await this.#db.batch([...stored], { sync: true })
    settle()
  }
}

/** LevelDB cannot walk the gathered rows: they are discarded as a whole. The state in use is not affected. */
export class IncomingDamagedError extends Error {
  override readonly name = 'IncomingDamagedError'
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const damage = damageIn(error)
    if (damage === null) throw error
    throw new IncomingDamagedError('Cannot continue the install: the gathered rows are damaged', {
      cause: error,
    })
  }
}

function noteKey(after: Uint8Array): Buffer {
  return Buffer.concat([NOTE_PREFIX, after])
}

function noteOperation({ after, through, digest }: { [part in keyof Note]: Uint8Array }): BatchOperation {
  const key = noteKey(after)
  return { type: 'put', key, value: sealRow(key, packr.pack([Buffer.from(through), Buffer.from(digest)])) }
}
