/**
 * Which backups stay. Pure.
 *
 * Owns: the decision. Knows nothing of: targets, files. Rules: the newest good backup always stays; a backup that is not good counts for no rule, and goes
 * only when a newer good one is there; without rules everything stays; times are UTC, weeks begin on Monday.
 */
import type { KeepRules } from '../../state-machine/long-operations/records.ts'

export interface StoredBackup {
  readonly id: string
  /** Of what it shows. ms since 1970 */
  readonly at: number
  /** Whole, as far as its target tells. */
  readonly isGood: boolean
}

/**
 * Why a backup stays: the name of a rule, or `newest`, `unfinished` (a good one is not newer), `unlimited` (there are no rules), `otherScope` (the rules are not
 * about it).
 */
export type KeepReason = keyof KeepRules | 'newest' | 'unfinished' | 'unlimited' | 'otherScope'

export interface KeepDecision<B extends StoredBackup> {
  /** Newest first. */
  readonly kept: readonly { readonly backup: B; readonly reasons: readonly KeepReason[] }[]
  /** Oldest first. */
  readonly removed: readonly B[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Equal for times of the same period. */
const PERIODS: Readonly<Record<Exclude<keyof KeepRules, 'last'>, (at: number) => number>> = {
  hourly: (at) => Math.floor(at / HOUR_MS),
  daily: (at) => Math.floor(at / DAY_MS),
  // The first day of 1970 was a Thursday.
  weekly: (at) => Math.floor((Math.floor(at / DAY_MS) + 3) / 7),
  monthly: (at) => yearOf(at) * 12 + new Date(at).getUTCMonth(),
  yearly: yearOf,
}

function yearOf(at: number): number {
  return new Date(at).getUTCFullYear()
}

/** `rules` null: everything stays. */
export function decideKeep<B extends StoredBackup>(
  backups: readonly B[],
  rules: KeepRules | null,
): KeepDecision<B> {
  const ordered = backups.toSorted((one, other) => other.at - one.at || (one.id < other.id ? 1 : -1))
  const good = ordered.filter(({ isGood }) => isGood)
  const reasons = new Map<B, KeepReason[]>(ordered.map((backup) => [backup, []]))
  const keep = (backup: B | undefined, reason: KeepReason): void => {
    if (backup !== undefined) reasons.get(backup)?.push(reason)
  }
  keep(good[0], 'newest')
  for (const backup of ordered) {
    if (rules === null) keep(backup, 'unlimited')
    else if (!backup.isGood && !(good[0] !== undefined && isNewer(good[0], backup)))
      keep(backup, 'unfinished')
  }
  if (rules !== null) {
    for (const backup of good.slice(0, rules.last)) keep(backup, 'last')
    for (const [rule, period] of Object.entries(PERIODS) as [
      Exclude<keyof KeepRules, 'last'>,
      (at: number) => number,
    ][])
      for (const backup of newestOfEach(good, period).slice(0, rules[rule])) keep(backup, rule)
  }
  const isKept = (backup: B): boolean => (reasons.get(backup)?.length ?? 0) > 0
  return {
    kept: ordered.filter(isKept).map((backup) => ({ backup, reasons: reasons.get(backup) ?? [] })),
    removed: ordered.filter((backup) => !isKept(backup)).toReversed(),
  }
}

const isNewer = (one: StoredBackup, other: StoredBackup): boolean =>
  one.at > other.at || (one.at === other.at && one.id > other.id)

/** `good`: newest first. */
function newestOfEach<B extends StoredBackup>(
  good: readonly B[],
  period: (at: number) => number,
): readonly B[] {
  return good.filter((backup, n) => {
    const before = good[n - 1]
    return before === undefined || period(before.at) !== period(backup.at)
  })
}
