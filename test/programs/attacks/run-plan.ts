/**
 * All runs that were asked for, in their order, within their time.
 *
 * Owns: the order and the end. Knows nothing of: clusters. Rules: an attack runs on every checkout or on none, so that there is something to
 * compare; a run that fails has a row that says so, and the others continue.
 */
import type { Attack } from './attack.ts'
import { type AttackOptions, type Build, runSeconds } from './options.ts'
import type { AttackRow } from './run-attack.ts'

export interface PlannedRun {
  readonly attack: Attack
  readonly build: Build
  /** From 1 on. */
  readonly round: number
}

/** A row of the table: figures, or why there are none. */
export interface RunRow extends PlannedRun {
  readonly outcome: AttackRow | Error
}

export interface PlanParts {
  readonly run: (run: PlannedRun) => Promise<AttackRow>
  readonly report: (line: string) => void
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** `left`: attacks that did not run for want of time. Never rejects. */
export async function runPlan(
  options: AttackOptions,
  { run, report, now }: PlanParts,
): Promise<{ readonly rows: readonly RunRow[]; readonly left: readonly PlannedRun[] }> {
  const { seconds } = options
  const endMs = now() + 60_000 * options.minutes
  const groups = groupsOf(options)
  const all = groups.flat().length
  const rows: RunRow[] = []
  const left: PlannedRun[] = []
  for (const group of groups) {
    const neededMs = 1000 * group.reduce((sum, { attack }) => sum + runSeconds(attack, seconds), 0)
    // The first one runs in any case: a time that is too short still gives figures.
    if (rows.length > 0 && now() + neededMs > endMs) {
      left.push(...group)
      continue
    }
    for (const planned of group) {
      const { attack, build, round } = planned
      report(`${rows.length + 1} of ${all}, round ${round}: ${attack.id} on ${build.name}`)
      const outcome = await run(planned).catch((error: unknown) => asError(error))
      if (outcome instanceof Error) report(`  failed: ${outcome.message}`)
      rows.push({ ...planned, outcome })
    }
  }
  return { rows: inOrder(rows, options), left }
}

/** Runs of one attack in one round. */
function groupsOf({ attacks, builds, rounds }: AttackOptions): readonly (readonly PlannedRun[])[] {
  return Array.from({ length: rounds }, (_, n) => n + 1).flatMap((round) => {
    const order = round % 2 === 1 ? builds : builds.toReversed()
    return attacks.map((attack) => order.map((build) => ({ attack, build, round })))
  })
}

/** What is to be compared stands together: by attack, then by checkout. */
function inOrder(rows: readonly RunRow[], { attacks, builds }: AttackOptions): readonly RunRow[] {
  const place = ({ attack, build, round }: RunRow): number =>
    (attacks.indexOf(attack) * builds.length + builds.indexOf(build)) * 100 + round
  return rows.toSorted((a, b) => place(a) - place(b))
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
