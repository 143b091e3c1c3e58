/**
 * How the answer to a change is printed: the result, or the plan of a dry run.
 *
 * Rule: a dry run whose change would be refused ends with the exit code of the refusal, so that a script can check before it acts.
 */
import { EXIT } from '../base/exit.ts'
import { note, printFacts, printJson, printLine } from '../base/printing.ts'

export interface ChangeOptions {
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** Query parameters of a request; empty unless it is a dry run. */
export const rehearsal = ({ dryRun = false }: ChangeOptions): { dryRun?: boolean } =>
  dryRun ? { dryRun } : {}

interface DryRunAnswer {
  readonly dryRun: boolean
  readonly operation: string
  readonly allowed: boolean
  readonly plan: Readonly<Record<string, unknown>>
  readonly blockers: readonly { readonly code: string; readonly message: string }[]
  readonly warnings: readonly string[]
}

export function isDryRun<A extends object>(answer: A | DryRunAnswer | undefined): answer is DryRunAnswer {
  return answer !== undefined && 'dryRun' in answer && 'blockers' in answer
}

/** Calls `print` after a change, unless --json is given. Returns the exit code. */
export function reportChange<A extends object>(
  answer: A | DryRunAnswer | undefined,
  options: ChangeOptions,
  print: (done: A) => void,
): number {
  if (isDryRun(answer)) return reportPlan(answer, options)
  if (options.json) printJson(answer ?? { done: true })
  else if (answer !== undefined) print(answer)
  return EXIT.done
}

function reportPlan(answer: DryRunAnswer, { json = false }: ChangeOptions): number {
  const { operation, allowed, plan, blockers, warnings } = answer
  if (json) printJson(answer)
  else {
    printLine(`${operation} would ${allowed ? 'be done' : 'be refused'}; nothing was changed.`)
    printFacts(plan)
    for (const { code, message } of blockers) note(`blocked by ${code}: ${message}`)
    for (const warning of warnings) note(`warning: ${warning}`)
  }
  return allowed ? EXIT.done : EXIT.refused
}
