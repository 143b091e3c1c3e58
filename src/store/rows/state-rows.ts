/**
 * Which keys of a database are rows of the replicated state, and the one way to walk them. docs/formats/keyspace.md
 *
 * Owns: the keys that do not count, and verified reading in the order of keys. Knows nothing of: what rows mean.
 * Rule: every row is verified and must ascend before a caller gets it; a damaged index shows rows twice or out of order.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StateDamagedError } from '../../../cluster/index.ts'
import type { StoredRow } from './row-block.ts'
import { keyBytes, openRow } from './row-codec.ts'
import type { Database, DatabaseSnapshot } from './row-database.ts'

/** Opaque bytes of the machine under the state: applied index, configuration, sessions. Written with every batch. */
export const MACHINE_RECORD_KEY: Buffer = keyBytes('machineRecord')
/** The running checksum, written with every batch. */
export const STATE_CHECKSUM_KEY: Buffer = keyBytes('stateChecksum')
/** Keys below are notes of an install under way; no row of the state begins with NUL. */
export const FIRST_STATE_KEY: Buffer = Buffer.of(1)

const ROWS_PER_READ = 128
const READ_BYTES = 256 * 1024
const ROWS_PER_COUNT = 1000
const KEYS_PER_REMOVAL = 1000

export type { Database, DatabaseSnapshot }

export interface RowRange {
  /** Exclusive. Empty: from the first row on. */
  readonly after: Uint8Array
  /** Inclusive; null: to the last row. */
  readonly through: Uint8Array | null
  readonly snapshot?: DatabaseSnapshot
}

export const ALL_ROWS: RowRange = { after: new Uint8Array(), through: null }

export function isStateKey(key: Uint8Array): boolean {
  return (
    Buffer.compare(key, FIRST_STATE_KEY) >= 0 &&
    !MACHINE_RECORD_KEY.equals(key) &&
    !STATE_CHECKSUM_KEY.equals(key)
  )
}

/** Rows in bounded pieces, which may be empty. Other work gets its turn between two pieces. Throws StateDamagedError. */
export async function* scanRows(db: Database, range: RowRange): AsyncGenerator<readonly StoredRow[]> {
  const { after, through, snapshot } = range
  const iterator = db.iterator({
    ...(after.length === 0 ? { gte: FIRST_STATE_KEY } : { gt: Buffer.from(after) }),
    ...(through === null ? {} : { lte: Buffer.from(through) }),
    ...(snapshot === undefined ? {} : { snapshot }),
    highWaterMarkBytes: READ_BYTES,
    fillCache: false,
  })
  const unpin = db.rows.files.pin()
  let last = after
  try {
    for (;;) {
      const entries = await iterator.nextv(ROWS_PER_READ)
      if (entries.length === 0) return
      let piece: StoredRow[] = []
      let bytes = 0
      for (const [key, stored] of entries) {
        assertAscending(last, key)
        if (through !== null && Buffer.compare(key, through) > 0) throw outOfPlace()
        const value = db.rows.follow(key, stored)
        openRow(key, value)
        last = key
        if (isStateKey(key)) piece.push({ key, value })
        bytes += value.length
        if (bytes < READ_BYTES) continue
        yield piece
        await nextTurn()
        ;[piece, bytes] = [[], 0]
      }
      yield piece
    }
  } finally {
    unpin()
    await iterator.close()
  }
}

/** Tells the value files of every pointer to them. Throws StateDamagedError. */
export async function countPointers(db: Database): Promise<void> {
  const iterator = db.iterator({ highWaterMarkBytes: READ_BYTES, fillCache: false })
  try {
    for (;;) {
      const entries = await iterator.nextv(ROWS_PER_COUNT)
      if (entries.length === 0) return
      db.rows.count(entries)
    }
  } finally {
    await iterator.close()
  }
}

/** In bounded steps, each of them synced: a state that is being installed has no checkpoints. */
export async function removeKeys(
  db: Database,
  range: { readonly [bound in 'gt' | 'gte' | 'lt' | 'lte']?: Buffer },
): Promise<void> {
  for (;;) {
    const keys = await db.keys({ ...range, limit: KEYS_PER_REMOVAL }).all()
    if (keys.length > 0) {
      await db.batch(
        keys.map((key) => ({ type: 'del', key })),
        { sync: true },
      )
    }
    if (keys.length < KEYS_PER_REMOVAL) return
  }
}

/** LevelDB never checks its indexes: a damaged one shows rows again or out of order. Throws StateDamagedError. */
export function assertAscending(before: Uint8Array, key: Uint8Array): void {
  if (Buffer.compare(key, before) <= 0) throw outOfPlace()
}

export function outOfPlace(): StateDamagedError {
  return new StateDamagedError("Cannot read the state: its rows do not ascend; this node's state is damaged")
}
