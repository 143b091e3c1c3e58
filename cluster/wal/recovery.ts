/**
 * Reads a log directory: finds the chain of segments, replays it, proves that nothing is missing.
 *
 * Owns: which of several files make up the log. Changes nothing on the disk.
 * Knows nothing of: writing. Rule: a file is left out only when the newest chain of segments is whole without it.
 * Memory: the returned log, which a window bounds, and one segment; if the log has holes, also the segments with the holes.
 */
import { join } from 'node:path'
import type { Entry, HardState } from '../raft/types.ts'
import type { BatchReader } from './batch-reader.ts'
import { EntryIndex } from './entry-index.ts'
import type { FileOps } from './file-ops.ts'
import { TEMPORARY_SUFFIX } from './file-ops.ts'
import { FirstFormatReader } from './first-format-reader.ts'
import { readHardState } from './hard-state-file.ts'
import { isSameHead } from './log-head.ts'
import { LogImage } from './log-image.ts'
import type { LostEntry } from './lost-entry.ts'
import type { DecodedHeader, LogIdentity } from './segment-format.ts'
import { decodeSegmentHeads, FIRST_VERSION, HEADER_BYTES_MAX } from './segment-format.ts'
import type { ProvenBatch } from './segment-reader.ts'
import { SegmentReader } from './segment-reader.ts'
import type { SegmentSpan } from './segment-span.ts'
import { truncateSpans, voidSpans } from './segment-span.ts'
import { foreignLogError, WalCorruptError } from './wal-errors.ts'
import type { WalContent, WalWindow } from './wal.ts'

export interface RecoveredLog {
  readonly content: WalContent
  /** The holes in `content`, with all that is known about them. */
  readonly lost: readonly LostEntry[]
  /** Closed segments of the chain, oldest first; the last one of the chain is in `tail`. */
  readonly closed: SegmentSpan[]
  /** The index of the closed segments. */
  readonly index: EntryIndex
  /** Null in a directory without segments. */
  readonly tail: LogTail | null
  /** Files that still have their temporary name; nothing in them was ever acknowledged. */
  readonly unnamed: readonly string[]
  /** Leftovers of an interrupted deletion. */
  readonly stale: readonly string[]
  /** The leftovers belong to a log that was repaired. */
  readonly isStaleDamaged: boolean
  /** Segments of the chain with a damaged place, even if no entry was lost by it. */
  readonly damaged: readonly string[]
  /** Higher than every segment number in this directory. */
  readonly nextNumber: number
  readonly nextBatch: number
}

export interface LogTail {
  readonly path: string
  readonly head: DecodedHeader
  readonly bytes: Buffer
}

interface FoundSegment {
  readonly path: string
  readonly head: DecodedHeader
  readonly isHeadDamaged: boolean
}

const SUFFIX = '.wal'

export function segmentPath(dir: string, number: number): string {
  return join(dir, `${String(number).padStart(16, '0')}${SUFFIX}`)
}

/** `window` null: all entries are returned. */
export function recoverLog(
  files: FileOps,
  { dir, ...identity }: LogIdentity & { readonly dir: string },
  window: WalWindow | null = null,
): RecoveredLog {
  const names = files.list(dir).toSorted()
  const unnamed = names.filter((name) => name.endsWith(TEMPORARY_SUFFIX)).map((name) => join(dir, name))
  const paths = names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(dir, name))
  const found = paths.map((path) => readHead(files, path, identity))
  const chain = newestChain(found)
  const proven = readHardState(files, dir, identity)
  const { image, ...replayed } = replayChain(files, { chain, proven, window })
  checkHardState(proven, { dir, own: image.head.hardState, nextBatch: replayed.nextBatch })
  const oldest = chain[0]
  if (oldest !== undefined && !image.isWhole) throw missesBeginning(oldest)
  return {
    ...replayed,
    content: image.content,
    lost: image.lost,
    unnamed,
    stale: found.filter((segment) => !chain.includes(segment)).map((segment) => segment.path),
    isStaleDamaged: chain.some((segment) => segment.head.header.isRepaired),
    nextNumber: Math.max(0, ...found.map((segment) => segment.head.header.number)) + 1,
  }
}

interface ChainToReplay {
  readonly chain: readonly FoundSegment[]
  readonly proven: ProvenBatch | null
  readonly window: WalWindow | null
}

interface ReplayedChain extends Pick<RecoveredLog, 'closed' | 'index' | 'tail' | 'damaged' | 'nextBatch'> {
  readonly image: LogImage<LostEntry>
}

function replayChain(files: FileOps, { chain, proven, window }: ChainToReplay): ReplayedChain {
  const image = new LogImage<LostEntry>(chain[0]?.head.header.head, window)
  const closed: SegmentSpan[] = []
  const index = new EntryIndex()
  const damaged: string[] = []
  let tail: LogTail | null = null
  let before: BatchReader | null = null
  for (const segment of chain) {
    const { path, head } = segment
    const bytes = asBuffer(files.read(path, files.size(path)))
    const isLast = segment === chain.at(-1)
    const reader = readerOf({ path, bytes, head, isLast }, proven)
    checkSeam(segment, before, image)
    // The last segment is copied, and its entries are indexed then.
    replay(reader, image, { path, head, closed, index: isLast ? new EntryIndex() : index })
    ownData(image, bytes)
    if (segment.isHeadDamaged || reader.isDamaged) damaged.push(path)
    if (isLast) tail = { path, head, bytes }
    else closed.push({ number: head.header.number, path, lastLive: image.head.last.index })
    before = reader
  }
  return { image, closed, index, damaged, tail, nextBatch: before?.nextBatch ?? 1 }
}

/** The reader for the segment's format version. */
export function readerOf(
  segment: LogTail & { readonly isLast: boolean },
  proven: ProvenBatch | null,
): BatchReader {
  const { path: file, head, bytes, isLast } = segment
  const source = { file, head, bytes, isLast }
  return head.version === FIRST_VERSION ? new FirstFormatReader(source) : new SegmentReader(source, proven)
}

function readHead(files: FileOps, path: string, identity: LogIdentity): FoundSegment {
  // A segment gets its name only after its heads are durable, so a bad head is never a torn write.
  const { heads, isDamaged, wrong } = decodeSegmentHeads(asBuffer(files.read(path, HEADER_BYTES_MAX)))
  const named = heads.find(({ header }) => path.endsWith(segmentPath('', header.number)))
  const head = named ?? heads[0]
  if (head === undefined) throw new WalCorruptError({ file: path, offset: 0 }, wrong)
  const foreign = foreignLogError(path, head.header.identity, identity)
  if (foreign !== null) throw foreign
  if (named === undefined) {
    const what = `it is segment ${head.header.number} under a wrong name`
    throw new WalCorruptError({ file: path, offset: 0 }, what)
  }
  return { path, head, isHeadDamaged: isDamaged }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** From the newest segment backwards, as far as each file names the one before it. */
function newestChain(found: readonly FoundSegment[]): FoundSegment[] {
  const byNumber = new Map(found.map((segment) => [segment.head.header.number, segment]))
  const chain: FoundSegment[] = []
  let next = found.at(-1)
  while (next !== undefined) {
    chain.push(next)
    const { previous, number } = next.head.header
    next = previous < number ? byNumber.get(previous) : undefined
  }
  return chain.reverse()
}

interface ReplayPlace {
  readonly path: string
  readonly head: DecodedHeader
  readonly closed: SegmentSpan[]
  readonly index: EntryIndex
}

function replay(reader: BatchReader, image: LogImage<LostEntry>, place: ReplayPlace): void {
  const { path, index } = place
  const [salt, isFirstFormat] = [place.head.salt, place.head.version === FIRST_VERSION]
  let { offset, chain } = reader
  for (const batch of reader.batches()) {
    const { hardState, base, entries, baseRule, last, lost } = batch
    index.note({ path, salt, offset, chain, isFirstFormat }, batch)
    ;({ offset, chain } = reader)
    try {
      image.apply({ hardState, base: baseRule === 'void' ? base : null, entries }, lost)
      if (baseRule === 'forget') image.compact(base)
      if (image.head.last.index !== last.index || image.head.last.term !== last.term) {
        throw new Error(`the log should end with entry ${last.index}`)
      }
    } catch (cause) {
      const text = cause instanceof Error ? cause.message : String(cause)
      throw new WalCorruptError(
        { file: place.path, offset: reader.offset },
        `a batch does not fit: ${text}`,
        { cause },
      )
    }
    if (baseRule === 'void') voidSpans(place.closed)
    if (entries[0] !== undefined) truncateSpans(place.closed, entries[0].index)
  }
}

/** The state in a segment's head must be the state at the end of the segment before it. */
function checkSeam(segment: FoundSegment, before: BatchReader | null, image: LogImage<LostEntry>): void {
  if (before === null) return
  const { head, firstBatch, previousChain } = segment.head.header
  if (isSameHead(head, image.head) && firstBatch === before.nextBatch && previousChain === before.chain)
    return
  throw new WalCorruptError({ file: segment.path, offset: 0 }, 'it does not continue the segment before it')
}

/** Readers refuse a log that ends too early; this refuses one that was lost whole or replaced. */
function checkHardState(
  proven: ProvenBatch | null,
  log: { readonly dir: string; readonly own: HardState; readonly nextBatch: number },
): void {
  if (proven === null) return
  const { own, nextBatch } = log
  const { number, hardState } = proven.record
  const isOlder = hardState.currentTerm < own.currentTerm
  const isKept = hardState.votedFor === null || hardState.votedFor === own.votedFor
  if (number < nextBatch && (isOlder || (hardState.currentTerm === own.currentTerm && isKept))) return
  const what = `the log ends before batch ${number} or holds another vote than was flushed with it`
  throw new WalCorruptError({ file: join(log.dir, 'hard-state-0'), offset: 0 }, what)
}

function missesBeginning(oldest: FoundSegment): WalCorruptError {
  const { previous } = oldest.head.header
  return new WalCorruptError(
    { file: oldest.path, offset: 0 },
    `entries before it are missing, they were in segment ${previous}`,
  )
}

/** Copies live entries out of the segment's bytes, so that these can be freed before the next segment is read. */
function ownData(image: LogImage<LostEntry>, segment: Buffer): void {
  const live: Entry[] = []
  image.rehome((entry) => {
    if (entry.data.buffer !== segment.buffer) return null
    live.push(entry)
    return entry
  })
  const owned = Buffer.allocUnsafeSlow(live.reduce((sum, entry) => sum + entry.data.byteLength, 0))
  let offset = 0
  image.rehome((entry) => {
    if (entry.data.buffer !== segment.buffer) return null
    const data = owned.subarray(offset, offset + entry.data.byteLength)
    data.set(entry.data)
    offset += entry.data.byteLength
    return { ...entry, data }
  })
}
