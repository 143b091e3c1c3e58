/**
 * Frames: one for each entry, and a commit frame that closes a batch (one batch = one fdatasync).
 *
 * Owns: the layout below (all numbers little-endian, every frame begins at a multiple of 8).
 * Knows nothing of: files, replay. Rule: a frame begins and a commit frame also ends with bytes that are never
 * zero, so that a sector which was never written cannot be taken for a damaged one, nor the reverse.
 *
 *   frame      0  3  magic "HFW"
 *              3  1  kind: 1 noop, 2 command, 3 configuration, 16 commit
 *              4  4  payload length
 *              8 16  index, term (commit: of the last entry of the log)
 *             24  4  CRC32C of the payload
 *             28  4  CRC32C of bytes 0..27, seeded with the salt of the segment
 *             32     payload, then zeros up to a multiple of 8
 *
 *   commit     0  8  batch number, rising by one over all segments
 *   payload    8  8  current term
 *             16 16  base: index, term
 *             32  1  base rule: 0 none, 1 everything before is void, 2 entries up to it are forgotten
 *             33  1  1 = a vote is present
 *             34  2  length of votedFor
 *             36  4  number of entries in the batch
 *             40     votedFor, then zeros up to a multiple of 8
 *             -8  4  chain: CRC32C of the entry frames of the batch and of this payload so far, seeded with the chain
 *                    value of the batch before (the first in a segment: with its salt)
 *             -4  4  mark "DONE"
 */
import assert from 'node:assert/strict'
import { crc32c } from '@node-rs/crc32'
import type { Entry, EntryKind, HardState, LogBase } from '../raft/types.ts'
import { alignUp } from './segment-format.ts'
import { readU64, writeU64 } from './u64.ts'

export type BaseRule = 'none' | 'void' | 'forget'

/** What one fdatasync makes durable. */
export interface LoggedBatch {
  readonly number: number
  readonly baseRule: BaseRule
  /** The base that `baseRule` names; the base of the log when the rule is none. */
  readonly base: LogBase
  readonly entries: readonly Entry[]
  /** In force after the batch. */
  readonly hardState: HardState
  /** Last entry of the log after the batch. */
  readonly last: LogBase
}

export interface Frame {
  readonly kind: EntryKind | 'commit'
  readonly index: number
  readonly term: number
  readonly payload: Buffer
  /** Offset of the next frame. */
  readonly end: number
}

export const FRAME_HEADER_BYTES = 32
/** Larger than anything the core lets through; a length above it is never written. */
export const PAYLOAD_BYTES_MAX = 256 * 1024 * 1024
const COMMIT_FIXED_BYTES = 40
const COMMIT_TRAILER_BYTES = 8
const MAGIC = Buffer.from('HFW', 'latin1').readUIntLE(0, 3)
const DONE = Buffer.from('DONE', 'latin1').readUInt32LE(0)
const COMMIT_KIND = 16
const KIND_CODES = { noop: 1, command: 2, configuration: 3, commit: COMMIT_KIND } as const satisfies Record<
  Frame['kind'],
  number
>
const KINDS = new Map(
  Object.entries(KIND_CODES).map(([kind, code]) => [code as number, kind as Frame['kind']]),
)
const BASE_RULES: readonly BaseRule[] = ['none', 'void', 'forget']

/** What `encodeBatch` will need. */
export function encodedBytes(batch: LoggedBatch): number {
  return entriesLength(batch.entries) + FRAME_HEADER_BYTES + commitLength(batch.hardState)
}

function entriesLength(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + FRAME_HEADER_BYTES + alignUp(entry.data.byteLength), 0)
}

function commitLength({ votedFor }: HardState): number {
  return COMMIT_FIXED_BYTES + alignUp(Buffer.byteLength(votedFor ?? '', 'utf8')) + COMMIT_TRAILER_BYTES
}

/** Lays a whole batch out in one piece, ready for one write. */
export function encodeBatch(
  batch: LoggedBatch,
  seed: { readonly salt: number; readonly chain: number },
): { bytes: Buffer; chain: number } {
  const vote = Buffer.from(batch.hardState.votedFor ?? '', 'utf8')
  const bytes = Buffer.alloc(encodedBytes(batch))
  let offset = 0
  for (const entry of batch.entries) {
    bytes.set(entry.data, offset + FRAME_HEADER_BYTES)
    offset = sealFrame(bytes, { ...entry, length: entry.data.byteLength, offset, salt: seed.salt })
  }
  const payload = bytes.subarray(offset + FRAME_HEADER_BYTES)
  writeCommit(payload, batch, vote)
  const chain = chainOf(bytes.subarray(0, offset), payload, seed.chain)
  payload.writeUInt32LE(chain, payload.length - 8)
  sealFrame(bytes, { kind: 'commit', ...batch.last, length: payload.length, offset, salt: seed.salt })
  return { bytes, chain }
}

interface FrameToSeal {
  readonly kind: Frame['kind']
  readonly index: number
  readonly term: number
  readonly length: number
  readonly offset: number
  readonly salt: number
}

/** Writes the header over a payload that is in place already; returns where the next frame begins. */
function sealFrame(bytes: Buffer, frame: FrameToSeal): number {
  const { offset, length } = frame
  assert(length <= PAYLOAD_BYTES_MAX, 'an entry of the log has a bounded size')
  const start = offset + FRAME_HEADER_BYTES
  bytes.writeUIntLE(MAGIC, offset, 3)
  bytes.writeUInt8(KIND_CODES[frame.kind], offset + 3)
  bytes.writeUInt32LE(length, offset + 4)
  writeU64(bytes, frame.index, offset + 8)
  writeU64(bytes, frame.term, offset + 16)
  bytes.writeUInt32LE(crc32c(bytes.subarray(start, start + length)), offset + 24)
  bytes.writeUInt32LE(crc32c(bytes.subarray(offset, offset + 28), frame.salt), offset + 28)
  return start + alignUp(length)
}

function writeCommit(payload: Buffer, batch: LoggedBatch, vote: Buffer): void {
  writeU64(payload, batch.number, 0)
  writeU64(payload, batch.hardState.currentTerm, 8)
  writeU64(payload, batch.base.index, 16)
  writeU64(payload, batch.base.term, 24)
  payload.writeUInt8(BASE_RULES.indexOf(batch.baseRule), 32)
  payload.writeUInt8(batch.hardState.votedFor === null ? 0 : 1, 33)
  payload.writeUInt16LE(vote.length, 34)
  payload.writeUInt32LE(batch.entries.length, 36)
  vote.copy(payload, COMMIT_FIXED_BYTES)
  payload.writeUInt32LE(DONE, payload.length - 4)
}

function chainOf(entryFrames: Buffer, commitPayload: Buffer, seed: number): number {
  return crc32c(
    commitPayload.subarray(0, commitPayload.length - COMMIT_TRAILER_BYTES),
    crc32c(entryFrames, seed),
  )
}

/**
 * The frame at `offset`, or how far the bytes reach that would have to be there for it to be whole:
 * `badEnd` past the end of `bytes` says that the frame is cut off.
 */
export function decodeFrame(
  bytes: Buffer,
  offset: number,
  salt: number,
): Frame | { readonly badEnd: number } {
  const start = offset + FRAME_HEADER_BYTES
  if (start > bytes.length || bytes.readUIntLE(offset, 3) !== MAGIC) return { badEnd: start }
  if (crc32c(bytes.subarray(offset, offset + 28), salt) !== bytes.readUInt32LE(offset + 28))
    return { badEnd: start }
  const length = bytes.readUInt32LE(offset + 4)
  const end = start + alignUp(length)
  if (end > bytes.length) return { badEnd: end }
  const payload = bytes.subarray(start, start + length)
  const kind = KINDS.get(bytes.readUInt8(offset + 3))
  if (kind === undefined || crc32c(payload) !== bytes.readUInt32LE(offset + 24)) return { badEnd: end }
  return { kind, index: readU64(bytes, offset + 8), term: readU64(bytes, offset + 16), payload, end }
}

export function isCommitFrame(bytes: Buffer, offset: number, salt: number): boolean {
  // The cheap test first: this runs on every eighth byte of a damaged tail.
  if (bytes.readUInt8(offset + 3) !== COMMIT_KIND || bytes.readUIntLE(offset, 3) !== MAGIC) return false
  const frame = decodeFrame(bytes, offset, salt)
  return 'kind' in frame && frame.kind === 'commit'
}

export interface DecodedCommit extends Omit<LoggedBatch, 'entries'> {
  readonly entryCount: number
  readonly chain: number
}

/** Reads the commit frame that closes `entryFrames`; returns what is wrong when it does not. */
export function decodeCommit(frame: Frame, entryFrames: Buffer, chain: number): DecodedCommit | string {
  const { payload } = frame
  if (payload.length < COMMIT_FIXED_BYTES + COMMIT_TRAILER_BYTES) return 'a commit frame is too short'
  const stored = payload.readUInt32LE(payload.length - 8)
  if (chainOf(entryFrames, payload, chain) !== stored)
    return 'a batch does not match the check value in its commit frame'
  const baseRule = BASE_RULES[payload.readUInt8(32)]
  if (baseRule === undefined) return 'a commit frame has a rule that is not known to this release'
  const vote = payload.toString('utf8', COMMIT_FIXED_BYTES, COMMIT_FIXED_BYTES + payload.readUInt16LE(34))
  return {
    number: readU64(payload, 0),
    baseRule,
    base: { index: readU64(payload, 16), term: readU64(payload, 24) },
    hardState: { currentTerm: readU64(payload, 8), votedFor: payload.readUInt8(33) === 0 ? null : vote },
    last: { index: frame.index, term: frame.term },
    entryCount: payload.readUInt32LE(36),
    chain: stored,
  }
}
