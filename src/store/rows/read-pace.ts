/**
 * How many rows a walk reads at once, while it steps over what begins alike.
 *
 * Owns: the choice between reading on, which pays while few rows are stepped over, and a seek for each line, which pays
 * once they are many. Knows nothing of: rows, LevelDB.
 * Rule: what is read stays bounded by the lines that were asked for, whatever lies between them.
 */

/** Reading so many rows costs about as much as a seek with its way through the thread pool. */
const ROWS_PER_SEEK = 16
const FIRST_ROWS = 64
const ROWS_MAX = 1000
/** Each read may be larger than the one before by this: a walk that ends early has not read far ahead. */
const GROWTH = 4
/** Lines that are sought before reading on is tried again; twice as many after each try in vain. */
const SOUGHT_MIN = 16
const SOUGHT_MAX = 256

export class ReadPace {
  /** Lines that may still be asked for. */
  #left: number
  #rows: number
  /** Of the last read that was larger than a line. */
  #rowsPerLine = 1
  /** Lines to be sought before the next try; 0: reading on. */
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
