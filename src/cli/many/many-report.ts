/**
 * What became of many objects, one line each, in the order of their keys.
 *
 * Rule: an object that fails does not stop the others, except that FAILURES_MAX failures, an unreachable service or an interruption do.
 */
import { commandErrorOf } from '../base/asking.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { forEachInOrder } from '../base/in-order.ts'
import { note, printable, printJson, printLine } from '../base/printing.ts'

const FAILURES_MAX = 100
/** Requests at once. */
const AT_ONCE = 16

export interface ManyOptions {
  readonly json?: boolean
  readonly dryRun?: boolean
}

/** `work` returns what --json prints; `verb` is what was done, such as `copied`. Resolves with the exit code. */
export async function reportMany<T extends { readonly key: string }>(
  items: AsyncIterable<T>,
  verb: string,
  { json = false, dryRun = false }: ManyOptions,
  work: (item: T) => Promise<Readonly<Record<string, unknown>>>,
): Promise<number> {
  const counts = { done: 0, failed: 0 }
  await forEachInOrder(items, AT_ONCE, async (item, submit) => {
    try {
      const facts = dryRun ? { key: item.key, dryRun } : await work(item)
      counts.done++
      submit(() => {
        if (json) printJson(facts)
        else printLine(`${dryRun ? 'would be ' : ''}${verb}  ${printable(item.key)}`)
      })
    } catch (cause) {
      const failure = failureOf(cause)
      counts.failed++
      submit(() => {
        if (json) printJson({ key: item.key, failed: true, code: failure.code, message: failure.message })
        else note(`failed  ${printable(item.key)}: ${failure.message}`)
      })
      if (counts.failed >= FAILURES_MAX) throw tooMany()
    }
  })
  if (!json) note(`${counts.done} ${dryRun ? 'would be ' : ''}${verb}, ${counts.failed} failed`)
  return counts.failed === 0 ? EXIT.done : EXIT.failed
}

/** Throws what ends the command. */
function failureOf(cause: unknown): CommandError {
  const failure = commandErrorOf(cause)
  if (!(failure instanceof CommandError) || failure.exitCode === EXIT.unreachable) throw cause
  return failure
}

function tooMany(): CommandError {
  return new CommandError(`${FAILURES_MAX} objects failed`, {
    code: 'too_many_failures',
    hint: 'Correct the causes of the first failures; the same command continues with the rest.',
  })
}
