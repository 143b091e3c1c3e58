/**
 * An operation that is waited for, told in lines where no bar is drawn: in a file, a log, a terminal with --no-progress.
 *
 * Owns: when there is something to tell. Knows nothing of: who asks for the operation.
 * Rule: a change of phase or of a gate is told at once, and without one a line comes at least every NEWS_EVERY_MS: silence means that the
 * command has ended.
 */
import type { Operation } from '../../client/generated/admin-operations.ts'
import { printable, sizeText } from '../base/printing.ts'
import { timeText } from '../base/progress.ts'

export const NEWS_EVERY_MS = 30_000

type Seen = Pick<Operation, 'type' | 'status' | 'phase' | 'blockers' | 'progress' | 'etaSeconds'>

export class OperationNews {
  readonly #tell: (line: string) => void
  readonly #now: () => number
  readonly #begun: number
  #last = ''
  #toldAt = -Infinity

  constructor(tell: (line: string) => void, now: () => number = () => performance.now()) {
    this.#tell = tell
    this.#now = now
    this.#begun = now()
  }

  look(operation: Seen): void {
    const now = this.#now()
    const standing = standingOf(operation)
    if (standing === this.#last && now - this.#toldAt < NEWS_EVERY_MS) return
    this.#last = standing
    this.#toldAt = now
    const figures = figuresOf(operation)
    this.#tell(`[${timeText((now - this.#begun) / 1_000)}] ${printable(standing)}${figures}`)
  }
}

function standingOf({ type, status, phase, blockers }: Seen): string {
  const gates = blockers.map(({ code, message }) => `; blocked by ${code}: ${message}`).join('')
  return `${type} ${status}: ${phase}${gates}`
}

function figuresOf({ status, progress, etaSeconds }: Seen): string {
  const { blobsTotal, blobsDone, skipped, bytesTotal, bytesMoved } = progress
  const copies = blobsTotal === 0 ? '' : `, ${Math.min(blobsTotal, blobsDone + skipped)} of ${blobsTotal}`
  const bytes = bytesTotal === 0 ? '' : `, ${sizeText(bytesMoved)} of ${sizeText(bytesTotal)}`
  const left = status === 'running' && etaSeconds !== null ? `, about ${timeText(etaSeconds)} left` : ''
  return `${copies}${bytes}${left}`
}
