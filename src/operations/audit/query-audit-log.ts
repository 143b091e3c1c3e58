/**
 * queryAuditLog: authorize -> whose rows -> window, filters and place of the page -> one bounded page. [decisions 11]
 *
 * Rules: a token of one tenant sees the rows of that tenant and no others, and is refused when it names another one; a page
 * holds the newest rows that match, however many others lie between them. A search without a match reads on to the end of its
 * window, so it ends with its client.
 */
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import type { AuditSegmentRecord } from '../../state-machine/audit/records.ts'
import { openContinuationToken, sealContinuationToken } from '../base/continuation-token.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import { type AuditFilters, rowFilter } from './audit-filters.ts'
import { auditPage, type AuditPlace, type PlacedAuditRow } from './audit-page.ts'
import { readDuration } from './duration.ts'

const SINCE_DEFAULT = '24h'
const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000

export interface AuditLogInput extends AuditFilters {
  /** Ages. */
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly continuationToken?: string
  /** Aborted when the client goes away: nothing is searched for it from then on. */
  readonly signal: AbortSignal
}

/** Rows that were recorded between two times, ms since 1970, and what was asked for may be among them. */
export type AuditGap = Pick<AuditSegmentRecord, 'firstTime' | 'lastTime' | 'rows'>

export interface AuditLogPage {
  /** The newest first. */
  readonly records: readonly PlacedAuditRow[]
  /** Stretches of the log that no node can read at present. */
  readonly gaps: readonly AuditGap[]
  readonly nextContinuationToken: string | null
}

export const queryAuditLog = adminOperation(
  {
    id: 'queryAuditLog',
    requires: adminToken('auditor', 'own-tenants'),
    refuses: [],
    target: noTarget,
  },
  async (services, principal, { signal, ...input }: AuditLogInput): Promise<AuditLogPage> => {
    const filters = { ...input, ...tenantFor(principal, input.tenant) }
    const { since = SINCE_DEFAULT, until, limit = LIMIT_DEFAULT, continuationToken } = input
    const filter = rowFilter(filters)
    const context = ['queryAuditLog', JSON.stringify([since, until ?? null, namesOf(filters)])]
    const place =
      continuationToken === undefined
        ? begin({ since, until }, services.cluster.time.now())
        : placeIn(openContinuationToken(services, context, continuationToken))
    const walk = { state: services.state, segments: services.auditSegments }
    const query = { ...place, limit: Math.min(Math.max(limit, 1), LIMIT_MAX), filter, signal }
    const { rows, gaps, next } = await services.auditSegments.walk(() => auditPage(walk, query))
    const position = next === null ? null : positionOf({ ...place, from: next })
    return {
      records: rows.toSorted((a, b) => b.row.time - a.row.time),
      gaps,
      nextContinuationToken: position === null ? null : sealContinuationToken(services, context, position),
    }
  },
)

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

interface Asked {
  readonly since: string
  readonly until: string | undefined
}

/** The window stays where it is from page to page. */
function begin({ since, until }: Asked, now: number): Window {
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
  const { tenant, operation, actor, session, bucket, key, keyPrefix, outcome, requestId } = filters
  return [tenant, operation, actor, session, bucket, key, keyPrefix, outcome, requestId].map(
    (text) => text ?? null,
  )
}
