/**
 * The Raft log in segment files, synchronous; it runs on a thread of its own.
 *
 * Owns: the open segment, rollover, deletion, the rewrite of the tail at open and of the whole log after damage.
 * Knows nothing of: threads, messages, waiting callers.
 * Rule: a call that returns has made its bytes durable; after one call has thrown, every later call throws.
 *
 * A new segment is written under a temporary name, fsynced, renamed, its directory fsynced, and it is read back before
 * anything else happens. At open the valid part of the last segment is copied into a new one that way: after a failed
 * fsync the page cache may show bytes that are not on the disk, so bytes that were read may not be durable.
 * A damaged log is written again into one segment, however large: only a single rename switches from one to the other. For that it
 * is read whole; a log without damage is opened with the entries of its window.
 */
import assert from 'node:assert/strict'
import type { MetadataCipher } from '../base/metadata-cipher.ts'
import type { Entry, LogBase } from '../raft/types.ts'
import { mergeBatches } from './batch-group.ts'
import type { BaseRule } from './batch-record.ts'
import { encodeRecord } from './batch-record.ts'
import { batchRuns } from './batch-runs.ts'
import { setAside } from './damaged-files.ts'
import { EntryIndex } from './entry-index.ts'
import { endOf } from './entry-spans.ts'
import type { FileOps } from './file-ops.ts'
import { nodeFileOps } from './file-ops.ts'
import type { LoggedBatch } from './frame-format.ts'
import { encodedBytes } from './frame-format.ts'
import type { WrittenRecord } from './hard-state-file.ts'
import { HardStateFiles } from './hard-state-file.ts'
import type { LogHead } from './log-head.ts'
import { EMPTY_HEAD, isSameHardState, withBatch, withCompaction } from './log-head.ts'
import { isWhatWasLost } from './lost-entry.ts'
import type { WalMetrics } from './measured-file-ops.ts'
import { repairedLog } from './log-repair.ts'
import { readRange } from './range-read.ts'
import type { LogTail, RecoveredLog } from './recovery.ts'
import { readerOf, recoverLog, segmentPath } from './recovery.ts'
import { ReservedFileOps } from './reserve.ts'
import { openedContent, openedEntries, sealedEntries } from './sealed-entries.ts'
import type { LogIdentity, SegmentHeader } from './segment-format.ts'
import type { SegmentSpan } from './segment-span.ts'
import { takeDead, truncateSpans, voidSpans } from './segment-span.ts'
import { SegmentWriter } from './segment-writer.ts'
import { readBackErrorOf, writeErrorOf } from './wal-errors.ts'
import type { WalBatch, WalContent, WalRepair, WalRange, WalWindow } from './wal.ts'

export interface SegmentedLogOptions extends LogIdentity {
  readonly dir: string
  /** A segment is closed before a batch would make it larger than this. Bytes. */
  readonly segmentBytesMax?: number
  /** The entries of a log without damage that `open` returns; null or absent: all. */
  readonly window?: WalWindow | null
  /** Space reserved for a full disk; 0 for none. */
  readonly reserveBytes?: number
  /** Called each time the reserve was released. */
  readonly onDiskFull?: () => void
  readonly files?: FileOps
  /** Seals the data of entries; null or absent: they lie in the segments as they are. */
  readonly cipher?: MetadataCipher | null
  /** Monotonic milliseconds, to measure fsyncs with. */
  readonly now: () => number
}

export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024
export const RESERVE_BYTES = 64 * 1024 * 1024

type Lineage = Pick<SegmentHeader, 'previous' | 'replaces' | 'previousChain' | 'isRepaired'>

const FIRST_SEGMENT: Lineage = { previous: 0, replaces: 0, previousChain: 0, isRepaired: false }

export class SegmentedLog {
  readonly #options: SegmentedLogOptions
  readonly #identity: LogIdentity
  readonly #cipher: MetadataCipher | null
  readonly #segmentBytesMax: number
  readonly #files: ReservedFileOps
  readonly #hardStateFiles: HardStateFiles
  #head: LogHead = EMPTY_HEAD
  #nextBatch = 1
  #nextNumber = 1
  #closed: SegmentSpan[] = []
  /** The index of the closed segments and of the open one. */
  #index = new EntryIndex()
  #segment: SegmentWriter | null = null
  /** Not null: the log has holes, and nothing on the disk was changed yet. */
  #holed: RecoveredLog | null = null
  #failure: Error | null = null

  constructor(options: SegmentedLogOptions) {
    const { dir, clusterId, nodeId, incarnation, reserveBytes = 0, files = nodeFileOps } = options
    this.#options = options
    this.#identity = { clusterId, nodeId, incarnation }
    this.#cipher = options.cipher ?? null
    this.#segmentBytesMax = options.segmentBytesMax ?? SEGMENT_BYTES_MAX
    const onReleased = () => options.onDiskFull?.()
    this.#files = new ReservedFileOps(files, options.now, { dir, bytes: reserveBytes, onReleased })
    this.#hardStateFiles = new HardStateFiles(this.#files, dir, this.#identity)
  }

  metrics(): WalMetrics {
    return this.#files.metrics()
  }

  /** Number of the last batch that was flushed. */
  get lastBatch(): number {
    return this.#nextBatch - 1
  }

  /** Reports damage that cannot be repaired, logs of other nodes and holes before it changes anything on the disk. */
  open(): WalContent {
    assert(this.#segment === null && this.#holed === null, 'a log is opened once')
    this.#orDie(() => this.#files.makeDir(this.#options.dir))
    const recovered = this.#recover()
    if (recovered.lost.length > 0) this.#holed = recovered
    else this.#orDie(() => this.#start(recovered))
    return { ...this.#opened(recovered.content), lastBatch: recovered.nextBatch - 1 }
  }

  /** Reserves space for a full disk. A step of its own: at a first start it takes longer than `open`. */
  makeReserve(): void {
    assert(this.#holed === null, 'a log with holes changes nothing on the disk')
    this.#orDie(() => this.#files.makeReserve())
  }

  /** One step towards a reserve that was released; true if another step must follow. */
  refillReserve(): boolean {
    return this.#orDie(() => this.#files.refillReserve())
  }

  releaseReserve(): void {
    this.#orDie(() => this.#files.releaseReserve())
  }

  /** Writes the log again with its holes closed; the damaged files are kept in `damaged`. */
  repair(repair: WalRepair): WalContent {
    return this.#orDie(() => {
      const holed = this.#holed
      assert(holed, 'only a log with holes is repaired')
      const lost = new Map(holed.lost.map((entry) => [entry.index, entry]))
      const log = repairedLog(holed.content, this.#sealedRepair(repair), (index, filling) => {
        const entry = lost.get(index)
        return entry !== undefined && isWhatWasLost(entry, filling)
      })
      const content = { hardState: holed.content.hardState, ...log, holes: [] }
      this.#start({ ...holed, content })
      this.#holed = null
      return this.#opened(content)
    })
  }

  /** Makes all batches durable with one write and one fdatasync, if their entries have one term. */
  append(batches: readonly WalBatch[]): void {
    const { base, entries } = mergeBatches(batches)
    this.#orDie(() => {
      // Each batch is checked by itself: a later batch that replaces an invalid one must not hide it.
      const next = batches.reduce(withBatch, this.#head)
      this.#commit(next, base === null ? 'none' : 'void', sealedEntries(entries, this.#cipher))
      if (base !== null) this.#deleteDead()
    })
  }

  /** Records durably where the log begins now, then deletes the segments that are wholly before it. */
  compact(base: LogBase): void {
    this.#orDie(() => {
      const next = withCompaction(this.#head, base)
      if (next === this.#head) return
      this.#commit(next, 'forget', [])
      this.#deleteDead()
    })
  }

  /** Null when the segments do not hold the first entry. Throws `log_unreadable`: then no part of the log can be trusted. */
  read(range: WalRange): readonly Entry[] | null {
    if (this.#failure !== null) throw this.#failure
    try {
      const found = readRange(this.#files, this.#index, range)
      return found === null ? null : openedEntries(found, this.#cipher, this.#options.dir)
    } catch (error) {
      this.#failure = readBackErrorOf(this.#options.dir, error)
      throw this.#failure
    }
  }

  close(): void {
    this.#segment?.close()
    this.#segment = null
    this.#hardStateFiles.close()
    this.#failure ??= new Error('The log is closed')
  }

  #opened(content: WalContent): WalContent {
    return openedContent(content, this.#cipher, this.#options.dir)
  }

  #sealedRepair(repair: WalRepair): WalRepair {
    return 'base' in repair ? repair : { committed: sealedEntries(repair.committed, this.#cipher) }
  }

  #orDie<T>(action: () => T): T {
    if (this.#failure !== null) throw this.#failure
    try {
      return action()
    } catch (cause) {
      this.#failure = writeErrorOf(this.#options.dir, cause)
      throw this.#failure
    }
  }

  #recover(): RecoveredLog {
    const place = { dir: this.#options.dir, ...this.#identity }
    const recovered = recoverLog(this.#files, place, this.#options.window)
    const isWritten = recovered.lost.length > 0 || recovered.damaged.length > 0
    return isWritten ? recoverLog(this.#files, place) : recovered
  }

  #start(recovered: RecoveredLog): void {
    const { content, tail, stale, isStaleDamaged } = recovered
    this.#files.findReserve()
    this.#delete(recovered.unnamed)
    this.#nextNumber = recovered.nextNumber
    if (tail === null) this.#segment = this.#create(FIRST_SEGMENT)
    else if (recovered.damaged.length > 0) this.#rewriteAll(recovered, tail)
    else this.#rewriteTail(recovered, tail)
    this.#segment?.publish(this.#options.dir)
    this.#head = headOf(content)
    this.#hardStateFiles.begin(this.#newestRecord())
    this.#clearAway(recovered)
    if (isStaleDamaged) setAside(this.#files, this.#options.dir, stale)
    else this.#delete(stale)
    this.#deleteDead()
  }

  #rewriteTail({ closed, index }: RecoveredLog, tail: LogTail): void {
    const { header } = tail.head
    this.#closed = closed
    this.#index = index
    this.#head = header.head
    this.#nextBatch = header.firstBatch
    const { previous, previousChain } = header
    const segment = this.#create({ previous, previousChain, replaces: header.number, isRepaired: false })
    const reader = readerOf({ ...tail, isLast: true }, null)
    for (const { lost, entries, ...state } of reader.batches()) {
      assert(lost.length === 0, 'a log with holes is not copied')
      for (const run of batchRuns({ ...state, entries, firstBatch: this.#nextBatch }))
        this.#write(segment, run)
    }
    this.#segment = segment
  }

  #rewriteAll({ content, nextBatch }: RecoveredLog, tail: LogTail): void {
    const { base, hardState, entries } = content
    this.#index.clear()
    this.#head = { hardState, base, last: base }
    this.#nextBatch = nextBatch
    const segment = this.#create({ ...FIRST_SEGMENT, replaces: tail.head.header.number, isRepaired: true })
    if (entries.length > 0) {
      const runs = { firstBatch: nextBatch, hardState, base, baseRule: 'none', entries, last: base } as const
      for (const run of batchRuns(runs)) this.#write(segment, run)
    }
    this.#segment = segment
  }

  /** Removes the files whose content the new segment took over; damaged ones are kept in `damaged`. */
  #clearAway({ tail, closed, damaged }: RecoveredLog): void {
    if (tail === null) return
    const whole = damaged.length === 0 ? [tail.path] : [...closed.map((span) => span.path), tail.path]
    setAside(this.#files, this.#options.dir, damaged)
    this.#delete(whole.filter((path) => !damaged.includes(path)))
  }

  #create(lineage: Lineage): SegmentWriter {
    const number = this.#nextNumber++
    const position = { number, firstBatch: this.#nextBatch, head: this.#head }
    const header = { identity: this.#identity, ...lineage, ...position }
    return new SegmentWriter(this.#files, segmentPath(this.#options.dir, number), header)
  }

  #commit(next: LogHead, baseRule: BaseRule, entries: LoggedBatch['entries']): void {
    const { hardState, base } = next
    const isNews = baseRule !== 'none' || !isSameHardState(hardState, this.#head.hardState)
    const last = baseRule === 'void' ? base : this.#head.last
    const runs = batchRuns({ firstBatch: this.#nextBatch, hardState, base, baseRule, entries, last })
    for (const batch of runs) {
      const segment = this.#segmentFor(encodedBytes(batch))
      this.#write(segment, batch)
      segment.sync()
      if (batch.baseRule === 'void') voidSpans(this.#closed)
      if (batch.entries[0] !== undefined) truncateSpans(this.#closed, batch.entries[0].index)
      this.#head = { hardState, base, last: batch.last }
    }
    if (isNews) this.#hardStateFiles.write(this.#newestRecord())
  }

  #write(segment: SegmentWriter, batch: LoggedBatch): void {
    this.#index.note(segment.next, batch)
    segment.append(batch)
    this.#nextBatch++
  }

  #newestRecord(): WrittenRecord {
    const segment = this.#segment
    assert(segment, 'the hard state is written beside an open segment')
    if (segment.lastRecord !== null) return { bytes: segment.lastRecord, segment: segment.number }
    // The head of the segment has the same facts; this record is for the loss of the whole segment.
    const state = {
      ...this.#head,
      number: this.#nextBatch - 1,
      baseRule: 'none',
      entryCount: 0,
      sectors: 0,
    } as const
    return { bytes: encodeRecord(state, Buffer.alloc(0), 0).bytes, segment: segment.number }
  }

  /** The open segment, or a new one when the open one is full. */
  #segmentFor(bytes: number): SegmentWriter {
    const full = this.#segment
    assert(full, 'a log is written to after it was opened and repaired')
    if (full.isEmpty || full.size + bytes <= this.#segmentBytesMax) return full
    const lineage = { ...FIRST_SEGMENT, previous: full.number, previousChain: full.chain }
    const fresh = this.#create(lineage)
    fresh.publish(this.#options.dir)
    full.close()
    this.#closed.push({ number: full.number, path: full.path, lastLive: this.#head.last.index })
    this.#segment = fresh
    return fresh
  }

  #deleteDead(): void {
    this.#delete(takeDead(this.#closed, this.#head.base.index).map((span) => span.path))
  }

  #delete(paths: readonly string[]): void {
    if (paths.length === 0) return
    for (const path of paths) this.#files.unlink(path)
    this.#files.syncDir(this.#options.dir)
  }
}

function headOf(content: WalContent): LogHead {
  return { hardState: content.hardState, base: content.base, last: endOf(content) }
}
