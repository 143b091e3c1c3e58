/**
 * queryAuditLog: authorize -> whose rows -> window, filters and place of the page -> one bounded page. [decisions 11]
 *
 * Rules: a token of one tenant sees the rows of that tenant and no others, and is told so when it names another one; a page
 * reads so much at most, whatever is found in it: one with few rows or none may have a next one.
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/principal.ts'
import { Refusal } from '../../refusal.ts'
import type { AuditRow } from '../../state-machine/audit-records.ts'
import type { AuditPlace, PlacedAuditRow } from '../../store/state-reader.ts'
import { openContinuationToken, sealContinuationToken } from '../continuation-token.ts'
import type { Services } from '../services.ts'
import { readDuration } from './duration.ts'
import { OUTCOMES, type Outcome, outcomeOf } from './outcome.ts'

const SINCE_DEFAULT = '24h'
const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000

/** All texts as they were given. */
export interface AuditFilters {
  readonly tenant?: string
  readonly operation?: string
  /** Id of an access key, an admin token or a signed URL. */
  readonly actor?: string
  readonly bucket?: string
  /** Of a batch any of its keys. */
  readonly key?: string
  readonly keyPrefix?: string
  readonly outcome?: string
  readonly requestId?: string
}

export interface AuditLogInput extends AuditFilters {
  /** Ages. */
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly continuationToken?: string
}

export interface AuditLogPage {
  /** The newest first. */
  readonly records: readonly PlacedAuditRow[]
  readonly nextContinuationToken: string | null
}

export async function queryAuditLog(
  services: Services,
  principal: AdminTokenPrincipal,
  input: AuditLogInput,
): Promise<AuditLogPage> {
  authorize(principal, 'queryAuditLog', {})
  const filters = { ...input, ...tenantFor(principal, input.tenant) }
  const { since = SINCE_DEFAULT, until, limit = LIMIT_DEFAULT, continuationToken } = input
  const matches = matcher(filters)
  const context = ['queryAuditLog', JSON.stringify([since, until ?? null, namesOf(filters)])]
  const place =
    continuationToken === undefined
      ? begin(since, until)
      : placeIn(openContinuationToken(services, context, continuationToken))
  const { rows, next } = await services.state.auditPage({
    ...place,
    limit: Math.min(Math.max(limit, 1), LIMIT_MAX),
    matches,
  })
  const position = next === null ? null : positionOf({ ...place, from: next })
  return {
    records: rows.toSorted((a, b) => b.row.time - a.row.time),
    nextContinuationToken: position === null ? null : sealContinuationToken(services, context, position),
  }
}

function tenantFor(principal: AdminTokenPrincipal, asked: string | undefined): { readonly tenant?: string } {
  const { tenantId, tokenId } = principal
  if (tenantId === null) return asked === undefined ? {} : { tenant: asked }
  if (asked === undefined || asked === tenantId) return { tenant: tenantId }
  throw new Refusal('tenant_scope_denied', `Admin token '${tokenId}' is limited to one tenant`)
}

interface Window {
  readonly since: number
  readonly until: number | null
  readonly from: AuditPlace | null
}

/** The window stays where it is from page to page. */
function begin(since: string, until: string | undefined): Window {
  const now = Date.now()
  const at = (name: string, age: string): number => now - readDuration(name, age)
  return { since: at('since', since), until: until === undefined ? null : at('until', until), from: null }
}

function positionOf({ since, until, from }: Window): string {
  return JSON.stringify([since, until, from?.sequence ?? null, from?.below ?? null])
}

/** It was sealed by this cluster, so it is what positionOf wrote. */
function placeIn(position: string): Window {
  const [since, until, sequence, below] = JSON.parse(position) as [
    number,
    number | null,
    number,
    number | null,
  ]
  return { since, until, from: { sequence, below } }
}

function namesOf(filters: AuditFilters): readonly (string | null)[] {
  const { tenant, operation, actor, bucket, key, keyPrefix, outcome, requestId } = filters
  return [tenant, operation, actor, bucket, key, keyPrefix, outcome, requestId].map((text) => text ?? null)
}

function matcher(filters: AuditFilters): (row: AuditRow) => boolean {
  const { tenant, operation, actor, bucket, key, keyPrefix, requestId } = filters
  const outcome = filters.outcome === undefined ? undefined : readOutcome(filters.outcome)
  return (row) =>
    is(tenant, row.tenantId) &&
    is(operation, row.operation) &&
    (is(actor, row.actor.id) || is(actor, row.actor.accessKeyId ?? null)) &&
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

/** Of the request, and of what a batch names. */
function keysOf({ key, details }: AuditRow): readonly string[] {
  if (key !== null) return [key]
  const deleted = (details?.['deletedKeys'] ?? []) as readonly string[]
  const refused = (details?.['refusedKeys'] ?? []) as readonly { readonly key: string }[]
  return [...deleted, ...refused.map((each) => each.key)]
}
