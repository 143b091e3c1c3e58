/**
 * Bugs of lifecycle rules: what a rule names, what apply decides again, and when a bucket is walked.
 */
import type { Mutant } from './mutant.ts'
import { killedByTests, type TestedRow } from './rows.ts'

const ROOM = 'src/state-machine/lifecycle/'
const ACTING = 'state-machine/lifecycle-acting'
const PLAN = 'state-machine/lifecycle-plan'
const WALKS = 'workers/lifecycle'

const rows: readonly TestedRow[] = [
  [
    'LC1',
    'a rule acts by the time of the log, confirmed or not',
    `${ROOM}acting.ts`,
    'return at !== null && at <= confirmedTime',
    'return at !== null && at <= confirmedTime + 30 * 86_400_000',
    ACTING,
  ],
  [
    'LC2',
    'apply trusts the plan: what is not due any more goes all the same',
    `${ROOM}acting.ts`,
    '  if (!isDue(rule, subject, context)) return null\n',
    '  if (!isDue(rule, subject, context) && !rule.isEnabled) return null\n',
    ACTING,
  ],
  [
    'LC3',
    'a rule sets retention in mode GOVERNANCE aside',
    `${ROOM}acting.ts`,
    "const deletion = { bucket, key, chain, n, by: 'lifecycle' } as const",
    "const deletion = { bucket, key, chain, n, by: 'lifecycle', bypassGovernance: true } as const",
    ACTING,
  ],
  [
    'LC4',
    'the current version of a bucket with versions is removed for good',
    `${ROOM}acting.ts`,
    "const isHidden = subject.kind === 'current' && bucket.versioning !== 'Unversioned'",
    "const isHidden = subject.kind === 'current' && bucket.versioning === 'Suspended'",
    ACTING,
  ],
  [
    'LC5',
    'days end a day early: rounded down to midnight',
    `${ROOM}due.ts`,
    'return Math.ceil((time + days * DAY_MS) / DAY_MS) * DAY_MS',
    'return Math.floor((time + days * DAY_MS) / DAY_MS) * DAY_MS',
    PLAN,
  ],
  [
    'LC6',
    'one newer version less is kept',
    `${ROOM}due.ts`,
    'newerObjects < noncurrent.newerKept',
    'newerObjects < noncurrent.newerKept - 1',
    PLAN,
  ],
  [
    'LC7',
    'one of the tags is enough',
    `${ROOM}due.ts`,
    'return Object.entries(filter.tags).every(',
    'return Object.entries(filter.tags).length === 0 || Object.entries(filter.tags).some(',
    PLAN,
  ],
  [
    'LC8',
    'a delete marker goes while versions are left below it',
    `${ROOM}due.ts`,
    'if (!isLone || expiration === null',
    'if (expiration === null',
    PLAN,
  ],
  [
    'LC9',
    'delete markers take a place among the versions that are kept',
    `${ROOM}subjects.ts`,
    "      if (at.kind === 'object') count++\n",
    '      count++\n',
    ACTING,
  ],
  [
    'LC10',
    'the rules of a bucket act in its successor of that name',
    `${ROOM}acting.ts`,
    'const rule = bucket.id === bucketId ? ruleOf(draft, bucket, ruleId) : undefined',
    'const rule = ruleOf(draft, bucket, bucketId === ruleId ? bucketId : ruleId)',
    ACTING,
  ],
  [
    'LC11',
    'a walk that is through with earlier rules counts for those that were set since',
    `${ROOM}acting.ts`,
    'lifecycleOf(draft, found.value)?.revision !== revision',
    'lifecycleOf(draft, found.value)?.revision === undefined',
    ACTING,
  ],
  [
    'LC12',
    'a node whose clock is ahead passes over days',
    `${ROOM}acting.ts`,
    'const walkedAt = Math.min(judgedAt, confirmedTime)',
    'const walkedAt = Math.max(judgedAt, confirmedTime)',
    ACTING,
  ],
  [
    'LC13',
    'every node walks, on duty or not',
    'src/workers/lifecycle.ts',
    '    if (!this.#parts.cluster.isJobRunner()) {\n',
    '    if (!this.#parts.cluster.isJobRunner() && this.#walks.length > 0) {\n',
    WALKS,
  ],
  [
    'LC14',
    'a large bucket holds the others up',
    'src/workers/lifecycle.ts',
    "if (next !== 'done') this.#walks = [...this.#walks, next]",
    "if (next !== 'done') this.#walks = [next, ...this.#walks]",
    WALKS,
  ],
]

export const LIFECYCLE_MUTANTS: readonly Mutant[] = killedByTests(rows)
