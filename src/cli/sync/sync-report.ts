/**
 * The printed progress of a sync, in the order of the names.
 *
 * Rules: an entry that cannot be copied does not stop the others. An unreachable service, an interruption or FAILURES_MAX failures stop
 * the sync.
 */
import { commandErrorOf } from '../base/asking.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printJson, printLine } from '../base/printing.ts'
import type { Pair } from './entry.ts'

const FAILURES_MAX = 100

type Action = 'upload' | 'download' | 'remove'

interface Attempt {
  readonly action: Action
  readonly path: string
  /** Takes the function that prints the line; it is called in the order of the names. */
  readonly submit: (line: () => void) => void
}

interface SyncReportOptions {
  readonly isDryRun: boolean
  readonly isJson: boolean
  /** Clears the progress bar. */
  readonly beforeLine: () => void
}

export class SyncReport {
  readonly #isDryRun: boolean
  readonly #isJson: boolean
  readonly #beforeLine: () => void
  readonly #done: Record<Action, number> = { upload: 0, download: 0, remove: 0 }
  #unchanged = 0
  #leftAlone = 0
  failures = 0

  constructor({ isDryRun, isJson, beforeLine }: SyncReportOptions) {
    this.#isDryRun = isDryRun
    this.#isJson = isJson
    this.#beforeLine = beforeLine
  }

  async tried(attempt: Attempt, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (cause) {
      this.#failed(attempt, cause)
      return
    }
    const { action, path, submit } = attempt
    this.#done[action]++
    submit(() => {
      this.#beforeLine()
      if (this.#isJson) printJson({ action, path, ...(this.#isDryRun ? { dryRun: true } : {}) })
      else printLine(`${this.#isDryRun ? 'would ' : ''}${action}  ${printable(path)}`)
    })
  }

  kept({ source, target }: Pair): void {
    if (source?.isLeftAlone === true || target?.isLeftAlone === true) this.#leftAlone++
    else this.#unchanged++
  }

  end(): void {
    this.#beforeLine()
    const { upload, download, remove } = this.#done
    const counts = {
      uploaded: upload,
      downloaded: download,
      removed: remove,
      unchanged: this.#unchanged,
      leftAlone: this.#leftAlone,
      failed: this.failures,
    }
    if (this.#isJson) {
      printJson({ summary: { ...counts, dryRun: this.#isDryRun } })
      return
    }
    const text = Object.entries(counts).flatMap(([name, count]) =>
      count > 0 ? [`${count} ${name === 'leftAlone' ? 'skipped (links and devices)' : name}`] : [],
    )
    note(`${this.#isDryRun ? 'Dry run: ' : ''}${text.join(', ') || 'nothing to do'}`)
  }

  #failed({ action, path, submit }: Attempt, cause: unknown): void {
    const failure = commandErrorOf(cause)
    const isFinal = failure instanceof CommandError && failure.exitCode === EXIT.unreachable
    if (isFinal || (cause instanceof Error && cause.name === 'AbortError')) throw cause
    const { message, code } =
      failure instanceof CommandError ? failure : { message: String(failure), code: 'failed' }
    this.failures++
    submit(() => {
      this.#beforeLine()
      if (this.#isJson) printJson({ action: 'failed', wanted: action, path, code, message })
      else note(`failed  ${action}  ${printable(path)}: ${message}`)
    })
    if (this.failures < FAILURES_MAX) return
    throw new CommandError(`${FAILURES_MAX} entries could not be copied`, {
      code: 'too_many_failures',
      hint: 'Correct the causes of the first failures; the same command continues with the rest.',
    })
  }
}
