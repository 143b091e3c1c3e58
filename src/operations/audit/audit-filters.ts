/**
 * Which rows of the audit log a query asks for.
 *
 * Owns: what each filter means for a row, for its text, and for the index of a segment. Knows nothing of: pages, windows.
 * Rule: the three answers agree: a row that matches has the text in it, and its names in the index.
 */
import type { AuditIndex, AuditRow } from '../../state-machine/audit/records.ts'
import { Refusal } from '../../base/refusal.ts'
import { OUTCOMES, type Outcome, outcomeOf } from './outcome.ts'
import { keysOf, nameOf, sessionsOf, type NameKind, NameFilter } from '../audit-segments/segment-index.ts'

/** All texts as they were given. */
export interface AuditFilters {
  readonly tenant?: string
  readonly operation?: string
  /** Id of an access key, an admin token or a signed URL. */
  readonly actor?: string
  /** Name of the session of a temporary credential. */
  readonly session?: string
  readonly bucket?: string
  /** Of a batch any of its keys. */
  readonly key?: string
  readonly keyPrefix?: string
  readonly outcome?: string
  readonly requestId?: string
}

export interface RowFilter {
  /** Each occurs in the JSON text of every row that matches: rows without one of them are not parsed. */
  readonly texts: readonly string[]
  readonly matches: (row: AuditRow) => boolean
  /** False: no row of the segment matches. */
  readonly mayBeIn: (index: AuditIndex) => boolean
}

/** Throws Refusal `invalid_argument`. */
export function rowFilter(filters: AuditFilters): RowFilter {
  const outcome = filters.outcome === undefined ? undefined : readOutcome(filters.outcome)
  const { tenant, operation, actor, session, bucket, key, requestId } = filters
  const wanted: readonly (readonly [NameKind, string | undefined])[] = [
    ['tenant', tenant],
    ['operation', operation],
    ['actor', actor],
    ['session', session],
    ['bucket', bucket],
    ['key', key],
    ['request', requestId],
  ]
  const names = wanted.flatMap(([kind, text]) => (text === undefined ? [] : [nameOf(kind, text)]))
  const matches = matcher(filters, outcome)
  const mayBeIn = ({ names: bits, codes }: AuditIndex): boolean => {
    const hasOutcome =
      outcome === undefined || codes === null || codes.some((code) => outcomeOf({ code }) === outcome)
    return hasOutcome && new NameFilter(bits).hasAll(names)
  }
  return { texts: textsIn(filters), matches, mayBeIn }
}

/** As JSON spells them. */
function textsIn(filters: AuditFilters): readonly string[] {
  const { tenant, operation, actor, session, bucket, key, keyPrefix, requestId } = filters
  return [tenant, operation, actor, session, bucket, key, keyPrefix, requestId]
    .filter((text) => text !== undefined)
    .map((text) => JSON.stringify(text).slice(1, -1))
}

function matcher(filters: AuditFilters, outcome: Outcome | undefined): (row: AuditRow) => boolean {
  const { tenant, operation, actor, session, bucket, key, keyPrefix, requestId } = filters
  return (row) =>
    is(tenant, row.tenantId) &&
    is(operation, row.operation) &&
    (is(actor, row.actor.id) || is(actor, row.actor.accessKeyId ?? null)) &&
    (session === undefined || sessionsOf(row).includes(session)) &&
    is(bucket, row.bucket) &&
    is(requestId, row.requestId) &&
    (outcome === undefined || outcome === outcomeOf(row)) &&
    (key === undefined || keysOf(row).includes(key)) &&
    (keyPrefix === undefined || keysOf(row).some((each) => each.startsWith(keyPrefix)))
}

function is(wanted: string | undefined, found: string | null): boolean {
  return wanted === undefined || wanted === found
}

function readOutcome(text: string): Outcome {
  const outcome = OUTCOMES.find((each) => each === text)
  if (outcome !== undefined) return outcome
  throw new Refusal(
    'invalid_argument',
    `"outcome" is "${text.slice(0, 32)}": give one of ${OUTCOMES.join(', ')}`,
  )
}
