/**
 * Fills a fresh database from a snapshot stream and proves that it arrived whole.
 *
 * Owns: verification: frame checksums, row checksums, ascending keys, row count, the hash over the stream, and a full
 * read-back. Knows nothing of: directories, which state is current.
 * Rule: resolves only when every row is durable and was read back; on any doubt it throws and the caller drops the database.
 */
import { createHash, type Hash } from 'node:crypto'
import { type Database, MACHINE_RECORD_KEY } from './open-state.ts'
import { openRow } from './row-codec.ts'
import { FRAME_KIND, type Frame, MAGIC, readFrames, SnapshotDamagedError } from './snapshot-frames.ts'

const ROWS_PER_READ = 1000
const READ_BYTES = 256 * 1024

interface Progress {
  readonly hash: Hash
  rows: number
  lastKey: Buffer
  stage: 'header' | 'rows' | 'end'
}

export async function fillFromStream(db: Database, stream: AsyncIterable<Uint8Array>): Promise<void> {
  const progress: Progress = {
    hash: createHash('sha256'),
    rows: 0,
    lastKey: Buffer.alloc(0),
    stage: 'header',
  }
  for await (const frame of readFrames(stream)) {
    if (progress.stage === 'end') throw damaged('something follows its trailer')
    if (progress.stage === 'header') acceptHeader(frame, progress)
    else if (frame.kind === FRAME_KIND.rows) await acceptRows(db, frame, progress)
    else acceptTrailer(frame, progress)
    progress.hash.update(frame.bytes)
  }
  if (progress.stage !== 'end') throw damaged('it ends before its trailer')
  await readBack(db, progress.rows)
}

function acceptHeader(frame: Frame, progress: Progress): void {
  if (frame.kind !== FRAME_KIND.header || !frame.payload.equals(MAGIC)) {
    throw damaged('it does not begin as a snapshot of this format')
  }
  progress.stage = 'rows'
}

async function acceptRows(db: Database, frame: Frame, progress: Progress): Promise<void> {
  const batch: { type: 'put'; key: Buffer; value: Buffer }[] = []
  for (const { key, value } of rowsOf(frame.payload)) {
    if (Buffer.compare(progress.lastKey, key) >= 0) throw damaged('its rows do not ascend')
    batch.push({ type: 'put', key, value })
    progress.lastKey = key
    progress.rows++
  }
  // NOTE: every batch is synced. A later synced batch would not cover earlier ones: LevelDB changes its log file
  // without syncing the one it leaves.
  await db.batch(batch, { sync: true })
}

function acceptTrailer(frame: Frame, progress: Progress): void {
  const { payload } = frame
  if (frame.kind !== FRAME_KIND.trailer || payload.length !== 40) throw damaged('a frame is of no known kind')
  if (payload.readBigUInt64LE(0) !== BigInt(progress.rows)) throw damaged('rows are missing')
  if (!payload.subarray(8).equals(progress.hash.copy().digest())) throw damaged('its hash does not agree')
  progress.stage = 'end'
}

function* rowsOf(payload: Buffer): Generator<{ key: Buffer; value: Buffer }> {
  let offset = 0
  const part = (): Buffer => {
    if (offset + 4 > payload.length) throw damaged('a row is cut short')
    const end = offset + 4 + payload.readUInt32LE(offset)
    if (end > payload.length) throw damaged('a row is cut short')
    const bytes = payload.subarray(offset + 4, end)
    offset = end
    return bytes
  }
  while (offset < payload.length) yield { key: part(), value: part() }
}

/** What was sent proves nothing about what was kept. */
async function readBack(db: Database, expected: number): Promise<void> {
  let rows = 0
  let hasRecord = false
  const iterator = db.iterator({ highWaterMarkBytes: READ_BYTES })
  try {
    for (;;) {
      const entries = await iterator.nextv(ROWS_PER_READ)
      if (entries.length === 0) break
      for (const [key, value] of entries) {
        openRow(key, value)
        hasRecord ||= key.equals(MACHINE_RECORD_KEY)
      }
      rows += entries.length
    }
  } finally {
    await iterator.close()
  }
  if (rows !== expected) throw damaged(`${expected} rows were written and ${rows} were read back`)
  if (!hasRecord) throw damaged('it has no machine record')
}

function damaged(what: string): SnapshotDamagedError {
  return new SnapshotDamagedError(`Cannot install snapshot: ${what}`)
}
