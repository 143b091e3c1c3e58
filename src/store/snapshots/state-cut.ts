/**
 * A consistent cut of the state, sent in blocks of rows.
 *
 * Owns: reading the rows from LevelDB. Knows nothing of: who receives them, how far the receiver is.
 * Rules: every row is verified before it leaves, so damage here never spreads; a block depends only on the cut and the
 * request; memory holds one block.
 */
import { hash } from 'node:crypto'
import {
  STATE_BLOCK_BYTES_MAX,
  type StateBlock,
  type StateBlockRequest,
  type StateCut,
} from '../../../cluster/index.ts'
import type { OpenState } from '../rows/open-state.ts'
import { framedBytes, frameRow } from '../rows/row-block.ts'
import { type Database, type DatabaseSnapshot, scanRows } from '../rows/state-rows.ts'

export function takeCut(state: OpenState): StateCut {
  const snapshot = state.db.snapshot()
  const seal = state.seal(snapshot)
  if (seal === null || seal.record === null) {
    throw new Error('Cannot take a snapshot: nothing was ever applied')
  }
  return {
    record: seal.record,
    checksum: seal.sum.bytes(),
    block: (request) => state.lease(({ db }) => readBlock(db, snapshot, request)),
    release: () => snapshot.close(),
  }
}

async function readBlock(
  db: Database,
  snapshot: DatabaseSnapshot,
  { after, held }: StateBlockRequest,
): Promise<StateBlock> {
  if (held !== null && Buffer.compare(held.through, after) <= 0) {
    throw new Error('Cannot read a block: the range that is held ends before it begins')
  }
  const taken = await takeRows(db, snapshot, { after, bound: held?.through ?? null })
  const rows = Buffer.concat(taken.frames)
  const digest = hash('sha256', rows, 'buffer')
  const { isFull, isEnd } = taken
  // A held range that does not fit a block differs from the rows here: no receiver holds more than a block in one piece.
  if (held === null || isFull) return { rows, digest, through: taken.last, isEnd }
  return { rows: digest.equals(held.digest) ? null : rows, digest, through: held.through, isEnd }
}

interface Taken {
  readonly frames: readonly Buffer[]
  readonly last: Uint8Array
  /** Ended by the size of a block, not by the bound. */
  readonly isFull: boolean
  /** No row follows, not even beyond the bound. */
  readonly isEnd: boolean
}

async function takeRows(
  db: Database,
  snapshot: DatabaseSnapshot,
  { after, bound }: { readonly after: Uint8Array; readonly bound: Uint8Array | null },
): Promise<Taken> {
  const frames: Buffer[] = []
  let bytes = 0
  let last = after
  for await (const rows of scanRows(db, { after, through: null, snapshot })) {
    for (const { key, value } of rows) {
      if (bound !== null && Buffer.compare(key, bound) > 0)
        return { frames, last, isFull: false, isEnd: false }
      bytes += framedBytes(key, value)
      if (bytes > STATE_BLOCK_BYTES_MAX && frames.length > 0) {
        return { frames, last, isFull: true, isEnd: false }
      }
      frames.push(frameRow(key, value))
      last = key
    }
  }
  return { frames, last, isFull: false, isEnd: true }
}
