/**
 * How many rows a walk reads at once while it steps over rows with a common prefix.
 *
 * Owns: the choice between reading on, which is cheaper while few rows are stepped over, and a seek for each line, which is
 * cheaper once there are many. Knows nothing of: rows, LevelDB.
 * Rule: the number of rows read is bounded by the requested lines, regardless of the rows between them.
 */

/** Reading this many rows costs about as much as a seek through the thread pool: 1 us each, and 25 us. */
const ROWS_PER_SEEK = 24
const FIRST_ROWS = 64
const ROWS_MAX = 1000
/** Each read may be this much larger than the one before, so a walk that ends early has not read far ahead. */
const GROWTH = 4
/** Lines that are found by seeks before reading on is tried again; doubled after each failed try. */
const SOUGHT_MIN = 32
const SOUGHT_MAX = 256

export class ReadPace {
  /** Lines that may still be requested. */
  #left: number
  #rows: number
  /** Size of the last read that was larger than a line. */
  #rowsPerLine = 1
  /** Lines to find by seeks before the next try; 0: reading on. */
  #sought = 0
  #retryLoop: number = SOUGHT_MIN

  constructor(lines: number) {
    this.#left = lines
    this.#rows = Math.min(lines, FIRST_ROWS)
  }

  /** For the next read. */
  get rows(): number {
    return this.#rows
  }

  /** A line was found without a read. */
  passed(): void {
    this.#left = Math.max(1, this.#left - 1)
  }

  /** The last read brought `rows`, and `lines` of them were wanted. */
  took(rows: number, lines: number): void {
    this.#left = Math.max(1, this.#left - lines)
    if (this.#sought > 0) this.#sought -= lines
    else if (rows > ROWS_PER_SEEK * lines) this.#seek()
    else this.#readOn(rows / Math.max(1, lines))
    if (this.#sought > 0) this.#rows = 1
    else this.#rows = this.#nextRows(rows)
  }

  #seek(): void {
    this.#sought = this.#retryLoop
    this.#retryLoop = Math.min(2 * this.#retryLoop, SOUGHT_MAX)
  }

  #readOn(rowsPerLine: number): void {
    this.#rowsPerLine = rowsPerLine
    this.#retryLoop = SOUGHT_MIN
  }

  #nextRows(rows: number): number {
    const wanted = Math.ceil(this.#left * this.#rowsPerLine)
    return Math.min(wanted, Math.max(FIRST_ROWS, GROWTH * rows), ROWS_MAX)
  }
}
