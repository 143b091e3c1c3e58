/**
 * The WAL on a thread of its own, so that a flush never waits for the libuv pool and the main thread never waits for a flush.
 *
 * Owns: the thread and the requests in flight to it. Knows nothing of: segments.
 * Rule: the first failure of any kind (a write, the thread itself) is reported once and ends all acknowledgements.
 */
import assert from 'node:assert/strict'
import { Worker } from 'node:worker_threads'
import type { Entry, LogBase } from '../raft/types.ts'
import type { WalMetrics } from './measured-file-ops.ts'
import { NO_METRICS } from './measured-file-ops.ts'
import { RESERVE_BYTES, SEGMENT_BYTES_MAX } from './segmented-log.ts'
import type { WalReply, WalRequest, WalThreadOptions } from './wal-protocol.ts'
import { packEntries, packRepair, unpackEntries, unpackError } from './wal-protocol.ts'
import type {
  Wal,
  WalBatch,
  WalContent,
  WalEvents,
  WalRepair,
  WalRange,
  WalReserve,
  WalWindow,
} from './wal.ts'

export interface ThreadWalOptions
  extends Omit<WalThreadOptions, 'segmentBytesMax' | 'window' | 'reserveBytes' | 'witness' | 'metadataKey'> {
  readonly segmentBytesMax?: number
  readonly window?: WalWindow | null
  readonly reserveBytes?: number
  readonly witness?: string | null
  readonly metadataKey?: Uint8Array | null
}

/** The core's own limits keep bytes that are not yet durable far below this; more of them is a bug. */
const UNSYNCED_BYTES_MAX = 1024 * 1024 * 1024

const WORKER_FILE = import.meta.url.endsWith('.ts') ? './wal-worker.ts' : './wal-worker.js'

type State = 'new' | 'opening' | 'holed' | 'repairing' | 'open' | 'closing' | 'closed' | 'failed'

export class ThreadWal implements Wal {
  readonly #options: ThreadWalOptions
  #state: State = 'new'
  #worker: Worker | null = null
  /** The caller that waits for `open` or `repair`. */
  #opening: { resolve(content: WalContent): void; reject(error: Error): void } | null = null
  #exited: Promise<void> = Promise.resolve()
  #events: WalEvents | null = null
  #unsyncedBytes = 0
  /** Reads under way; the core has one for each of its readers. */
  readonly #reads = new Map<number, (entries: readonly Entry[] | null) => void>()
  #lastReadId = 0
  #metrics: WalMetrics = NO_METRICS

  constructor(options: ThreadWalOptions) {
    this.#options = options
  }

  readonly reserve: WalReserve = {
    bytes: RESERVE_BYTES,
    isHeld: () => this.#metrics.reserveBytes > 0,
    refill: () => this.#onReserve('refillReserve'),
    release: () => this.#onReserve('releaseReserve'),
  }

  /** As of the last answer of the thread. */
  metrics(): WalMetrics {
    return this.#metrics
  }

  open(events: WalEvents): Promise<WalContent> {
    assert(this.#state === 'new', 'a log is opened once')
    this.#state = 'opening'
    this.#events = events
    const defaults = { window: null, reserveBytes: RESERVE_BYTES, witness: null, metadataKey: null }
    const bounds = { segmentBytesMax: SEGMENT_BYTES_MAX, ...defaults }
    const workerData: WalThreadOptions = { ...bounds, ...this.#options }
    const worker = new Worker(new URL(WORKER_FILE, import.meta.url), { name: 'wal', workerData })
    this.#worker = worker
    worker.on('message', (reply: WalReply) => this.#receive(reply))
    worker.on('error', (cause) => this.#fail(new Error('The log thread died', { cause })))
    this.#exited = new Promise((resolve) => {
      worker.on('exit', (code) => {
        this.#fail(new Error(`The log thread ended by itself with code ${code}`))
        resolve()
      })
    })
    return this.#content()
  }

  repair(repair: WalRepair): Promise<WalContent> {
    assert(this.#state === 'holed', 'only a log with holes is repaired, and once')
    this.#state = 'repairing'
    this.#post(packRepair(repair))
    return this.#content()
  }

  append(batch: WalBatch): void {
    if (this.#state === 'failed') return
    assert(this.#state === 'open', 'a log is written to between open and close, when it has no holes')
    const { sequence, hardState, base } = batch
    const entries = packEntries(batch.entries)
    this.#unsyncedBytes += entries.data.byteLength
    assert(
      this.#unsyncedBytes <= UNSYNCED_BYTES_MAX,
      'the limits of the core bound the bytes that wait for the disk',
    )
    this.#post({ type: 'append', sequence, hardState, base, entries }, [
      entries.table.buffer,
      entries.data.buffer,
    ])
  }

  read(range: WalRange): Promise<readonly Entry[] | null> {
    if (this.#state !== 'open') return Promise.resolve(null)
    this.#lastReadId += 1
    const id = this.#lastReadId
    this.#post({ type: 'read', id, range })
    return new Promise((resolve) => void this.#reads.set(id, resolve))
  }

  compact(base: LogBase): void {
    if (this.#state === 'failed') return
    assert(this.#state === 'open', 'a log is compacted between open and close')
    this.#post({ type: 'compact', base })
  }

  /** When it resolves, all earlier batches are durable and acknowledged, unless the log has failed. Idempotent. */
  async close(): Promise<void> {
    if (this.#worker === null) return
    if (this.#state !== 'failed' && this.#state !== 'closed') this.#state = 'closing'
    this.#post({ type: 'close' })
    await this.#exited
  }

  #onReserve(type: 'refillReserve' | 'releaseReserve'): void {
    if (this.#state === 'open') this.#post({ type })
  }

  #content(): Promise<WalContent> {
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject }
    })
  }

  #post(request: WalRequest, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(request, transfer)
  }

  #receive(reply: WalReply): void {
    if (this.#state === 'failed') return
    switch (reply.type) {
      case 'opened':
      case 'repaired':
        this.#metrics = reply.metrics
        if (this.#state !== 'closing') this.#state = reply.content.holes.length > 0 ? 'holed' : 'open'
        this.#opening?.resolve(reply.content)
        this.#opening = null
        return
      case 'diskFull':
        this.#events?.onDiskFull()
        return
      case 'durable':
        this.#metrics = reply.metrics
        this.#unsyncedBytes -= reply.bytes
        for (const sequence of reply.sequences) this.#events?.onDurable(sequence)
        return
      case 'compacted':
      case 'reserved':
        this.#metrics = reply.metrics
        return
      case 'entries':
        this.#reads.get(reply.id)?.(reply.entries && unpackEntries(reply.entries))
        this.#reads.delete(reply.id)
        return
      case 'failed':
        this.#fail(unpackError(reply.error))
        return
      case 'closed':
        this.#state = 'closed'
        this.#endReads()
    }
  }

  #endReads(): void {
    for (const resolve of this.#reads.values()) resolve(null)
    this.#reads.clear()
  }

  #fail(error: Error): void {
    if (this.#state === 'failed' || this.#state === 'closed') return
    this.#state = 'failed'
    this.#endReads()
    const opening = this.#opening
    this.#opening = null
    if (opening === null) {
      this.#events?.onFatal(error)
      return
    }
    // No caller closes a log that never opened, so the thread is ended here.
    this.#post({ type: 'close' })
    opening.reject(error)
  }
}
