/**
 * Finds the entries of one batch, also after damaged ones.
 *
 * Owns: which entries are intact and which are lost. Knows nothing of: whether a batch counts.
 * Rule: the record names the entries of the batch; a frame counts only with an intact header at its own place, and the
 * chain value proves that the frames together are those that were written.
 */
import type { Entry, EntryKind } from '../raft/types.ts'
import type { BatchRecord } from './batch-record.ts'
import { encodeRecord } from './batch-record.ts'
import type { FrameHeader } from './frame-format.ts'
import { encodeBatch, openingBytes, readFrameHeader, readPayload } from './frame-format.ts'
import type { LostEntry } from './lost-entry.ts'
import type { ByteRange } from './missing-sectors.ts'
import { SECTOR_BYTES } from './segment-format.ts'

/** A batch with at least one intact record. */
export interface KnownBatch {
  readonly bytes: Buffer
  readonly record: BatchRecord
  readonly place: { readonly salt: number; readonly offset: number; readonly chain: number }
}

export interface BatchEntries {
  /** All entries of the batch; a lost one has no data. */
  readonly entries: readonly Entry[]
  readonly lost: readonly LostEntry[]
  /** The bytes where lost entries were. */
  readonly unreadable: readonly ByteRange[]
  /** Whether the entries were written together; unknown as long as some are lost. */
  readonly chained: 'as written' | 'repaired' | 'unknown' | 'never'
}

interface FoundEntry {
  readonly header: FrameHeader & { readonly kind: EntryKind }
  /** Null when it is damaged. */
  readonly data: Buffer | null
}

export function readEntries(batch: KnownBatch): BatchEntries {
  const { bytes, record, place } = batch
  const { found, unreadable, end } = scan(batch)
  const { term } = record.last
  const entries: Entry[] = []
  const lostIndexes = new Set<number>()
  for (let index = record.last.index - record.entryCount + 1; index <= record.last.index; index++) {
    const { header, data = null } = found.get(index) ?? {}
    if (data === null) lostIndexes.add(index)
    entries.push({ index, term, kind: header?.kind ?? 'command', data: data ?? bytes.subarray(0, 0) })
  }
  const damaged = { batch: { ...record, entries }, lostIndexes, place, chain: record.chain }
  const lost = [...lostIndexes].map((index) => {
    return { index, term, header: found.get(index)?.header ?? null, damaged }
  })
  if (lost.length > 0) return { entries, lost, unreadable, chained: 'unknown' }
  const frames = bytes.subarray(place.offset + openingBytes(record), end)
  if (encodeRecord(record, frames, place.chain).chain === record.chain)
    return { entries, lost, unreadable, chained: 'as written' }
  // The chain also covers the zeros after a payload; nothing is lost when only those have changed.
  const isSame = encodeBatch(damaged.batch, place).chain === record.chain
  return { entries, lost, unreadable, chained: isSame ? 'repaired' : 'never' }
}

/** Intact frames by index, and the ranges without one. */
function scan({ bytes, record, place }: KnownBatch): {
  found: Map<number, FoundEntry>
  unreadable: ByteRange[]
  end: number
} {
  const found = new Map<number, FoundEntry>()
  const unreadable: ByteRange[] = []
  const limit = place.offset + (record.sectors - 1) * SECTOR_BYTES
  let end = place.offset + openingBytes(record)
  for (let offset = end; offset < limit; ) {
    const header = readFrameHeader(bytes, offset, place.salt + offset)
    if (header === null || !belongs(header, record)) {
      offset += 8
      continue
    }
    const data = readPayload(bytes, header)
    if (offset > end) unreadable.push({ start: end, end: offset })
    if (data === null) unreadable.push({ start: offset, end: header.end })
    found.set(header.index, { header, data })
    offset = header.end
    end = header.end
  }
  if (!found.has(record.last.index)) unreadable.push({ start: end, end: limit })
  return { found, unreadable, end }
}

function belongs(header: FrameHeader, { last, entryCount }: BatchRecord): header is FoundEntry['header'] {
  if (header.kind === 'opening' || header.kind === 'closing') return false
  return header.term === last.term && header.index > last.index - entryCount && header.index <= last.index
}
