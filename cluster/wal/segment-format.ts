/**
 * The head of a segment file: its owner, its place in the chain of segments, the state of the log before it.
 *
 * Owns: the layout below (all numbers little-endian). Knows nothing of: frames, files.
 * Rule: the head is enough to start a replay here, so that older segments can be deleted; it is stored twice, in sectors of
 * its own, so that one lost sector does not destroy it.
 *
 *    0  8  magic "HFSTWAL1"
 *    8  4  format version
 *   12  4  length of the head, a multiple of 8
 *   16  8  segment number, never used again in this log
 *   24  8  number of the segment before it, 0 when none
 *   32  8  number of the segment whose content it took over, 0 when none
 *   40  8  number of the first batch in it
 *   48 16  base: index, term
 *   64 16  last entry before it: index, term
 *   80  8  current term
 *   88  4  chain value of the segment before it, 0 when none
 *   92  4  flags: bit 0 = a vote is present, bit 1 = it took over a log that was damaged
 *   96     clusterId, nodeId, incarnation, votedFor; each 2 bytes of length and UTF-8 bytes
 *       0..7 zeros up to a multiple of 8
 *   -8  4  mark "HEAD"
 *   -4  4  CRC32C of everything before; it also seeds every check in the segment (the salt)
 *
 * Format version 2 pads the head with zeros to whole sectors and repeats it right after; the first batch follows.
 * Format version 1 has one head and the first frame right after it; it is read, never written.
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
  /** The segments whose content it took over were damaged: their files are kept in `damaged`. */
  readonly isRepaired: boolean
}

export interface DecodedHeader {
  readonly header: SegmentHeader
  readonly version: number
  /** Where the first batch begins. */
  readonly length: number
  /** Makes every check value of this segment its own: a frame of another segment never passes for a frame of this one. */
  readonly salt: number
}

/** The unit that a disk writes whole or not at all. */
export const SECTOR_BYTES = 512
const MAGIC = Buffer.from('HFSTWAL1', 'latin1')
const MARK = Buffer.from('HEAD', 'latin1')
/** The only version without a second head. */
export const FIRST_VERSION = 1
const FORMAT_VERSION = 2
const FIXED_BYTES = 96
const TRAILER_BYTES = 8
const NAME_BYTES_MAX = 255
const HAS_VOTE = 1
const IS_REPAIRED = 2
/** Four names of the largest size fit. */
const HEAD_SECTORS_MAX = 3
export const HEADER_BYTES_MAX = 2 * HEAD_SECTORS_MAX * SECTOR_BYTES

export function encodeSegmentHeader(header: SegmentHeader): { bytes: Buffer; salt: number } {
  const { identity, head } = header
  const { votedFor } = head.hardState
  const names = [identity.clusterId, identity.nodeId, identity.incarnation, votedFor ?? ''].map(encodeName)
  const used = FIXED_BYTES + names.reduce((sum, name) => sum + name.length, 0)
  const length = alignUp(used) + TRAILER_BYTES
  const copyLength = alignUp(length, SECTOR_BYTES)
  const bytes = Buffer.alloc(2 * copyLength)
  MAGIC.copy(bytes, 0)
  bytes.writeUInt32LE(FORMAT_VERSION, 8)
  bytes.writeUInt32LE(length, 12)
  const numbers = [header.number, header.previous, header.replaces, header.firstBatch]
  numbers.push(head.base.index, head.base.term, head.last.index, head.last.term, head.hardState.currentTerm)
  for (const [position, number] of numbers.entries()) writeU64(bytes, number, 16 + 8 * position)
  bytes.writeUInt32LE(header.previousChain, 88)
  bytes.writeUInt32LE((votedFor === null ? 0 : HAS_VOTE) | (header.isRepaired ? IS_REPAIRED : 0), 92)
  Buffer.concat(names).copy(bytes, FIXED_BYTES)
  MARK.copy(bytes, length - TRAILER_BYTES)
  const salt = crc32c(bytes.subarray(0, length - 4))
  bytes.writeUInt32LE(salt, length - 4)
  bytes.copy(bytes, copyLength, 0, copyLength)
  return { bytes, salt }
}

/** The intact heads at the beginning of a file, and whether one of them is damaged. */
export interface FoundHeads {
  /** The heads that can be read, each once. */
  readonly heads: readonly DecodedHeader[]
  /** A copy cannot be read, or differs from the other. */
  readonly isDamaged: boolean
  /** The fault of the first copy, when it cannot be read. */
  readonly wrong: string
}

export function decodeSegmentHeads(bytes: Buffer): FoundHeads {
  const first = decodeCopy(bytes, 0)
  const second = secondCopy(bytes)
  if (second === null && typeof first !== 'string' && first.version === FIRST_VERSION)
    return { heads: [first], isDamaged: false, wrong: '' }
  const heads = [first, second].filter((copy) => copy !== null && typeof copy !== 'string')
  const isSame = heads.length === 2 && heads[0]?.salt === heads[1]?.salt
  return {
    heads: isSame ? heads.slice(0, 1) : heads,
    isDamaged: !isSame,
    wrong: typeof first === 'string' ? first : '',
  }
}

/** The first copy may be damaged, so its length is not used. */
function secondCopy(bytes: Buffer): DecodedHeader | null {
  for (let offset = SECTOR_BYTES; offset <= HEAD_SECTORS_MAX * SECTOR_BYTES; offset += SECTOR_BYTES) {
    const copy = decodeCopy(bytes, offset)
    if (typeof copy !== 'string' && copy.length === 2 * offset) return copy
  }
  return null
}

/** Returns the fault when the bytes at `offset` are not a whole, intact head. */
function decodeCopy(file: Buffer, offset: number): DecodedHeader | string {
  const bytes = file.subarray(offset)
  if (bytes.length < FIXED_BYTES + TRAILER_BYTES) return 'the segment head is cut off'
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return 'this is not a log segment'
  const length = bytes.readUInt32LE(12)
  if (length > HEADER_BYTES_MAX || length % 8 !== 0 || length < FIXED_BYTES + TRAILER_BYTES)
    return 'the segment head is damaged'
  if (length > bytes.length) return 'the segment head is cut off'
  const salt = bytes.readUInt32LE(length - 4)
  if (crc32c(bytes.subarray(0, length - 4)) !== salt) return 'the segment head is damaged'
  const version = bytes.readUInt32LE(8)
  if (version !== FIRST_VERSION && version !== FORMAT_VERSION)
    return `format version ${version} is not known to this release`
  const end = version === FIRST_VERSION ? length : 2 * alignUp(length, SECTOR_BYTES)
  return { header: readHeader(bytes), version, length: end, salt }
}

function readHeader(bytes: Buffer): SegmentHeader {
  const u64 = (offset: number) => readU64(bytes, offset)
  const { names } = decodeNames(bytes, FIXED_BYTES, 4)
  const [clusterId = '', nodeId = '', incarnation = '', vote = ''] = names
  const flags = bytes.readUInt32LE(92)
  const votedFor = (flags & HAS_VOTE) === 0 ? null : vote
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
    isRepaired: (flags & IS_REPAIRED) !== 0,
  }
}

export function encodeName(name: string): Buffer {
  const text = Buffer.from(name, 'utf8')
  assert(text.length <= NAME_BYTES_MAX, `a name in the log is at most ${NAME_BYTES_MAX} bytes long`)
  const bytes = Buffer.alloc(2 + text.length)
  bytes.writeUInt16LE(text.length, 0)
  text.copy(bytes, 2)
  return bytes
}

export function decodeNames(bytes: Buffer, start: number, count: number): { names: string[]; end: number } {
  const names: string[] = []
  let end = start
  while (names.length < count) {
    const from = end + 2
    end = from + bytes.readUInt16LE(end)
    names.push(bytes.toString('utf8', from, end))
  }
  return { names, end }
}

export function alignUp(length: number, unit = 8): number {
  return Math.ceil(length / unit) * unit
}
