/**
 * How much memory the LevelDB of a state may take, and how large its tables are, derived from the memory of the machine.
 *
 * Owns: the shares and their bounds. Knows nothing of: rows. Rules: all of it together stays below a tenth of the memory, because several nodes may share a
 * machine; an empty or small state takes next to none of it, regardless of its limit.
 */
import { totalmem } from 'node:os'

const MIB = 1024 * 1024

export interface LevelSizes {
  /** Size of the write buffer; a second one exists while the first is written out. A start reads as much log. Bytes. */
  readonly writeBufferSize: number
  /** Approximate size of a table. Bytes. */
  readonly maxFileSize: number
  /** For blocks of rows, uncompressed. Bytes. */
  readonly cacheSize: number
  /** Tables whose index and filter are in memory. A read of another table opens it on the reading thread. */
  readonly maxOpenFiles: number
}

/** Larger ones mean fewer to be opened and longer compactions. */
const TABLE_BYTES = 32 * MIB
/** Index and filter of such a table, with rows of some 250 bytes that compress to a third. */
const OPEN_TABLE_BYTES = 1.5 * MIB
/** LevelDB keeps this many descriptors for files other than tables. */
const OTHER_FILES = 10

/** Shares of the memory: one part in this many. */
const WRITE_BUFFER_SHARE = 256
const CACHE_SHARE = 64
const OPEN_TABLES_SHARE = 32

const WRITE_BUFFER_MIN_BYTES = 4 * MIB
/** A node has two of them for most of its time, and a larger one saves few writes: docs/adr/0105-large-bodies-memory-and-idle.md. */
const WRITE_BUFFER_MAX_BYTES = 32 * MIB
const CACHE_MIN_BYTES = 16 * MIB
/** What it saves is the check of a block and its decompression: the system caches the tables themselves. */
const CACHE_MAX_BYTES = 128 * MIB
const OPEN_TABLES_MIN = 64
/** Each takes a descriptor or a mapping: more than a thousand exceed the usual limits of a process. */
const OPEN_TABLES_MAX = 1_000

export function levelSizes(memoryBytes: number): LevelSizes {
  const openTables = memoryBytes / OPEN_TABLES_SHARE / OPEN_TABLE_BYTES
  return {
    writeBufferSize: within(memoryBytes / WRITE_BUFFER_SHARE, WRITE_BUFFER_MIN_BYTES, WRITE_BUFFER_MAX_BYTES),
    maxFileSize: TABLE_BYTES,
    cacheSize: within(memoryBytes / CACHE_SHARE, CACHE_MIN_BYTES, CACHE_MAX_BYTES),
    maxOpenFiles: OTHER_FILES + within(openTables, OPEN_TABLES_MIN, OPEN_TABLES_MAX),
  }
}

/** Memory of the machine or the limit of its container, whichever is less. Bytes. */
export function memoryOfProcess(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

function within(wanted: number, min: number, max: number): number {
  return Math.floor(Math.min(max, Math.max(min, wanted)))
}
