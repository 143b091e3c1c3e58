/**
 * The layout of a batch in a segment (format version 2): one batch = one write and one fdatasync.
 *
 * Owns: the layout below (all numbers little-endian). Knows nothing of: files, replay.
 * Rule: no sector holds bytes of two batches, and the two records of a batch share no sector. So one lost sector damages
 * only one batch, and one record of that batch stays readable.
 *
 *   batch      opening frame, entry frames, zeros up to a whole sector; then one sector with the closing frame
 *
 *   frame      0  3  magic "HFW"
 *              3  1  kind: 1 noop, 2 command, 3 configuration, 16 closing, 17 opening
 *              4  4  payload length
 *              8 16  index, term (opening and closing: of the last entry of the log after the batch)
 *             24  4  CRC32C of the payload
 *             28  4  CRC32C of bytes 0..27, seeded with the salt of the segment plus the offset of the frame in the file,
 *                    so that a frame is intact only at its own place
 *             32     payload, then zeros up to a multiple of 8
 *
 *   The payload of the opening and of the closing frame is the same: the record of the batch (batch-record.ts).
 *   A frame begins, and a record ends, with bytes that are never zero: no piece of either reads as a missing sector.
 */
import assert from 'node:assert/strict'
import { crc32c } from '@node-rs/crc32'
import type { Entry, EntryKind } from '../raft/types.ts'
import type { BatchRecord } from './batch-record.ts'
import { encodeRecord, decodeRecord, recordBytes } from './batch-record.ts'
import { alignUp, SECTOR_BYTES } from './segment-format.ts'
import { readU64, writeU64 } from './u64.ts'

/** The unit that one fdatasync makes durable. The entries follow each other, have one term, and end at `last`. */
export interface LoggedBatch extends Omit<BatchRecord, 'entryCount' | 'sectors' | 'chain'> {
  readonly entries: readonly Entry[]
}

/** Where a batch is written, and the chain value before it. */
export interface BatchPlace {
  readonly salt: number
  readonly offset: number
  readonly chain: number
}

export type FrameKind = EntryKind | 'closing' | 'opening'

export interface FrameHeader {
  readonly kind: FrameKind
  readonly index: number
  readonly term: number
  /** Of the payload, in bytes. */
  readonly length: number
  readonly payloadCheck: number
  /** Where the payload begins. */
  readonly start: number
  /** Where the next frame begins. */
  readonly end: number
}

export const FRAME_HEADER_BYTES = 32
/** Larger than any entry that the core accepts; a greater length is never written. */
const PAYLOAD_BYTES_MAX = 256 * 1024 * 1024
const CHECKED_BYTES = 28
const MAGIC = Buffer.from('HFW', 'latin1').readUIntLE(0, 3)
const KIND_CODES = {
  noop: 1,
  command: 2,
  configuration: 3,
  closing: 16,
  opening: 17,
} as const satisfies Record<FrameKind, number>
const KINDS = new Map(Object.entries(KIND_CODES).map(([kind, code]) => [code as number, kind as FrameKind]))

/** The length of what `encodeBatch` returns. */
export function encodedBytes(batch: LoggedBatch): number {
  return alignUp(openingBytes(batch) + entriesLength(batch.entries), SECTOR_BYTES) + SECTOR_BYTES
}

/** The length of the opening frame; the first entry frame follows. */
export function openingBytes({ hardState }: Pick<BatchRecord, 'hardState'>): number {
  return FRAME_HEADER_BYTES + recordBytes(hardState)
}

function entriesLength(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + FRAME_HEADER_BYTES + alignUp(entry.data.byteLength), 0)
}

/** Encodes a whole batch in one buffer, ready for one write. */
export function encodeBatch(
  batch: LoggedBatch,
  place: BatchPlace,
): { bytes: Buffer; record: Buffer; chain: number } {
  const { entries, last } = batch
  const bytes = Buffer.alloc(encodedBytes(batch))
  const first = openingBytes(batch)
  let end = first
  for (const entry of entries) {
    assert(entry.term === last.term, 'all entries of a batch have one term')
    bytes.set(entry.data, end + FRAME_HEADER_BYTES)
    end = sealFrame(bytes, end, { ...entry, length: entry.data.byteLength }, place)
  }
  const counted = { ...batch, entryCount: entries.length, sectors: bytes.length / SECTOR_BYTES }
  const { bytes: record, chain } = encodeRecord(counted, bytes.subarray(first, end), place.chain)
  const closing = bytes.length - SECTOR_BYTES
  for (const [kind, offset] of [['opening', 0] as const, ['closing', closing] as const]) {
    record.copy(bytes, offset + FRAME_HEADER_BYTES)
    sealFrame(bytes, offset, { kind, ...last, length: record.length }, place)
  }
  return { bytes, record, chain }
}

/** Writes the header before a payload that is already in place; returns where the next frame begins. */
function sealFrame(
  bytes: Buffer,
  offset: number,
  frame: Pick<FrameHeader, 'kind' | 'index' | 'term' | 'length'>,
  place: BatchPlace,
): number {
  const { kind, index, term, length } = frame
  assert(length <= PAYLOAD_BYTES_MAX, 'an entry of the log has a bounded size')
  const start = offset + FRAME_HEADER_BYTES
  bytes.writeUIntLE(MAGIC, offset, 3)
  bytes.writeUInt8(KIND_CODES[kind], offset + 3)
  bytes.writeUInt32LE(length, offset + 4)
  writeU64(bytes, index, offset + 8)
  writeU64(bytes, term, offset + 16)
  bytes.writeUInt32LE(crc32c(bytes.subarray(start, start + length)), offset + 24)
  bytes.writeUInt32LE(headerCheck(bytes, offset, place.salt + place.offset + offset), offset + CHECKED_BYTES)
  return start + alignUp(length)
}

function headerCheck(bytes: Buffer, offset: number, seed: number): number {
  return crc32c(bytes.subarray(offset, offset + CHECKED_BYTES), seed >>> 0)
}

/**
 * Null unless there is an intact header at `offset`. Its payload may be damaged, or reach past the end of the file.
 * `seed`: the salt plus the offset; in format version 1 only the salt.
 */
export function readFrameHeader(bytes: Buffer, offset: number, seed: number): FrameHeader | null {
  const start = offset + FRAME_HEADER_BYTES
  // The cheap test comes first: where a header is lost, this runs on every eighth byte.
  if (start > bytes.length || bytes.readUIntLE(offset, 3) !== MAGIC) return null
  if (headerCheck(bytes, offset, seed) !== bytes.readUInt32LE(offset + CHECKED_BYTES)) return null
  const kind = KINDS.get(bytes.readUInt8(offset + 3))
  assert(kind, 'an intact frame has a kind that this release knows')
  const length = bytes.readUInt32LE(offset + 4)
  return {
    kind,
    index: readU64(bytes, offset + 8),
    term: readU64(bytes, offset + 16),
    length,
    payloadCheck: bytes.readUInt32LE(offset + 24),
    start,
    end: start + alignUp(length),
  }
}

/** Null when the payload is damaged or cut off. */
export function readPayload(bytes: Buffer, { start, length, payloadCheck }: FrameHeader): Buffer | null {
  const payload = bytes.subarray(start, start + length)
  return payload.length === length && crc32c(payload) === payloadCheck ? payload : null
}

/** The record in the opening or closing frame at `offset`; null unless all of it is intact. */
export function readRecord(
  bytes: Buffer,
  offset: number,
  frame: { readonly salt: number; readonly kind: 'opening' | 'closing' },
): BatchRecord | null {
  const header = readFrameHeader(bytes, offset, frame.salt + offset)
  const payload = header?.kind === frame.kind ? readPayload(bytes, header) : null
  return payload === null ? null : decodeRecord(payload)
}
