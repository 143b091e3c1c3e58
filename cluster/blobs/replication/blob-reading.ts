/**
 * One reader's attempts at the copies of a blob: the next copy that starts, with a second copy in parallel when the first is slow.
 *
 * Owns: which copies this reader has tried, and the race for the first piece. Knows nothing of: what the bytes mean.
 * Rules: all pieces come from one copy, which is named; every other copy that was tried is closed. A copy that lost the race
 * without a fault may still be tried later.
 */
import type { Clock } from '../../base/clock.ts'
import type { BlobCopy, BlobReading, OpenedCopy } from '../../base/types.ts'
import { primed } from '../base/bounded-stream.ts'
import type { Hedge } from '../peers/hedge.ts'

export interface BlobReadingOptions {
  /** Best first. */
  readonly copies: readonly BlobCopy[]
  readonly clock: Clock
  readonly hedge: Hedge
  /** A copy failed before its first piece. */
  readonly onFault: (copy: BlobCopy, fault: unknown) => void
}

export class HedgedReading implements BlobReading {
  readonly #faults: unknown[] = []
  readonly #options: BlobReadingOptions
  readonly #untried: BlobCopy[]

  constructor(options: BlobReadingOptions) {
    this.#options = options
    this.#untried = [...options.copies]
  }

  get faults(): readonly unknown[] {
    return this.#faults
  }

  async next(start: number, end: number): Promise<OpenedCopy | null> {
    const { clock, hedge } = this.#options
    const asked = clock.now()
    const opened = await new Promise<OpenedCopy | null>((resolve) => this.#race({ start, end }, resolve))
    if (opened !== null) hedge.began(clock.now() - asked)
    return opened
  }

  /** Settles once: when a copy has started, or when no copy is left to try. */
  #race(
    range: { readonly start: number; readonly end: number },
    settle: (opened: OpenedCopy | null) => void,
  ) {
    const { clock, hedge, onFault } = this.#options
    const running = new Set<BlobCopy>()
    const timer = clock.after(hedge.delayMs, () => {
      if (this.#untried.length > 0 && hedge.mayHedge()) askNext()
    })
    const end = (opened: OpenedCopy | null): void => {
      timer.cancel()
      this.#untried.push(...running)
      running.clear()
      settle(opened)
    }
    const askNext = (): void => {
      const copy = this.#untried.shift()
      if (copy === undefined) return end(null)
      running.add(copy)
      primed(copy.read(range.start, range.end), () => undefined).then(
        (pieces) => {
          if (running.delete(copy)) end({ copy, pieces })
          else close(pieces)
        },
        (fault: unknown) => {
          this.#faults.push(fault)
          onFault(copy, fault)
          if (running.delete(copy) && running.size === 0) askNext()
        },
      )
    }
    askNext()
  }
}

/** Not awaited: a stuck copy answers only when its own time limit has passed. */
function close(pieces: AsyncIterable<Uint8Array>): void {
  pieces[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined)
}
