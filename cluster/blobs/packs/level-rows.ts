/**
 * The rows of the pack index in a LevelDB.
 *
 * Knows nothing of: the contents of the rows. Rule: every write is synced before the next one starts, so a power cut leaves a
 * prefix of the writes, also across two logs of LevelDB, which flushes only the newer one.
 */
import { rm } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import type { IndexRange, IndexRows } from './index-rows.ts'

/** Ten million copies have more than 1 GB of rows: fewer than a hundred tables of this size. */
const WRITE_BUFFER_BYTES = 8 * 1024 * 1024
const TABLE_BYTES = 16 * 1024 * 1024
/** An iteration over all rows reads millions of them. */
const READ_AHEAD_BYTES = 256 * 1024

export class LevelRows implements IndexRows {
  readonly #directory: string
  /** Created by `open`: a ClassicLevel starts to open as soon as it exists. */
  #opened: ClassicLevel<string, Uint8Array> | null = null

  constructor(directory: string) {
    this.#directory = directory
  }

  /** An index that does not open is deleted: it can be rebuilt from the packs. An index that another process holds is not deleted. */
  async open(): Promise<void> {
    try {
      this.#opened = await opened(this.#directory)
    } catch (cause) {
      if (isHeld(cause)) throw cause
      await rm(this.#directory, { recursive: true, force: true })
      this.#opened = await opened(this.#directory)
    }
  }

  get(key: string): Promise<Uint8Array | undefined> {
    return this.#db.get(key)
  }

  getMany(keys: readonly string[]): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#db.getMany([...keys])
  }

  entries({ after, before, limit = -1 }: IndexRange): AsyncIterable<readonly [string, Uint8Array]> {
    return this.#db.iterator({ gt: after, lt: before, limit, highWaterMarkBytes: READ_AHEAD_BYTES })
  }

  async write(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void> {
    const batch = this.#db.batch()
    for (const [key, value] of changes) {
      if (value === null) batch.del(key)
      else batch.put(key, value)
    }
    await batch.write({ sync: true })
  }

  clear(): Promise<void> {
    return this.#db.clear()
  }

  async close(): Promise<void> {
    await this.#opened?.close()
  }

  get #db(): ClassicLevel<string, Uint8Array> {
    if (this.#opened === null) throw new Error('Cannot use the index of packs before it is open')
    return this.#opened
  }
}

async function opened(directory: string): Promise<ClassicLevel<string, Uint8Array>> {
  const db = new ClassicLevel<string, Uint8Array>(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
    writeBufferSize: WRITE_BUFFER_BYTES,
    maxFileSize: TABLE_BYTES,
  })
  await db.open()
  return db
}

function isHeld(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED'
}
