/**
 * An entry whose bytes are damaged, with all that is known about it.
 *
 * Owns: the decision whether an entry from a peer is the lost entry. Knows nothing of: files, peers.
 * Rule: index and term are in the record of the batch, and in Raft they name an entry [thesis 3.5]; the check values
 * that survived must match as well, so that a peer's own damage is not copied.
 */
import { crc32c } from '@node-rs/crc32'
import type { Entry, EntryKind } from '../raft/types.ts'
import type { BatchPlace, LoggedBatch } from './frame-format.ts'
import { encodeBatch } from './frame-format.ts'
import type { WalHole } from './wal.ts'

export interface DamagedBatch {
  /** Lost entries are in it without data. */
  readonly batch: LoggedBatch
  readonly lostIndexes: ReadonlySet<number>
  readonly place: BatchPlace
  /** The chain value that the whole batch has. */
  readonly chain: number
}

export interface LostEntry extends WalHole {
  readonly term: number
  /** From the header of its frame; null when that is lost too. */
  readonly header: { readonly kind: EntryKind; readonly length: number; readonly payloadCheck: number } | null
  readonly damaged: DamagedBatch
}

/** `filling`: the entries given for the lost ones, by index. */
export function isWhatWasLost(lost: LostEntry, filling: ReadonlyMap<number, Entry>): boolean {
  const given = filling.get(lost.index)
  if (given === undefined || given.term !== lost.term) return false
  if (lost.header === null) return matchesChain(lost.damaged, filling)
  const { kind, length, payloadCheck } = lost.header
  return given.kind === kind && given.data.byteLength === length && crc32c(given.data) === payloadCheck
}

/** Encodes the batch again with the given entries. Where the batch cannot be completed, only the term decides. */
function matchesChain(damaged: DamagedBatch, filling: ReadonlyMap<number, Entry>): boolean {
  const entries: Entry[] = []
  for (const entry of damaged.batch.entries) {
    const known = damaged.lostIndexes.has(entry.index) ? filling.get(entry.index) : entry
    if (known?.term !== entry.term) return true
    entries.push(known)
  }
  return encodeBatch({ ...damaged.batch, entries }, damaged.place).chain === damaged.chain
}
