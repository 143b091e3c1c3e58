/**
 * The progress of an awaited operation as lines, where no bar is drawn: in a file, a log, a terminal with --no-progress.
 *
 * Owns: when a line is printed. Knows nothing of: the request.
 * Rule: a change of status, phase or blocker is printed at once. Without a change, a line comes at least every NEWS_EVERY_MS, so silence
 * means that the command has ended.
 */
import type { Operation } from '../../client/generated/admin-operations.ts'
import { printable, sizeText } from '../base/printing.ts'
import { timeText } from '../base/progress.ts'

export const NEWS_EVERY_MS = 30_000

type Observed = Pick<Operation, 'type' | 'status' | 'phase' | 'blockers' | 'progress' | 'etaSeconds'>

export class LongOperationNews {
  readonly #print: (line: string) => void
  readonly #now: () => number
  readonly #startedAt: number
  #last = ''
  #reportedAt = -Infinity

  constructor(print: (line: string) => void, now: () => number = () => performance.now()) {
    this.#print = print
    this.#now = now
    this.#startedAt = now()
  }

  look(operation: Observed): void {
    const now = this.#now()
    const line = lineOf(operation)
    if (line === this.#last && now - this.#reportedAt < NEWS_EVERY_MS) return
    this.#last = line
    this.#reportedAt = now
    const figures = figuresOf(operation)
    this.#print(`[${timeText((now - this.#startedAt) / 1_000)}] ${printable(line)}${figures}`)
  }
}

function lineOf({ type, status, phase, blockers }: Observed): string {
  const blocked = blockers.map(({ code, message }) => `; blocked by ${code}: ${message}`).join('')
  return `${type} ${status}: ${phase}${blocked}`
}

function figuresOf({ status, progress, etaSeconds }: Observed): string {
  const { blobsTotal, blobsDone, skipped, bytesTotal, bytesMoved } = progress
  const copies = blobsTotal === 0 ? '' : `, ${Math.min(blobsTotal, blobsDone + skipped)} of ${blobsTotal}`
  const bytes = bytesTotal === 0 ? '' : `, ${sizeText(bytesMoved)} of ${sizeText(bytesTotal)}`
  const left = status === 'running' && etaSeconds !== null ? `, about ${timeText(etaSeconds)} left` : ''
  return `${copies}${bytes}${left}`
}
