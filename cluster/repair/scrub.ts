/**
 * Reads every copy on this node's disk again and again, so that what rots is found while other copies are good.
 *
 * Owns: the order, the pace, the position that survives restarts. Knows nothing of: what makes a copy good, how one is made.
 * Rules: a copy is passed only once it was looked at and, if lost, told to the ledger; what fails is tried again and holds the
 * pass up in sight of all; the disk rests at least as long as it reads. The wall clock sets the pace over restarts: a wrong
 * one makes a pass faster or slower, never less complete. Who asks for a pass gets one that begins after the asking.
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
  /** No copy stays unread for longer. */
  readonly everyMs: number
  /** Done at the beginning of each pass but the first since the start. */
  readonly beforePass: () => Promise<void>
  /** Copies were struck off: there is something to make. */
  readonly onLost: () => void
}

const PAGE_MAX = 64
/** A pass aims at this share of its time, and keeps the rest for when the node is down or the rate is low. */
const AIM = 0.9
const LOST_AT_ONCE_MAX = 256
/** The longest that a lost copy waits for others to be told with it, and that a position waits to be kept. */
const TELL_WITHIN_MS = 1_000
const KEEP_WITHIN_MS = 10_000
/** At most so long a rest follows a slow read. */
const REST_MS_MAX = 5_000

const NEVER_BEGUN: Omit<ScrubMark, 'startedAt'> = {
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
  #untold: BlobRef[] = []
  #untoldSince = 0
  #counts = { copies: 0, bytes: 0, lost: 0, removed: 0 }
  #demand: string | null = null

  constructor(parts: ScrubParts) {
    this.#parts = parts
  }

  /** One pass after another until the loop is stopped. Resolves then, with the position kept if the disk allows. */
  async run(): Promise<void> {
    try {
      let mark = await this.#resume()
      for (;;) {
        if (mark.isOver || this.#isAsked(mark)) mark = await this.#beginNext(mark)
        mark = await this.#pass(mark)
      }
    } catch (cause) {
      if (!(cause instanceof StoppedError)) throw cause
      if (this.#mark !== null && this.#untold.length === 0) await this.#keep(this.#mark)
    }
  }

  status(): ScrubStatus {
    const { startedAt = null, lastFullAt = null, after = null, isOver = false } = this.#mark ?? {}
    const progress = isOver ? 1 : positionOf(after)
    return { startedAt, lastFullAt, progress, demand: this.#demandStatus(), ...this.#counts }
  }

  /**
   * Everything is read anew and without resting longer than it reads, once for each word: repeating the last one changes
   * nothing, also over a restart. Null: a pass under way goes on at its ordinary pace.
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

  /** For a word that no pass has begun for yet. */
  #isAsked({ demand, answered }: ScrubMark): boolean {
    return this.#demand !== null && this.#demand !== demand && this.#demand !== answered?.word
  }

  /** The first pass of a directory begins now; one that was under way goes on where it was. */
  async #resume(): Promise<ScrubMark> {
    const kept = await this.#parts.file.read()
    const startedAt = this.#notInFuture(kept?.startedAt ?? Infinity)
    this.#mark = { ...NEVER_BEGUN, ...kept, startedAt }
    return this.#mark
  }

  /** A beginning in the future is the word of a clock that was wrong then, or has been corrected since. */
  #notInFuture(startedAt: number): number {
    return Math.min(startedAt, this.#parts.clock.wallTime())
  }

  async #beginNext(last: ScrubMark): Promise<ScrubMark> {
    const { clock, retryLoop, everyMs, beforePass } = this.#parts
    const dueAt = this.#isAsked(last) ? 0 : this.#notInFuture(last.startedAt) + everyMs * AIM
    await retryLoop.wait(Math.max(0, dueAt - clock.wallTime()), () => this.#isAsked(last))
    await this.#tell()
    // Before the inventory: what is asked for while that runs has not been looked at by it.
    const demand = this.#isAsked(last) ? this.#demand : null
    await beforePass()
    const fresh = { demand, passed: NOTHING_PASSED, after: null, isOver: false }
    this.#mark = { ...last, ...fresh, startedAt: clock.wallTime() }
    await this.#keep(this.#mark)
    return this.#mark
  }

  async #pass(begun: ScrubMark): Promise<ScrubMark> {
    const { store, retryLoop, clock, logger } = this.#parts
    let mark = begun
    for (let names: readonly BlobName[] | null = null; names === null || names.length === PAGE_MAX; ) {
      const { after } = mark
      names = await retryLoop.retry('copies not listed yet', () => store.list(after, PAGE_MAX))
      for (const name of names) {
        if (this.#isAsked(mark)) return mark
        mark = await this.#step(mark, name)
      }
    }
    await this.#tell()
    const answered = mark.demand === null ? mark.answered : { word: mark.demand, ...mark.passed }
    this.#mark = { ...mark, answered, lastFullAt: clock.wallTime(), after: null, isOver: true }
    await this.#keep(this.#mark)
    logger.info({ durationMs: clock.wallTime() - mark.startedAt }, 'scrub of all copies done')
    return this.#mark
  }

  async #step(mark: ScrubMark, name: BlobName): Promise<ScrubMark> {
    const { check, ledger, retryLoop, throttle, clock, everyMs } = this.#parts
    // The rows may be unreadable for a while: a damaged state is replaced under a running node.
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
      if (this.#untold.length === 0) this.#untoldSince = this.#parts.clock.now()
      this.#untold.push(found.ref)
    }
    const lost = passed.lost + (kind === 'lost' ? 1 : 0)
    return { copies: passed.copies + 1, bytes: passed.bytes + bytes, lost }
  }

  /** Lost copies are told together, but none waits long; the position is kept only when all before it are told. */
  async #beforeRest(mark: ScrubMark, rest: number): Promise<void> {
    const until = this.#parts.clock.now() + rest
    const isDue = this.#untold.length >= LOST_AT_ONCE_MAX || until - this.#untoldSince >= TELL_WITHIN_MS
    if (this.#untold.length > 0 && isDue) await this.#tell()
    if (this.#untold.length === 0 && until - this.#keptAt >= KEEP_WITHIN_MS) await this.#keep(mark)
  }

  async #tell(): Promise<void> {
    if (this.#untold.length === 0) return
    const { nodeId, ledger, retryLoop, onLost } = this.#parts
    await retryLoop.retry('lost copies not told yet', () => ledger.lost(nodeId, this.#untold))
    this.#counts.lost += this.#untold.length
    this.#untold = []
    onLost()
  }

  /** A position that cannot be kept costs only that a pass goes over the same copies twice. */
  async #keep(mark: ScrubMark): Promise<void> {
    this.#keptAt = this.#parts.clock.now()
    try {
      await this.#parts.file.write(mark)
    } catch (err) {
      this.#parts.logger.warn({ err }, 'position of the scrub not kept')
    }
  }
}
