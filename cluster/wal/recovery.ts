/**
 * Reads a log directory: finds the chain of segments, replays it, proves that nothing is missing.
 *
 * Owns: what counts as the log when several files lie there. Changes nothing on the disk.
 * Knows nothing of: writing. Rule: a file is left out only when the newest chain of segments is whole without it.
 * Memory: what is returned, and one segment.
 */
import { join } from 'node:path'
import type { Entry } from '../raft/types.ts'
import type { FileOps } from './file-ops.ts'
import { isSameHead } from './log-head.ts'
import { LogImage } from './log-image.ts'
import type { DecodedHeader, LogIdentity } from './segment-format.ts'
import { decodeSegmentHeader, HEADER_BYTES_MAX } from './segment-format.ts'
import { SegmentReader } from './segment-reader.ts'
import type { SegmentSpan } from './segment-span.ts'
import { truncateSpans, voidSpans } from './segment-span.ts'
import { foreignLogError, WalCorruptError } from './wal-errors.ts'
import type { WalContent } from './wal.ts'

export interface RecoveredLog {
  readonly content: WalContent
  /** Closed segments of the chain, oldest first; the last one of the chain is in `tail`. */
  readonly closed: SegmentSpan[]
  /** Null in a directory without segments. */
  readonly tail: { readonly path: string; readonly head: DecodedHeader; readonly bytes: Buffer } | null
  /** Files that never got their name; nothing in them was ever acknowledged. */
  readonly unnamed: readonly string[]
  /** Leftovers of interrupted deletions. */
  readonly stale: readonly string[]
  /** Higher than every number ever seen here. */
  readonly nextNumber: number
}

interface FoundSegment {
  readonly path: string
  readonly head: DecodedHeader
}

const SUFFIX = '.wal'
export const TEMPORARY_SUFFIX = '.tmp'

export function segmentPath(dir: string, number: number): string {
  return join(dir, `${String(number).padStart(16, '0')}${SUFFIX}`)
}

export function recoverLog(files: FileOps, dir: string, identity: LogIdentity): RecoveredLog {
  const names = files.list(dir).toSorted()
  const unnamed = names
    .filter((name) => name.endsWith(`${SUFFIX}${TEMPORARY_SUFFIX}`))
    .map((name) => join(dir, name))
  const paths = names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(dir, name))
  const found = paths.map((path) => ({ path, head: readHead(files, path, identity) }))
  const chain = newestChain(found)
  const image = new LogImage(chain[0]?.head.header.head)
  const closed: SegmentSpan[] = []
  let tail: RecoveredLog['tail'] = null
  let before: SegmentReader | null = null
  for (const [position, segment] of chain.entries()) {
    const bytes = readWhole(files, segment.path)
    const isLast = position === chain.length - 1
    const reader = new SegmentReader({ file: segment.path, bytes, head: segment.head, isLast })
    checkSeam(segment, before, image)
    replay(reader, image, { segment, closed })
    ownData(image, bytes)
    if (isLast) tail = { ...segment, bytes }
    else
      closed.push({ number: segment.head.header.number, path: segment.path, lastLive: image.head.last.index })
    before = reader
  }
  const oldest = chain[0]
  if (oldest !== undefined && !image.isWhole) throw holeBefore(oldest)
  return {
    content: image.content,
    closed,
    tail,
    unnamed,
    stale: found.filter((segment) => !chain.includes(segment)).map((segment) => segment.path),
    nextNumber: Math.max(0, ...found.map((segment) => segment.head.header.number)) + 1,
  }
}

function readHead(files: FileOps, path: string, identity: LogIdentity): DecodedHeader {
  // A segment gets its name only after its head is durable, so a bad head is never a torn write.
  const head = decodeSegmentHeader(asBuffer(files.read(path, HEADER_BYTES_MAX)))
  if (typeof head === 'string') throw new WalCorruptError({ file: path, offset: 0 }, head)
  for (const field of ['clusterId', 'nodeId', 'incarnation'] as const) {
    const pair = { field, found: head.header.identity[field], expected: identity[field] }
    if (pair.found !== pair.expected) throw foreignLogError(path, pair)
  }
  if (!path.endsWith(segmentPath('', head.header.number))) {
    throw new WalCorruptError(
      { file: path, offset: 0 },
      `it is segment ${head.header.number} under a wrong name`,
    )
  }
  return head
}

function readWhole(files: FileOps, path: string): Buffer {
  return asBuffer(files.read(path, files.size(path)))
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

function replay(
  reader: SegmentReader,
  image: LogImage,
  place: { segment: FoundSegment; closed: SegmentSpan[] },
): void {
  for (const batch of reader.batches()) {
    const { hardState, base, entries, baseRule } = batch
    try {
      image.apply({ hardState, base: baseRule === 'void' ? base : null, entries })
      if (baseRule === 'forget') image.compact(base)
      if (image.head.last.index !== batch.last.index || image.head.last.term !== batch.last.term) {
        throw new Error(`the log should end with entry ${batch.last.index}`)
      }
    } catch (cause) {
      const text = cause instanceof Error ? cause.message : String(cause)
      throw new WalCorruptError(
        { file: place.segment.path, offset: reader.offset },
        `a batch does not fit: ${text}`,
        { cause },
      )
    }
    if (baseRule === 'void') voidSpans(place.closed)
    if (entries[0] !== undefined) truncateSpans(place.closed, entries[0].index)
  }
}

/** What a head says of the past must be what the segments before it said. */
function checkSeam(segment: FoundSegment, before: SegmentReader | null, image: LogImage): void {
  if (before === null) return
  const { head, firstBatch, previousChain } = segment.head.header
  if (isSameHead(head, image.head) && firstBatch === before.nextBatch && previousChain === before.chain)
    return
  throw new WalCorruptError({ file: segment.path, offset: 0 }, 'it does not continue the segment before it')
}

function holeBefore(oldest: FoundSegment): WalCorruptError {
  const { previous } = oldest.head.header
  return new WalCorruptError(
    { file: oldest.path, offset: 0 },
    `entries before it are missing, they were in segment ${previous}`,
  )
}

/** Copies what is still live out of the segment's bytes, so that these can go before the next segment is read. */
function ownData(image: LogImage, segment: Buffer): void {
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
