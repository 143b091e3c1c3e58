/**
 * The replication of all buckets of a tenant: look-up, setting, removal, and what it would do. Only an owner sets one, because everything that the tenant
 * stores goes there.
 *
 * setTenantReplication: authorize -> find -> valid -> the target takes the credentials -> commit.
 */
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { settle } from '../../commands/settle.ts'
import { bucketRanges } from '../../state-machine/buckets/keys.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import { siteRanges } from '../../state-machine/sites/keys.ts'
import type { TenantSiteRecord, WaitingSiteRecord } from '../../state-machine/sites/records.ts'
import { siteOf } from '../../state-machine/sites/sites.ts'
import { tenantSiteOf } from '../../state-machine/sites/tenant-sites.ts'
import { adminOperation } from '../base/operation.ts'
import type { Services } from '../base/services.ts'
import { tenantTarget } from '../base/targets.ts'
import { findTenant } from '../tenants/find-tenant.ts'
import { type FollowVerdict, followVerdict } from './follow-verdict.ts'
import { atTarget } from './replicated-bucket.ts'
import {
  checkSiteRules,
  checkTenantTarget,
  type SiteRuleInput,
  type TenantTargetInput,
} from './replication-config.ts'

export const WAITING_SHOWN = 100
const COUNTED_PER_PAGE = 256
const COUNTED_MAX = 10_000

interface Named {
  /** Of the tenant. */
  readonly id: string
}

interface SetTenantReplicationInput extends Named {
  readonly target: TenantTargetInput
  readonly rules: readonly SiteRuleInput[]
  readonly createsBuckets: boolean
  readonly existing: boolean
}

export interface TenantReplication {
  readonly site: TenantSiteRecord
  /** The first of the buckets whose target is not there or refuses. */
  readonly waiting: readonly WaitingSiteRecord[]
}

export const getTenantReplication = adminOperation(
  {
    id: 'getTenantReplication',
    requires: adminToken('viewer', 'one-tenant'),
    refuses: [],
    target: tenantTarget,
  },
  async (services, principal, { id }: Named): Promise<TenantReplication> => {
    const { id: tenantId } = findTenant(services, id)
    const site = tenantSiteOf(services.state, tenantId)
    if (site === undefined)
      throw new Refusal('not_found', `Tenant "${tenantId}" is not replicated as a whole`)
    return { site, waiting: await waitingOf(services, tenantId) }
  },
)

export const setTenantReplication = adminOperation(
  {
    id: 'setTenantReplication',
    requires: adminToken('owner', 'one-tenant'),
    refuses: [
      'target_refused',
      'unsupported_target',
      'invalid_argument',
      'invalid_tag',
      'precondition_failed',
      'quota_exceeded',
    ],
    target: tenantTarget,
  },
  async (services, principal, input: SetTenantReplicationInput): Promise<TenantReplication> => {
    const { siteSecrets, cluster, config, openSite, state, stopping } = services
    const { id: tenantId } = findTenant(services, input.id)
    const rules = checkSiteRules(input.rules)
    const target = checkTenantTarget(input.target, { settings: config.notifications, tenantId })
    await requireLevel(cluster, COMMAND_LEVELS.setTenantReplication)
    const { secretKey } = input.target
    const plain = secretKey ?? keptSecret(services, tenantSiteOf(state, tenantId), target)
    const { bucketPrefix: _, ...place } = target
    const store = { tenantId, target: { ...place, bucket: '', identity: null } }
    await atTarget(openSite(store, plain, stopping).probeStore())
    const { createsBuckets, existing } = input
    const secret = siteSecrets.sealForTenant(tenantId, plain)
    const requested = { target, secret, rules, createsBuckets, existing }
    const site = settle(await services.propose({ type: 'setTenantReplication', tenantId, ...requested }))
    return { site, waiting: await waitingOf(services, tenantId) }
  },
)

/** authorize -> find -> commit; that there was none is no error. Buckets that follow are released in the background. */
export const deleteTenantReplication = adminOperation(
  {
    id: 'deleteTenantReplication',
    requires: adminToken('owner', 'one-tenant'),
    refuses: ['precondition_failed'],
    target: tenantTarget,
  },
  async (services, principal, { id }: Named): Promise<null> => {
    const { id: tenantId } = findTenant(services, id)
    return settle(await services.propose({ type: 'deleteTenantReplication', tenantId }))
  },
)

/** How many buckets a replication of the tenant is about, of the first so many. */
export interface FollowCounts {
  readonly follow: number
  readonly own: number
  /** Made by another site for another name. */
  readonly copies: number
}

export async function followCounts(services: Services, site: TenantSiteRecord): Promise<FollowCounts> {
  const { state, cluster } = services
  const now = cluster.time.now()
  const verdicts: FollowVerdict[] = []
  for (let after: string | null = ''; after !== null && verdicts.length < COUNTED_MAX; ) {
    const page: { readonly items: readonly BucketRecord[]; readonly next: string | null } = await state.page(
      bucketRanges.buckets(site.tenantId),
      { after, limit: COUNTED_PER_PAGE },
    )
    for (const bucket of page.items)
      verdicts.push(followVerdict({ site, bucket, present: siteOf(state, bucket), waiting: undefined }, now))
    after = page.next
  }
  const [own, copies] = (['own', 'copy'] as const).map(
    (name) => verdicts.filter((verdict) => verdict === name).length,
  )
  return { follow: verdicts.length - (own ?? 0) - (copies ?? 0), own: own ?? 0, copies: copies ?? 0 }
}

async function waitingOf({ state }: Services, tenantId: string): Promise<readonly WaitingSiteRecord[]> {
  return (await state.page(siteRanges.waitingSites(tenantId), { limit: WAITING_SHOWN })).items
}

/** A secret goes to no other address, and is used with no other key, than those it was given for. */
function keptSecret(
  { siteSecrets }: Services,
  present: TenantSiteRecord | undefined,
  { endpoint, accessKeyId }: TenantSiteRecord['target'],
): string {
  if (present?.target.endpoint === endpoint && present.target.accessKeyId === accessKeyId)
    return siteSecrets.openOfTenant(present.tenantId, present.secret)
  throw new Refusal(
    'invalid_request',
    'The replication is not accepted: target.secretKey is missing; it stays only while endpoint and accessKeyId stay',
  )
}
