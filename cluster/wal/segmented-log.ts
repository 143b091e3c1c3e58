/**
 * The Raft log in segment files, synchronous; it lives on a thread of its own.
 *
 * Owns: the open segment, rollover, deletion, the rewrite of the tail at open.
 * Knows nothing of: threads, messages, who waits for an answer.
 * Rule: a call that returns has made its bytes durable; after one that threw, every call throws for ever.
 *
 * A new segment is written under a temporary name, fsynced, renamed, and its directory fsynced before anything else
 * happens. At open the valid part of the last segment is copied into a new one that way: after a failed fsync the
 * page cache may show bytes that are not on the disk, and what has been read is no proof of what is kept.
 */
import assert from 'node:assert/strict'
import type { LogBase } from '../raft/types.ts'
import { mergeBatches } from './batch-group.ts'
import type { FileOps } from './file-ops.ts'
import { nodeFileOps } from './file-ops.ts'
import type { BaseRule, LoggedBatch } from './frame-format.ts'
import { encodedBytes } from './frame-format.ts'
import type { LogHead } from './log-head.ts'
import { EMPTY_HEAD, withBatch, withCompaction } from './log-head.ts'
import type { WalMetrics } from './measured-file-ops.ts'
import { MeasuredFileOps } from './measured-file-ops.ts'
import type { RecoveredLog } from './recovery.ts'
import { recoverLog, segmentPath } from './recovery.ts'
import type { LogIdentity, SegmentHeader } from './segment-format.ts'
import { SegmentReader } from './segment-reader.ts'
import type { SegmentSpan } from './segment-span.ts'
import { takeDead, truncateSpans, voidSpans } from './segment-span.ts'
import { SegmentWriter } from './segment-writer.ts'
import { writeErrorOf } from './wal-errors.ts'
import type { WalBatch, WalContent } from './wal.ts'

export interface SegmentedLogOptions extends LogIdentity {
  readonly dir: string
  /** A segment is closed before a batch would make it larger than this. Bytes. */
  readonly segmentBytesMax?: number
  readonly files?: FileOps
  /** Monotonic milliseconds, to measure fsyncs with. */
  readonly now: () => number
}

export const SEGMENT_BYTES_MAX = 64 * 1024 * 1024

type Lineage = Pick<SegmentHeader, 'previous' | 'replaces' | 'previousChain'>

export class SegmentedLog {
  readonly #options: SegmentedLogOptions
  readonly #segmentBytesMax: number
  readonly #files: MeasuredFileOps
  #head: LogHead = EMPTY_HEAD
  #nextBatch = 1
  #nextNumber = 1
  #closed: SegmentSpan[] = []
  #segment: SegmentWriter | null = null
  #failure: Error | null = null

  constructor(options: SegmentedLogOptions) {
    this.#options = options
    this.#segmentBytesMax = options.segmentBytesMax ?? SEGMENT_BYTES_MAX
    this.#files = new MeasuredFileOps(options.files ?? nodeFileOps, options.now)
  }

  metrics(): WalMetrics {
    return this.#files.metrics()
  }

  /** Damage and foreign logs are thrown before anything on the disk has been changed. */
  open(): WalContent {
    assert(this.#segment === null, 'a log is opened once')
    this.#orDie(() => this.#files.makeDir(this.#options.dir))
    const recovered = recoverLog(this.#files, this.#options.dir, this.#options)
    this.#orDie(() => {
      this.#delete(recovered.unnamed)
      this.#begin(recovered)
      this.#delete([...recovered.stale, ...(recovered.tail === null ? [] : [recovered.tail.path])])
      this.#deleteDead()
    })
    return recovered.content
  }

  /** Makes all of them durable with one write and one fdatasync. */
  append(batches: readonly WalBatch[]): void {
    const { base, entries } = mergeBatches(batches)
    this.#orDie(() => {
      // One by one: an unlawful batch must not hide behind a later one that replaces it.
      const next = batches.reduce(withBatch, this.#head)
      this.#commit(next, base === null ? 'none' : 'void', entries)
      if (base !== null) voidSpans(this.#closed)
      if (entries[0] !== undefined) truncateSpans(this.#closed, entries[0].index)
      if (base !== null) this.#deleteDead()
    })
  }

  /** Notes durably where the log begins now, then deletes the segments that lie wholly before it. */
  compact(base: LogBase): void {
    this.#orDie(() => {
      const next = withCompaction(this.#head, base)
      if (next === this.#head) return
      this.#commit(next, 'forget', [])
      this.#deleteDead()
    })
  }

  close(): void {
    this.#segment?.close()
    this.#segment = null
    this.#failure ??= new Error('The log is closed')
  }

  #orDie(action: () => void): void {
    if (this.#failure !== null) throw this.#failure
    try {
      action()
    } catch (cause) {
      this.#failure = writeErrorOf(this.#options.dir, cause)
      throw this.#failure
    }
  }

  #begin({ tail, content, closed, nextNumber }: RecoveredLog): void {
    this.#closed = closed
    this.#nextNumber = nextNumber
    if (tail === null) {
      this.#segment = this.#create({ previous: 0, replaces: 0, previousChain: 0 })
    } else {
      const { header } = tail.head
      this.#head = header.head
      this.#nextBatch = header.firstBatch
      this.#segment = this.#create({ ...header, replaces: header.number })
      const reader = new SegmentReader({ file: tail.path, bytes: tail.bytes, head: tail.head, isLast: true })
      for (const batch of reader.batches()) this.#segment.append(batch)
      this.#nextBatch = reader.nextBatch
      this.#head = headOf(content)
    }
    this.#segment.publish(this.#options.dir)
  }

  #create(lineage: Lineage): SegmentWriter {
    const { dir, clusterId, nodeId, incarnation } = this.#options
    const number = this.#nextNumber++
    const { previous, replaces, previousChain } = lineage
    const position = { number, firstBatch: this.#nextBatch, head: this.#head }
    const identity = { clusterId, nodeId, incarnation }
    const header = { identity, previous, replaces, previousChain, ...position }
    return new SegmentWriter(this.#files, segmentPath(dir, number), header)
  }

  #commit(next: LogHead, baseRule: BaseRule, entries: LoggedBatch['entries']): void {
    const { hardState, base, last } = next
    const batch = { number: this.#nextBatch, baseRule, base, entries, hardState, last }
    const segment = this.#segmentFor(encodedBytes(batch))
    segment.append(batch)
    segment.sync()
    this.#nextBatch++
    this.#head = next
  }

  /** The open segment, or a fresh one when the open one has no room left. */
  #segmentFor(bytes: number): SegmentWriter {
    const full = this.#segment
    assert(full, 'a log is written to after it was opened')
    if (full.isEmpty || full.size + bytes <= this.#segmentBytesMax) return full
    const fresh = this.#create({ previous: full.number, replaces: 0, previousChain: full.chain })
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
  const { index, term } = content.entries.at(-1) ?? content.base
  return { hardState: content.hardState, base: content.base, last: { index, term } }
}
