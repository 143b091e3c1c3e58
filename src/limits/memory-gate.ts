/**
 * Whether the memory of this process has room for one more request, and who is refused when it has not.
 *
 * Owns: the levels, and who is refused at each; time and figures are passed in. Knows nothing of: requests, and of how memory is measured.
 * Rules: uploads and listings go before requests that hold little, callers with more than their share before others, and no request before memory is
 * scarce; what runs is never ended. What counts is what the runtime tracks, its heap and the buffers outside of it: that falls
 * when requests end, while pages that the process keeps for later would refuse requests forever.
 */

/** `scarce`: the heavy requests of the busiest. `short`: all heavy ones, the others of the busiest. `spent`: every request. */
export type MemoryLevel = 'enough' | 'scarce' | 'short' | 'spent'

/** Bytes. */
export interface MemoryUse {
  readonly heap: number
  /** At which the runtime ends the process. */
  readonly heapMax: number
  /** Outside of the heap, held by it or by uploads. */
  readonly external: number
}

export interface MemoryQuestion {
  /** It may hold much: an upload, a listing. */
  readonly isHeavy: boolean
  /** Requests of its tenant that run here. */
  readonly running: number
}

export interface MemoryGateParts {
  /** What heap and buffers may take together. Bytes. */
  readonly bytesMax: number
  readonly measure: () => MemoryUse
  /** Requests that run here, by tenant. */
  readonly runningByTenant: () => Iterable<number>
  readonly onLevel: (level: MemoryLevel, use: MemoryUse) => void
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** A measurement holds for so long: it takes some 20 µs. */
const MEASURED_EVERY_MS = 50
const LEVELS = ['enough', 'scarce', 'short', 'spent'] as const
/** Shares of `bytesMax`. */
const SCARCE_FROM = 0.9
const SPENT_FROM = 1.1
/** A level ends only so far below its beginning, or it would come and go with each collection of garbage. Share. */
const ENDS_BELOW = 0.05
/** The heap is full for this purpose at this part of the size at which the runtime ends the process. */
const HEAP_SHARE_MAX = 0.95

export class MemoryGate {
  readonly #parts: MemoryGateParts
  #level: MemoryLevel = 'enough'
  /** Of the requests that run, the part of each tenant if they were shared out evenly. */
  #evenShare = Infinity
  #measuredMs = -Infinity

  constructor(parts: MemoryGateParts) {
    this.#parts = parts
  }

  get bytesMax(): number {
    return this.#parts.bytesMax
  }

  /** Asked for each request before it begins; measures by itself. */
  refuses({ isHeavy, running }: MemoryQuestion): boolean {
    switch (this.level()) {
      case 'enough':
        return false
      case 'scarce':
        return isHeavy && running >= this.#evenShare
      case 'short':
        return isHeavy || running >= this.#evenShare
      case 'spent':
        return true
    }
  }

  level(): MemoryLevel {
    const { now, measure, bytesMax, onLevel } = this.#parts
    const nowMs = now()
    if (nowMs - this.#measuredMs < MEASURED_EVERY_MS) return this.#level
    this.#measuredMs = nowMs
    const use = measure()
    const level = nextLevel(this.#level, pressureOf(use, bytesMax))
    if (level !== this.#level) onLevel(level, use)
    this.#level = level
    this.#evenShare = level === 'enough' ? Infinity : this.#shareOfRunning()
    return level
  }

  #shareOfRunning(): number {
    const counts = [...this.#parts.runningByTenant()].filter((count) => count > 0)
    const all = counts.reduce((sum, count) => sum + count, 0)
    return counts.length === 0 ? Infinity : Math.ceil(all / counts.length)
  }
}

/** 1: memory is short. */
export function pressureOf({ heap, heapMax, external }: MemoryUse, bytesMax: number): number {
  return Math.max((heap + external) / bytesMax, heap / (HEAP_SHARE_MAX * heapMax))
}

function levelAt(pressure: number): MemoryLevel {
  if (pressure >= SPENT_FROM) return 'spent'
  if (pressure >= 1) return 'short'
  return pressure >= SCARCE_FROM ? 'scarce' : 'enough'
}

function nextLevel(present: MemoryLevel, pressure: number): MemoryLevel {
  const rising = levelAt(pressure)
  const falling = levelAt(pressure + ENDS_BELOW)
  if (severityOf(rising) >= severityOf(present)) return rising
  return severityOf(falling) < severityOf(present) ? falling : present
}

/** 0 is `enough`. */
export function severityOf(level: MemoryLevel): number {
  return LEVELS.indexOf(level)
}
