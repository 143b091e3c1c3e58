/**
 * The record of a batch: everything about it except its entries.
 *
 * Owns: the layout below (all numbers little-endian). Knows nothing of: frames, files.
 * Rule: the record gives each entry of the batch an index and a term, so that a lost entry is a hole with a known index
 * and term. For that all entries of a batch have one term, and the record is written twice with each batch.
 *
 *    0  8  batch number, rising by one over all segments
 *    8  8  current term
 *   16 16  base: index, term
 *   32 16  last entry of the log after the batch: index, term; the entries of the batch end there and have this term
 *   48  4  number of entries
 *   52  4  number of sectors of the batch
 *   56  1  base rule: 0 none, 1 everything before is void, 2 entries up to it are forgotten
 *   57  1  1 = a vote is present
 *   58  2  length of votedFor
 *   60  4  zeros
 *   64     votedFor, then zeros up to a multiple of 8
 *  -16  4  chain: CRC32C of the entry frames and of the record so far, seeded with the chain value of the batch before
 *          (the first in a segment: with its salt)
 *  -12  4  zeros
 *   -8  8  mark "HFSTDONE"
 */
import assert from 'node:assert/strict'
import { crc32c } from '@node-rs/crc32'
import type { HardState, LogBase } from '../raft/types.ts'
import { alignUp } from './segment-format.ts'
import { readU64, writeU64 } from './u64.ts'

export type BaseRule = 'none' | 'void' | 'forget'

export interface BatchRecord {
  readonly number: number
  readonly baseRule: BaseRule
  /** The base that `baseRule` names; the base of the log when the rule is none. */
  readonly base: LogBase
  /** The hard state after the batch. */
  readonly hardState: HardState
  /** Last entry of the log after the batch. */
  readonly last: LogBase
  readonly entryCount: number
  readonly sectors: number
  readonly chain: number
}

const FIXED_BYTES = 64
const TRAILER_BYTES = 16
const VOTE_BYTES_MAX = 255
const DONE = Buffer.from('HFSTDONE', 'latin1')
const BASE_RULES: readonly BaseRule[] = ['none', 'void', 'forget']

export function recordBytes({ votedFor }: HardState): number {
  return FIXED_BYTES + alignUp(Buffer.byteLength(votedFor ?? '', 'utf8')) + TRAILER_BYTES
}

/** Encodes the record with its chain value; returns both. */
export function encodeRecord(
  record: Omit<BatchRecord, 'chain'>,
  entryFrames: Buffer,
  chainBefore: number,
): { bytes: Buffer; chain: number } {
  const bytes = Buffer.alloc(recordBytes(record.hardState))
  const { currentTerm, votedFor } = record.hardState
  const numbers = [record.number, currentTerm, record.base.index, record.base.term]
  numbers.push(record.last.index, record.last.term)
  for (const [position, number] of numbers.entries()) writeU64(bytes, number, 8 * position)
  bytes.writeUInt32LE(record.entryCount, 48)
  bytes.writeUInt32LE(record.sectors, 52)
  bytes.writeUInt8(BASE_RULES.indexOf(record.baseRule), 56)
  bytes.writeUInt8(votedFor === null ? 0 : 1, 57)
  const voteLength = bytes.write(votedFor ?? '', FIXED_BYTES, 'utf8')
  assert(voteLength <= VOTE_BYTES_MAX, `a vote in the log is at most ${VOTE_BYTES_MAX} bytes long`)
  bytes.writeUInt16LE(voteLength, 58)
  const chain = crc32c(bytes.subarray(0, bytes.length - TRAILER_BYTES), crc32c(entryFrames, chainBefore))
  bytes.writeUInt32LE(chain, bytes.length - TRAILER_BYTES)
  DONE.copy(bytes, bytes.length - DONE.length)
  return { bytes, chain }
}

/** Only for bytes whose check value has been compared. */
export function decodeRecord(bytes: Buffer): BatchRecord {
  const vote = bytes.toString('utf8', FIXED_BYTES, FIXED_BYTES + bytes.readUInt16LE(58))
  return {
    number: readU64(bytes, 0),
    hardState: { currentTerm: readU64(bytes, 8), votedFor: bytes.readUInt8(57) === 0 ? null : vote },
    base: { index: readU64(bytes, 16), term: readU64(bytes, 24) },
    last: { index: readU64(bytes, 32), term: readU64(bytes, 40) },
    entryCount: bytes.readUInt32LE(48),
    sectors: bytes.readUInt32LE(52),
    baseRule: baseRuleOf(bytes.readUInt8(56)),
    chain: bytes.readUInt32LE(bytes.length - TRAILER_BYTES),
  }
}

export function baseRuleOf(code: number): BaseRule {
  const rule = BASE_RULES[code]
  assert(rule, 'an intact batch has a base rule that this release knows')
  return rule
}
