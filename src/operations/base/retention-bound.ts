/**
 * How far ahead a retention may end: `security.max_retention`. [decisions 17]
 *
 * Owns: the bound, on every path that sets a retention. Knows nothing of: extensions; locks.ts decides them in the commit.
 * Rule: a version that no client can ever delete also keeps its tenant from being deleted, so no caller locks longer than an operator allows.
 */
import { Refusal } from '../../base/refusal.ts'
import type { DefaultRetention } from '../../state-machine/buckets/records.ts'
import { daysOf } from '../../state-machine/versions/locks.ts'
import type { RetentionRecord } from '../../state-machine/versions/records.ts'
import type { Services } from './services.ts'

const DAY_MS = 86_400_000
/** The last instant that `Date` can show. */
const TIME_MAX = 8_640_000_000_000_000

/** Throws Refusal invalid_request that names the latest date allowed now. */
export function checkRetention({ cluster, config }: Services, { until }: RetentionRecord): void {
  const { maxRetentionMs } = config.security
  const latest = Math.min(cluster.time.now() + maxRetentionMs, TIME_MAX)
  if (until <= latest) return
  const days = Math.floor(maxRetentionMs / DAY_MS)
  throw new Refusal(
    'invalid_request',
    `The retention ends too late: give a date up to ${new Date(latest).toISOString()}, at most ${days} days ahead (security.max_retention)`,
  )
}

/** Throws Refusal invalid_request that names the longest duration allowed. */
export function checkDefaultRetention({ config }: Pick<Services, 'config'>, given: DefaultRetention): void {
  const daysMax = Math.floor(config.security.maxRetentionMs / DAY_MS)
  const days = daysOf(given)
  if (days <= daysMax) return
  throw new Refusal(
    'invalid_request',
    `The default retention lasts ${days} days: give at most ${daysMax} days (security.max_retention)`,
  )
}
