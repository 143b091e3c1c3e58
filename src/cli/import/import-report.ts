/**
 * The printed progress of an import, in the order in which the source lists its keys, and what it comes to in the end.
 *
 * Rules: an object that cannot be copied does not stop the others. What every other object would meet too, an interruption or FAILURES_MAX failures stop the
 * import.
 */
import { ApiError } from '../../client/clients.ts'
import { commandErrorOf } from '../base/asking.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printable, printJson, printLine, sizeText } from '../base/printing.ts'
import type { Copied } from './copy-object.ts'
import { SourceError } from './source-error.ts'

const FAILURES_MAX = 100
const TOO_MANY = 'too_many_failures'

export interface Attempt {
  /** Bucket and key at the target. */
  readonly path: string
  readonly size: number
  /** Takes the function that prints the line; it is called in the order of the keys. */
  readonly submit: (line: () => void) => void
}

export type Outcome =
  | { readonly step: 'keep' | 'conflict' }
  /** `copied` null: of a dry run. */
  | { readonly step: 'copy' | 'replace'; readonly copied: Copied | null }

export class ImportReport {
  readonly #isDryRun: boolean
  readonly #isJson: boolean
  readonly #beforeLine: () => void
  readonly #counts = {
    copied: 0,
    replaced: 0,
    unchanged: 0,
    vanished: 0,
    conflicts: 0,
    failed: 0,
    bytes: 0,
    /** The source keeps no checksum of the whole object. */
    withoutChecksum: 0,
  }
  /** By what was left behind, such as `retention`. */
  readonly #leftBehind = new Map<string, number>()

  constructor(options: {
    readonly isDryRun: boolean
    readonly isJson: boolean
    /** Clears the progress bar. */
    readonly beforeLine: () => void
  }) {
    this.#isDryRun = options.isDryRun
    this.#isJson = options.isJson
    this.#beforeLine = options.beforeLine
  }

  get exitCode(): number {
    const { conflicts, failed } = this.#counts
    return conflicts + failed === 0 ? EXIT.done : EXIT.failed
  }

  async tried(attempt: Attempt, work: () => Promise<Outcome>): Promise<void> {
    try {
      const outcome = await work()
      if ('copied' in outcome) this.#done(attempt, outcome.step, outcome.copied)
      else if (outcome.step === 'keep') this.#counts.unchanged++
      else this.#conflict(attempt)
    } catch (cause) {
      // Somebody else wrote it since it was looked up.
      if (cause instanceof ApiError && cause.code === 'precondition_failed') this.#conflict(attempt)
      else this.#failed(attempt, cause)
    }
  }

  bucketFailed(bucket: string, cause: unknown): void {
    this.#failed({ path: bucket, size: 0, submit: (line) => line() }, cause)
  }

  end(): void {
    this.#beforeLine()
    const counts = this.#counts
    const leftBehind = Object.fromEntries(this.#leftBehind)
    if (this.#isJson) {
      printJson({ summary: { ...counts, leftBehind, dryRun: this.#isDryRun } })
      return
    }
    const { bytes, withoutChecksum, ...objects } = counts
    const texts = Object.entries(objects).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
    note(`${this.#isDryRun ? 'Dry run: ' : ''}${texts.join(', ') || 'nothing to do'}  (${sizeText(bytes)})`)
    if (withoutChecksum > 0)
      note(
        `The source keeps no checksum of ${withoutChecksum} of them as a whole: only their size is compared.`,
      )
    for (const [what, count] of this.#leftBehind) note(`Left behind: ${what} of ${count} objects.`)
    if (counts.conflicts > 0)
      note('Conflicts are left as they are; --overwrite replaces them by the objects of the source.')
  }

  #conflict({ path, submit }: Attempt): void {
    this.#counts.conflicts++
    const message = 'the target has an object that is not from this source'
    this.#line(submit, { action: 'conflict', path }, `conflict  ${printable(path)}: ${message}`)
  }

  #done({ path, size, submit }: Attempt, action: 'copy' | 'replace', copied: Copied | null): void {
    this.#counts[action === 'copy' ? 'copied' : 'replaced']++
    this.#counts.bytes += copied?.size ?? size
    for (const what of copied?.leftBehind ?? [])
      this.#leftBehind.set(what, (this.#leftBehind.get(what) ?? 0) + 1)
    const verified = copied?.verified ?? []
    if (copied !== null && verified.length === 0) this.#counts.withoutChecksum++
    const shown = { action, path, size: copied?.size ?? size }
    const line = copied === null ? { ...shown, dryRun: true } : { ...shown, verified }
    this.#line(submit, line, `${this.#isDryRun ? 'would ' : ''}${action}  ${printable(path)}`)
  }

  #failed(attempt: Attempt, cause: unknown): void {
    const { path, submit } = attempt
    if (cause instanceof SourceError && cause.s3Code === 'NoSuchKey') {
      this.#counts.vanished++
      this.#line(submit, { action: 'vanished', path }, `vanished  ${printable(path)}`)
      return
    }
    const failure = commandErrorOf(cause)
    if (isFinal(failure, cause)) throw failure
    this.#counts.failed++
    const { message, code, hint } = failure instanceof CommandError ? failure : unknownFailure(failure)
    const text = `failed  ${printable(path)}: ${message}${hint === '' ? '' : `\n  ${hint}`}`
    this.#line(submit, { action: 'failed', path, code, message }, text)
    if (this.#counts.failed < FAILURES_MAX) return
    throw new CommandError(`${FAILURES_MAX} objects could not be copied`, {
      code: TOO_MANY,
      hint: 'Correct the causes of the first failures; the same command continues with the rest.',
    })
  }

  /** What was done goes to standard output, the rest to standard error. */
  #line(submit: Attempt['submit'], json: Readonly<Record<string, unknown>>, text: string): void {
    const isDone = json['action'] === 'copy' || json['action'] === 'replace'
    submit(() => {
      this.#beforeLine()
      if (this.#isJson) printJson(json)
      else if (isDone) printLine(text)
      else note(text)
    })
  }
}

const unknownFailure = (failure: unknown) => ({ message: String(failure), code: 'failed', hint: '' })

function isFinal(failure: unknown, cause: unknown): boolean {
  if (cause instanceof SourceError) return cause.isFinal
  if (cause instanceof Error && cause.name === 'AbortError') return true
  if (!(failure instanceof CommandError)) return false
  return failure.exitCode === EXIT.unreachable || failure.code === TOO_MANY
}
