/**
 * The messages between the main thread and the WAL thread.
 *
 * Owns: the form of entries in messages: one flat table and one buffer for a whole batch, which is transferred, not cloned.
 * Rule: the sender's own bytes are copied before they are transferred; the core continues to use them.
 */
import assert from 'node:assert/strict'
import type { Entry, EntryKind, HardState, LogBase } from '../raft/types.ts'
import type { WalMetrics } from './measured-file-ops.ts'
import { WalCorruptError, WalWriteError } from './wal-errors.ts'
import type { WalBatch, WalContent, WalRepair, WalRange, WalWindow } from './wal.ts'
import { StartError } from '../base/types.ts'

/** The options of the thread. */
export interface WalThreadOptions {
  readonly dir: string
  readonly clusterId: string
  readonly nodeId: string
  readonly incarnation: string
  readonly segmentBytesMax: number
  /** The entries that `open` returns; null: all. */
  readonly window: WalWindow | null
  readonly reserveBytes: number
  /** File outside of the data directory that records the number of the last flush; null: none. */
  readonly witness: string | null
  /** The key of the data directory; null: the data of entries is not sealed. */
  readonly metadataKey: Uint8Array | null
}

export interface PackedEntries {
  /** Four numbers for each entry: index, term, kind, length. */
  readonly table: Float64Array<ArrayBuffer>
  /** The data of all entries, one after another. */
  readonly data: Uint8Array<ArrayBuffer>
}

export interface AppendRequest {
  readonly type: 'append'
  readonly sequence: number
  readonly hardState: HardState | null
  readonly base: LogBase | null
  readonly entries: PackedEntries
}

export interface RepairRequest {
  readonly type: 'repair'
  /** Null: the log is repaired with `committed`. */
  readonly base: LogBase | null
  readonly committed: PackedEntries
}

export type WalRequest =
  | AppendRequest
  | RepairRequest
  | { readonly type: 'compact'; readonly base: LogBase }
  | { readonly type: 'read'; readonly id: number; readonly range: WalRange }
  | { readonly type: 'refillReserve' | 'releaseReserve' }
  | { readonly type: 'close' }

export type WalReply =
  | { readonly type: 'opened' | 'repaired'; readonly content: WalContent; readonly metrics: WalMetrics }
  | { readonly type: 'diskFull' }
  | {
      readonly type: 'durable'
      readonly sequences: readonly number[]
      readonly bytes: number
      readonly metrics: WalMetrics
    }
  | { readonly type: 'compacted' | 'reserved'; readonly metrics: WalMetrics }
  /** Null: the segments do not hold the first entry of the range. */
  | { readonly type: 'entries'; readonly id: number; readonly entries: PackedEntries | null }
  | { readonly type: 'failed'; readonly error: PackedError }
  | { readonly type: 'closed' }

const KINDS: readonly EntryKind[] = ['noop', 'command', 'configuration']
const COLUMNS = 4

export function packEntries(entries: readonly Entry[]): PackedEntries {
  const table = new Float64Array(entries.length * COLUMNS)
  const data = new Uint8Array(entries.reduce((sum, entry) => sum + entry.data.byteLength, 0))
  let offset = 0
  for (const [row, { index, term, kind, data: bytes }] of entries.entries()) {
    table.set([index, term, KINDS.indexOf(kind), bytes.byteLength], row * COLUMNS)
    data.set(bytes, offset)
    offset += bytes.byteLength
  }
  return { table, data }
}

export function unpackEntries({ table, data }: PackedEntries): Entry[] {
  const entries: Entry[] = []
  let offset = 0
  for (let row = 0; row < table.length; row += COLUMNS) {
    const [index = 0, term = 0, kindCode = 0, length = 0] = table.subarray(row, row + COLUMNS)
    const kind = KINDS[kindCode]
    assert(kind, 'both threads know the same kinds')
    entries.push({ index, term, kind, data: data.subarray(offset, offset + length) })
    offset += length
  }
  return entries
}

export function unpackBatch({ sequence, hardState, base, entries }: AppendRequest): WalBatch {
  return { sequence, hardState, base, entries: unpackEntries(entries) }
}

export function packRepair(repair: WalRepair): RepairRequest {
  return 'base' in repair
    ? { type: 'repair', base: repair.base, committed: packEntries([]) }
    : { type: 'repair', base: null, committed: packEntries(repair.committed) }
}

export function unpackRepair({ base, committed }: RepairRequest): WalRepair {
  return base === null ? { committed: unpackEntries(committed) } : { base }
}

/** The buffers of the entries' data, each once; none as long as the log needs them to close its holes. */
export function buffersOf(content: WalContent): ArrayBuffer[] {
  if (content.holes.length > 0) return []
  const buffers = new Set<ArrayBuffer>()
  for (const { data } of content.entries) if (data.buffer instanceof ArrayBuffer) buffers.add(data.buffer)
  return [...buffers]
}

/** An error loses its class and its fields between threads; this keeps the fields that the operator needs. */
export interface PackedError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly code: string
  readonly hint: string | null
  readonly place: { readonly file: string; readonly offset: number; readonly what: string } | null
  readonly cause: PackedError | null
}

export function packError(error: unknown): PackedError {
  const { name, message, stack, cause } = error instanceof Error ? error : new Error(String(error))
  const place =
    error instanceof WalCorruptError ? { file: error.file, offset: error.offset, what: error.what } : null
  const hint = error instanceof StartError ? error.hint : null
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return { name, message, stack, code, hint, place, cause: cause === undefined ? null : packError(cause) }
}

export function unpackError(packed: PackedError): Error {
  const options = packed.cause === null ? {} : { cause: unpackError(packed.cause) }
  const error = rebuild(packed, options)
  if (packed.stack !== undefined) error.stack = packed.stack
  return error
}

function rebuild({ name, message, code, hint, place }: PackedError, options: ErrorOptions): Error {
  if (place !== null) return new WalCorruptError(place, place.what, options)
  if (hint !== null) return new StartError(code, message, { ...options, hint })
  if (name === 'WalWriteError') return new WalWriteError(message, options)
  return Object.assign(new Error(message, options), { name }, code === '' ? {} : { code })
}
