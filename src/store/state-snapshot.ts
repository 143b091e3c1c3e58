/**
 * A consistent cut of the state as a stream of frames.
 *
 * Owns: the way of rows out of LevelDB. Knows nothing of: who receives them.
 * Rules: every row is verified before it leaves, so damage here never spreads; memory holds one frame.
 */
import { createHash } from 'node:crypto'
import type { StateSnapshot } from '../../cluster/index.ts'
import type { DatabaseSnapshot, OpenState } from './open-state.ts'
import { openRow } from './row-codec.ts'
import { encodeFrame, FRAME_KIND, MAGIC } from './snapshot-frames.ts'

const FRAME_BYTES_TARGET = 256 * 1024
const ROWS_PER_READ = 1000

export function takeSnapshot(state: OpenState): StateSnapshot {
  const cut = state.db.snapshot()
  const record = state.machineRecord(cut)
  if (record === null) throw new Error('Cannot take a snapshot: nothing was ever applied')
  return { record, stream: streamOf(state, cut), release: () => cut.close() }
}

async function* streamOf(state: OpenState, cut: DatabaseSnapshot): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let rows = 0
  const header = encodeFrame(FRAME_KIND.header, MAGIC)
  hash.update(header)
  yield header
  for await (const block of blocksOf(state, cut)) {
    rows += block.rows
    const frame = encodeFrame(FRAME_KIND.rows, Buffer.concat(block.parts))
    hash.update(frame)
    yield frame
  }
  const count = Buffer.alloc(8)
  count.writeBigUInt64LE(BigInt(rows))
  yield encodeFrame(FRAME_KIND.trailer, Buffer.concat([count, hash.digest()]))
}

interface Block {
  readonly parts: readonly Buffer[]
  readonly rows: number
}

async function* blocksOf(state: OpenState, cut: DatabaseSnapshot): AsyncGenerator<Block> {
  const iterator = state.db.iterator({ snapshot: cut, highWaterMarkBytes: FRAME_BYTES_TARGET })
  try {
    let block = { parts: [] as Buffer[], rows: 0, bytes: 0 }
    for (;;) {
      const entries = await iterator.nextv(ROWS_PER_READ)
      if (entries.length === 0) break
      for (const [key, value] of entries) {
        openRow(key, value)
        block.parts.push(lengthOf(key), key, lengthOf(value), value)
        block.rows++
        block.bytes += key.length + value.length
        if (block.bytes < FRAME_BYTES_TARGET) continue
        yield block
        block = { parts: [], rows: 0, bytes: 0 }
      }
    }
    if (block.rows > 0) yield block
  } finally {
    await iterator.close()
  }
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32LE(part.length)
  return length
}
