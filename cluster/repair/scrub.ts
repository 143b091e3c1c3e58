/**
 * Reads every copy on this node's disk periodically, so that damage is found while other copies are good.
 *
 * Owns: the order, the pace, the position that survives restarts. Knows nothing of: what makes a copy good, how one is made.
 * Rules: the position moves past a copy only once it was checked and, if lost, reported to the ledger. A failed check is retried and
 * visibly delays the pass. The disk rests at least as long as it reads. The wall clock sets the pace over restarts: a wrong clock
 * makes a pass faster or slower, never less complete. A requested pass starts after the request.
 */
import type { BlobStore } from '../blobs/base/blob-store.ts'
import type { Clock } from '../base/clock.ts'
import type { BlobName, BlobRef, CopyLedger, Logger, NodeId, ScrubStatus } from '../base/types.ts'
import type { CopyCheck, CopyFinding } from './copy-check.ts'
import { type RetryLoop, StoppedError } from '../base/retry-loop.ts'
import { NOTHING_PASSED, type PassCounts, type ScrubFile, type ScrubMark } from './scrub-file.ts'
import { positionOf, restMs } from './scrub-pace.ts'
import type { Throttle } from './throttle.ts'

export interface ScrubParts {
  readonly nodeId: NodeId
  readonly store: Pick<BlobStore, 'list'>
  readonly ledger: Pick<CopyLedger, 'find' | 'lost'>
  readonly check: CopyCheck
  readonly file: Pick<ScrubFile, 'read' | 'write'>
  readonly throttle: Throttle
  readonly clock: Clock
  readonly retryLoop: RetryLoop
  readonly logger: Logger
  /** No copy stays unread for longer than this. */
  readonly everyMs: number
  /** Runs at the start of each pass except the first after a start. */
  readonly beforePass: () => Promise<void>
  /** Copies were reported as lost: there may be repair tasks. */
  readonly onLost: () => void
}

const PAGE_MAX = 64
/** A pass aims to use this share of its time, and keeps the rest for downtime and a low rate. */
const AIM = 0.9
const LOST_AT_ONCE_MAX = 256
/** How long a lost copy waits at most for others to be reported with it, and a position until it is stored. */
const REPORT_WITHIN_MS = 1_000
const KEEP_WITHIN_MS = 10_000
/** The longest rest after a slow read. */
const REST_MS_MAX = 5_000

const NEVER_STARTED: Omit<ScrubMark, 'startedAt'> = {
  lastFullAt: null,
  after: null,
  isOver: false,
  demand: null,
  passed: NOTHING_PASSED,
  answered: null,
}

export class Scrub {
  readonly #parts: ScrubParts
  #mark: ScrubMark | null = null
  #keptAt = -Infinity
  #unreported: BlobRef[] = []
  #unreportedSince = 0
  #counts = { copies: 0, bytes: 0, lost: 0, removed: 0 }
  #demand: string | null = null

  constructor(parts: ScrubParts) {
    this.#parts = parts
  }

  /** Runs one pass after another until the loop is stopped; then resolves, with the position stored if the disk permits. */
  async run(): Promise<void> {
    try {
      let mark = await this.#resume()
      for (;;) {
        if (mark.isOver || this.#isAsked(mark)) mark = await this.#beginNext(mark)
        mark = await this.#pass(mark)
      }
    } catch (cause) {
      if (!(cause instanceof StoppedError)) throw cause
      if (this.#mark !== null && this.#unreported.length === 0) await this.#keep(this.#mark)
    }
  }

  status(): ScrubStatus {
    const { startedAt = null, lastFullAt = null, after = null, isOver = false } = this.#mark ?? {}
    const progress = isOver ? 1 : positionOf(after)
    return { startedAt, lastFullAt, progress, demand: this.#demandStatus(), ...this.#counts }
  }

  /**
   * Requests one pass for each token: it reads all copies again, and rests no longer than it reads. Repeating the last token changes
   * nothing, also after a restart. Null: the current pass continues at its ordinary pace.
   */
  demand(word: string | null): void {
    if (word === this.#demand) return
    this.#demand = word
    this.#parts.retryLoop.nudge()
  }

  #demandStatus(): ScrubStatus['demand'] {
    const [word, mark] = [this.#demand, this.#mark]
    if (word === null || mark === null) return null
    if (mark.answered?.word === word) return { ...mark.answered, progress: 1, isDone: true }
    return mark.demand === word
      ? { word, ...mark.passed, progress: positionOf(mark.after), isDone: false }
      : null
  }

  /** True for a token for which no pass has started yet. */
  #isAsked({ demand, answered }: ScrubMark): boolean {
    return this.#demand !== null && this.#demand !== demand && this.#demand !== answered?.word
  }

  /** The first pass of a directory starts now; an unfinished pass continues at its position. */
  async #resume(): Promise<ScrubMark> {
    const kept = await this.#parts.file.read()
    const startedAt = this.#notInFuture(kept?.startedAt ?? Infinity)
    this.#mark = { ...NEVER_STARTED, ...kept, startedAt }
    return this.#mark
  }

  /** A start in the future comes from a clock that was wrong then, or was corrected since. */
  #notInFuture(startedAt: number): number {
    return Math.min(startedAt, this.#parts.clock.wallTime())
  }

  async #beginNext(last: ScrubMark): Promise<ScrubMark> {
    const { clock, retryLoop, everyMs, beforePass } = this.#parts
    const dueAt = this.#isAsked(last) ? 0 : this.#notInFuture(last.startedAt) + everyMs * AIM
    await retryLoop.wait(Math.max(0, dueAt - clock.wallTime()), () => this.#isAsked(last))
    await this.#reportLost()
    // Before the inventory: a pass requested during the inventory must have an inventory of its own.
    const demand = this.#isAsked(last) ? this.#demand : null
    await beforePass()
    const fresh = { demand, passed: NOTHING_PASSED, after: null, isOver: false }
    this.#mark = { ...last, ...fresh, startedAt: clock.wallTime() }
    await this.#keep(this.#mark)
    return this.#mark
  }

  async #pass(start: ScrubMark): Promise<ScrubMark> {
    const { store, retryLoop, clock, logger } = this.#parts
    let mark = start
    for (let names: readonly BlobName[] | null = null; names === null || names.length === PAGE_MAX; ) {
      const { after } = mark
      names = await retryLoop.retry('copies not listed yet', () => store.list(after, PAGE_MAX))
      for (const name of names) {
        if (this.#isAsked(mark)) return mark
        mark = await this.#step(mark, name)
      }
    }
    await this.#reportLost()
    const answered = mark.demand === null ? mark.answered : { word: mark.demand, ...mark.passed }
    this.#mark = { ...mark, answered, lastFullAt: clock.wallTime(), after: null, isOver: true }
    await this.#keep(this.#mark)
    logger.info({ durationMs: clock.wallTime() - mark.startedAt }, 'scrub of all copies done')
    return this.#mark
  }

  async #step(mark: ScrubMark, name: BlobName): Promise<ScrubMark> {
    const { check, ledger, retryLoop, throttle, clock, everyMs } = this.#parts
    // The rows may be unreadable for a while: a running node may replace a damaged state.
    const ref = await retryLoop.retry('row of copy not readable yet', async () => ledger.find(name))
    const size = ref?.size ?? 0
    await throttle.pass(size)
    const began = clock.now()
    const finding = await retryLoop.retry('copy not scrubbed yet', () => check.inFull(name))
    const readMs = clock.now() - began
    const passed = this.#count(finding, size, mark.passed)
    const next = { ...mark, passed, startedAt: this.#notInFuture(mark.startedAt), after: name }
    this.#mark = next
    const leftMs = next.startedAt + everyMs * AIM - clock.wallTime()
    const evenly = restMs({ from: positionOf(mark.after), to: positionOf(name), leftMs })
    const demand = this.#demand
    const isHurried = demand !== null && demand === mark.demand
    const rest = Math.max(isHurried ? 0 : evenly, Math.min(readMs, REST_MS_MAX))
    await this.#beforeRest(next, rest)
    await retryLoop.wait(rest, () => this.#demand !== null && this.#demand !== demand)
    return next
  }

  #count({ kind, ...found }: CopyFinding, size: number, passed: PassCounts): PassCounts {
    const bytes = kind === 'good' || kind === 'lost' ? size : 0
    this.#counts.copies++
    this.#counts.bytes += bytes
    if (kind === 'removed') this.#counts.removed++
    if ('ref' in found) {
      if (this.#unreported.length === 0) this.#unreportedSince = this.#parts.clock.now()
      this.#unreported.push(found.ref)
    }
    const lost = passed.lost + (kind === 'lost' ? 1 : 0)
    return { copies: passed.copies + 1, bytes: passed.bytes + bytes, lost }
  }

  /** Lost copies are reported together, but none waits long; a position is stored only when all lost copies before it are reported. */
  async #beforeRest(mark: ScrubMark, rest: number): Promise<void> {
    const until = this.#parts.clock.now() + rest
    const isDue =
      this.#unreported.length >= LOST_AT_ONCE_MAX || until - this.#unreportedSince >= REPORT_WITHIN_MS
    if (this.#unreported.length > 0 && isDue) await this.#reportLost()
    if (this.#unreported.length === 0 && until - this.#keptAt >= KEEP_WITHIN_MS) await this.#keep(mark)
  }

  async #reportLost(): Promise<void> {
    if (this.#unreported.length === 0) return
    const { nodeId, ledger, retryLoop, onLost } = this.#parts
    await retryLoop.retry('lost copies not reported yet', () => ledger.lost(nodeId, this.#unreported))
    this.#counts.lost += this.#unreported.length
    this.#unreported = []
    onLost()
  }

  /** If a position cannot be stored, a pass only reads the same copies twice. */
  async #keep(mark: ScrubMark): Promise<void> {
    this.#keptAt = this.#parts.clock.now()
    try {
      await this.#parts.file.write(mark)
    } catch (err) {
      this.#parts.logger.warn({ err }, 'position of the scrub not stored')
    }
  }
}
