/**
 * Flips bits on the disk of a running node: one in every chunk file, in every record of a pack, in every piece of its state.
 *
 * Owns: where the bits are. Knows nothing of: how the node reacts.
 * Rule: a bit is flipped in place and flushed, like a disk error: no file is replaced, no length changes.
 */
import { randomInt } from 'node:crypto'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { HEADER_BYTES } from '../../cluster/blobs/base/blob-header.ts'
import { SHARDS } from '../../cluster/blobs/files/blob-layout.ts'
import { decodePackHead, PACK_HEAD_BYTES } from '../../cluster/blobs/packs/pack-record.ts'
import { scanPack } from '../../cluster/blobs/packs/pack-scan.ts'

/** Less than half the size of the smallest row in a table, so that each row contains a whole step. Bytes. */
const STATE_STEP = 16

export interface Flips {
  readonly chunkFiles: number
  readonly packRecords: number
  /** The number of flipped bits, one in each STATE_STEP bytes of tables. */
  readonly stateBits: number
}

interface Span {
  readonly from: number
  readonly bytes: number
}

async function flipIn(path: string, spans: readonly Span[]): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (const { from, bytes } of spans) await flipOne(file, from + randomInt(bytes))
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function flipOne(file: FileHandle, at: number): Promise<void> {
  const byte = Buffer.alloc(1)
  await file.read(byte, 0, 1, at)
  byte.writeUInt8(byte.readUInt8() ^ (1 << randomInt(8)))
  await file.write(byte, 0, 1, at)
}

async function flipChunkFiles(blobs: string): Promise<number> {
  let files = 0
  for (const shard of SHARDS) {
    for (const name of await readdir(join(blobs, shard))) {
      const path = join(blobs, shard, name)
      const { size: length } = await stat(path)
      await flipIn(path, [{ from: 0, bytes: length }])
      files++
    }
  }
  return files
}

async function recordsOf(path: string): Promise<Span[]> {
  const file = await open(path, 'r')
  try {
    const head = Buffer.alloc(PACK_HEAD_BYTES)
    await file.read(head, 0, PACK_HEAD_BYTES, 0)
    const frame = decodePackHead(head.readUInt32LE(12), head)
    if (frame === null) throw new Error(`${path} is not a pack`)
    const spans: Span[] = []
    for await (const { records } of scanPack(file, frame, PACK_HEAD_BYTES))
      for (const { offset, content } of records)
        spans.push({ from: offset, bytes: HEADER_BYTES + content.size })
    return spans
  } finally {
    await file.close()
  }
}

async function flipPacks(blobs: string): Promise<number> {
  let records = 0
  const directory = join(blobs, 'packs')
  for (const name of await readdir(directory)) {
    const spans = await recordsOf(join(directory, name))
    await flipIn(join(directory, name), spans)
    records += spans.length
  }
  return records
}

async function flipTables(state: string): Promise<number> {
  let bits = 0
  for (const entry of await readdir(state, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.(ldb|sst)$/.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const { size: length } = await stat(path)
    const spans: Span[] = []
    for (let from = 0; from < length; from += STATE_STEP)
      spans.push({ from, bytes: Math.min(STATE_STEP, length - from) })
    await flipIn(path, spans)
    bits += spans.length
  }
  return bits
}

/** For a node that stores nothing meanwhile. Compaction of packs may run at the same time, and then finds the damage first. */
export async function flipCopies(dataDir: string): Promise<Omit<Flips, 'stateBits'>> {
  const blobs = join(dataDir, 'blobs')
  return { chunkFiles: await flipChunkFiles(blobs), packRecords: await flipPacks(blobs) }
}

/** Damages every row of an object in a table. Rows that LevelDB has only in memory are not touched. */
export function flipState(dataDir: string): Promise<number> {
  return flipTables(join(dataDir, 'state'))
}
