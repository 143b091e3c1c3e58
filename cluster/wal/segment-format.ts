/**
 * The head of a segment file: whose log it is, where it stands in the chain of segments, what was true before it.
 *
 * Owns: the layout below (all numbers little-endian). Knows nothing of: frames, files.
 * Rule: the head alone is enough to begin a replay here, so that older segments can be deleted.
 *
 *    0  8  magic "HFSTWAL1"
 *    8  4  format version
 *   12  4  length of the head, a multiple of 8
 *   16  8  segment number, unique in this log for ever
 *   24  8  number of the segment before it, 0 when none
 *   32  8  number of the segment whose content it took over, 0 when none
 *   40  8  number of the first batch in it
 *   48 16  base: index, term
 *   64 16  last entry before it: index, term
 *   80  8  current term
 *   88  4  chain value of the segment before it, 0 when none
 *   92  4  flags: bit 0 = a vote is present
 *   96     clusterId, nodeId, incarnation, votedFor; each 2 bytes of length and UTF-8 bytes
 *       0..7 zeros up to a multiple of 8
 *   -8  4  mark "HEAD"
 *   -4  4  CRC32C of everything before; it also seeds every check in the segment (the salt)
 */
import assert from 'node:assert/strict'
import { crc32c } from '@node-rs/crc32'
import type { LogHead } from './log-head.ts'
import { readU64, writeU64 } from './u64.ts'

export interface LogIdentity {
  readonly clusterId: string
  readonly nodeId: string
  readonly incarnation: string
}

export interface SegmentHeader {
  readonly identity: LogIdentity
  readonly number: number
  readonly previous: number
  readonly replaces: number
  readonly firstBatch: number
  /** State of the log before the first batch of this segment. */
  readonly head: LogHead
  readonly previousChain: number
}

export interface DecodedHeader {
  readonly header: SegmentHeader
  readonly length: number
  /** Makes every check value of this segment its own: a frame of another segment is never taken for one of this. */
  readonly salt: number
}

const MAGIC = Buffer.from('HFSTWAL1', 'latin1')
const MARK = Buffer.from('HEAD', 'latin1')
const FORMAT_VERSION = 1
const FIXED_BYTES = 96
const TRAILER_BYTES = 8
const NAME_BYTES_MAX = 255
const HAS_VOTE = 1
export const HEADER_BYTES_MAX = 2048

export function encodeSegmentHeader(header: SegmentHeader): { bytes: Buffer; salt: number } {
  const { identity, head } = header
  const names = [
    identity.clusterId,
    identity.nodeId,
    identity.incarnation,
    head.hardState.votedFor ?? '',
  ].map(encodeName)
  const used = FIXED_BYTES + names.reduce((sum, name) => sum + name.length, 0)
  const length = alignUp(used) + TRAILER_BYTES
  const bytes = Buffer.alloc(length)
  MAGIC.copy(bytes, 0)
  bytes.writeUInt32LE(FORMAT_VERSION, 8)
  bytes.writeUInt32LE(length, 12)
  const numbers = [header.number, header.previous, header.replaces, header.firstBatch]
  numbers.push(head.base.index, head.base.term, head.last.index, head.last.term, head.hardState.currentTerm)
  for (const [position, number] of numbers.entries()) writeU64(bytes, number, 16 + 8 * position)
  bytes.writeUInt32LE(header.previousChain, 88)
  bytes.writeUInt32LE(head.hardState.votedFor === null ? 0 : HAS_VOTE, 92)
  Buffer.concat(names).copy(bytes, FIXED_BYTES)
  MARK.copy(bytes, length - TRAILER_BYTES)
  const salt = crc32c(bytes.subarray(0, length - 4))
  bytes.writeUInt32LE(salt, length - 4)
  return { bytes, salt }
}

/** Returns what is wrong when the bytes are no whole, intact head. */
export function decodeSegmentHeader(bytes: Buffer): DecodedHeader | string {
  if (bytes.length < FIXED_BYTES + TRAILER_BYTES) return 'the segment head is cut off'
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return 'this is no log segment'
  const length = bytes.readUInt32LE(12)
  if (length > HEADER_BYTES_MAX || length % 8 !== 0 || length < FIXED_BYTES + TRAILER_BYTES)
    return 'the segment head is damaged'
  if (length > bytes.length) return 'the segment head is cut off'
  const salt = bytes.readUInt32LE(length - 4)
  if (crc32c(bytes.subarray(0, length - 4)) !== salt) return 'the segment head is damaged'
  const version = bytes.readUInt32LE(8)
  if (version !== FORMAT_VERSION) return `format version ${version} is not known to this release`
  return { header: readHeader(bytes), length, salt }
}

function readHeader(bytes: Buffer): SegmentHeader {
  const u64 = (offset: number) => readU64(bytes, offset)
  const [clusterId = '', nodeId = '', incarnation = '', vote = ''] = decodeNames(bytes)
  const votedFor = (bytes.readUInt32LE(92) & HAS_VOTE) === 0 ? null : vote
  return {
    identity: { clusterId, nodeId, incarnation },
    number: u64(16),
    previous: u64(24),
    replaces: u64(32),
    firstBatch: u64(40),
    head: {
      base: { index: u64(48), term: u64(56) },
      last: { index: u64(64), term: u64(72) },
      hardState: { currentTerm: u64(80), votedFor },
    },
    previousChain: bytes.readUInt32LE(88),
  }
}

function encodeName(name: string): Buffer {
  const text = Buffer.from(name, 'utf8')
  assert(text.length <= NAME_BYTES_MAX, `a name in the log is at most ${NAME_BYTES_MAX} bytes long`)
  const bytes = Buffer.alloc(2 + text.length)
  bytes.writeUInt16LE(text.length, 0)
  text.copy(bytes, 2)
  return bytes
}

function decodeNames(bytes: Buffer): string[] {
  const names: string[] = []
  for (let offset = FIXED_BYTES; names.length < 4; ) {
    const end = offset + 2 + bytes.readUInt16LE(offset)
    names.push(bytes.toString('utf8', offset + 2, end))
    offset = end
  }
  return names
}

export function alignUp(length: number): number {
  return Math.ceil(length / 8) * 8
}
