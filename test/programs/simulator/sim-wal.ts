/**
 * The WAL port over the real SegmentedLog on a simulated disk: plays the log's thread on virtual time.
 *
 * Owns: group commit, how long a flush takes, the log after a crash in the middle of one. Knows nothing of: segments, quorums.
 * Rule: the log's own code decides the content of the disk; the mirrors here only repeat its writes, for the checks.
 */
import type { Entry, LogBase } from '../../../cluster/raft/types.ts'
import { SegmentedLog } from '../../../cluster/wal/segmented-log.ts'
import type {
  Wal,
  WalBatch,
  WalContent,
  WalEvents,
  WalRepair,
  WalRange,
  WalWindow,
} from '../../../cluster/wal/wal.ts'
import type { LogMirror, MirrorWrite } from './log-mirror.ts'
import type { Random } from './random.ts'
import type { SimFiles } from './sim-files.ts'

export interface SimWalParts {
  readonly files: SimFiles
  readonly random: Random
  readonly identity: { readonly clusterId: string; readonly nodeId: string; readonly incarnation: string }
  readonly segmentBytesMax: number
  readonly window: WalWindow
  readonly now: () => number
  /** How long the next flush takes. ms */
  readonly flushMs: () => number
  readonly after: (ms: number, kind: string, run: () => void) => void
  /** Asked before every effect; false: the process is gone. */
  readonly isAlive: () => boolean
  readonly isDead: () => boolean
  /** Both mirrors of the log: in the memory of the process, and on the disk. */
  readonly memory: LogMirror
  readonly durable: () => LogMirror
  /** Gives a batch its chain values, and checks them. */
  readonly chain: (batch: WalBatch) => MirrorWrite
  /** The content found on the disk. */
  readonly onOpened: (content: WalContent, isRepaired: boolean) => void
  /** A group is on the disk, up to this batch, and no caller was notified. */
  readonly onFlushed: (batch: number) => void
  /** Confirms a batch before it is flushed. Only to show that the checks detect it. */
  readonly acksEarly: boolean
}

type Request =
  | { readonly type: 'append'; readonly batch: WalBatch; readonly mirror: MirrorWrite }
  | { readonly type: 'compact'; readonly base: LogBase }

export const WAL_DIR = '/raft'
/** One message of the log's thread carries no more. */
const GROUP_MAX = 64
const RESERVE_BYTES = 32_768

export class SimWal implements Wal {
  readonly #parts: SimWalParts
  readonly #log: SegmentedLog
  #events: WalEvents | null = null
  #waiting: Request[] = []
  #group: readonly Request[] | null = null
  #isOpening = false
  #hasFailed = false
  #isClosed = false
  #onIdle: (() => void) | null = null

  constructor(parts: SimWalParts) {
    this.#parts = parts
    const { files, segmentBytesMax, window, now, identity } = parts
    this.#log = new SegmentedLog({
      dir: WAL_DIR,
      ...identity,
      files,
      segmentBytesMax,
      window,
      reserveBytes: RESERVE_BYTES,
      onDiskFull: () => this.#events?.onDiskFull(),
      now,
    })
  }

  open(events: WalEvents): Promise<WalContent> {
    this.#events = events
    return new Promise((resolve, reject) => {
      this.#isOpening = true
      this.#parts.after(this.#parts.flushMs(), 'log opened', () => {
        this.#isOpening = false
        try {
          const content = this.#log.open()
          if (content.holes.length === 0) this.#parts.onOpened(this.#whole(content), false)
          resolve(content)
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  repair(repair: WalRepair): Promise<WalContent> {
    return new Promise((resolve, reject) => {
      this.#parts.after(this.#parts.flushMs(), 'log repaired', () => {
        try {
          const content = this.#log.repair(repair)
          this.#parts.onOpened(content, true)
          resolve(content)
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  append(batch: WalBatch): void {
    if (this.#hasFailed || this.#parts.isDead()) return
    // In memory even if the process dies in this very call: the core has decided already.
    const mirror = this.#parts.chain(batch)
    this.#parts.memory.apply(mirror)
    if (this.#parts.isAlive()) this.#request({ type: 'append', batch, mirror })
  }

  read(range: WalRange): Promise<readonly Entry[] | null> {
    return new Promise((resolve) => {
      this.#parts.after(this.#parts.flushMs(), 'log read', () => {
        if (this.#hasFailed || this.#isClosed) return resolve(null)
        try {
          resolve(this.#log.read(range))
        } catch (error) {
          this.#fail(error)
          resolve(null)
        }
      })
    })
  }

  compact(base: LogBase): void {
    if (this.#hasFailed || !this.#parts.isAlive()) return
    this.#parts.memory.forget(base)
    this.#request({ type: 'compact', base })
  }

  close(): Promise<void> {
    this.#isClosed = true
    if (this.#group === null || this.#hasFailed) return Promise.resolve()
    return new Promise((resolve) => (this.#onIdle = resolve))
  }

  /**
   * The process dies. A running flush is cut off after any of its operations. Returns the log that the disk may hold instead of the
   * durable mirror when that flush got through, or null without a running flush.
   */
  crash(): LogMirror | null {
    const group = this.#group
    const { files, random, durable } = this.#parts
    if (this.#isOpening) files.cutOff(random.below(40), () => void this.#log.open())
    if (group === null) return null
    this.#group = null
    if (!this.#hasFailed) files.cutOff(random.below(16), () => this.#perform(group))
    const instead = durable().copy()
    remember(instead, group)
    return instead
  }

  /** With the entries that only the segments hold: a start that says they are there must be able to read them. */
  #whole({ older = [], ...content }: WalContent): WalContent {
    const through = older.at(-1)?.last ?? 0
    const entries: Entry[] = []
    for (let from = older[0]?.first ?? 1; from <= through; ) {
      const found = this.#log.read({ from, through, bytesMax: Number.MAX_SAFE_INTEGER })
      if (found === null) throw new Error(`the segments do not hold entry ${from}, which a start found`)
      entries.push(...found)
      from += found.length
    }
    return { ...content, entries: [...entries, ...content.entries] }
  }

  #request(request: Request): void {
    if (this.#isClosed) throw new Error('a log is written to between open and close')
    this.#waiting.push(request)
    if (this.#parts.acksEarly && request.type === 'append') {
      this.#parts.after(0, 'log lies', () => this.#events?.onDurable(request.batch.sequence))
    }
    if (this.#group === null) this.#startGroup()
  }

  #startGroup(): void {
    const isCompact = this.#waiting[0]?.type === 'compact'
    let count = 1
    while (!isCompact && count < GROUP_MAX && this.#waiting[count]?.type === 'append') count += 1
    this.#group = this.#waiting.splice(0, count)
    this.#parts.after(this.#parts.flushMs(), 'log flushed', () => this.#finishGroup())
  }

  #finishGroup(): void {
    const group = this.#group
    if (group === null) return
    try {
      this.#perform(group)
    } catch (error) {
      this.#fail(error)
      return
    }
    remember(this.#parts.durable(), group)
    this.#parts.onFlushed(this.#log.lastBatch)
    this.#group = null
    if (this.#waiting.length > 0) this.#startGroup()
    if (!this.#parts.acksEarly) {
      for (const request of group) {
        if (request.type === 'append') this.#events?.onDurable(request.batch.sequence)
      }
    }
    if (this.#group === null) this.#onIdle?.()
  }

  #perform(group: readonly Request[]): void {
    const [first] = group
    if (first?.type === 'compact') this.#log.compact(first.base)
    else this.#log.append(group.flatMap((request) => (request.type === 'append' ? [request.batch] : [])))
  }

  #fail(error: unknown): void {
    this.#hasFailed = true
    this.#waiting = []
    this.#events?.onFatal(error instanceof Error ? error : new Error(String(error)))
    this.#onIdle?.()
  }
}

function remember(mirror: LogMirror, group: readonly Request[]): void {
  for (const request of group) {
    if (request.type === 'append') mirror.apply(request.mirror)
    else mirror.forget(request.base)
  }
}
