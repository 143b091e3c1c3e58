/**
 * All admin tokens, without their hashes: a hash is of no use to people and of some use to thieves.
 */
import type { Services } from '../base/services.ts'
import { tenantRanges } from '../../state-machine/tenants/keys.ts'
import type { AdminTokenRecord } from '../../state-machine/tenants/records.ts'
import type { Page } from '../../store/reads/state-reader.ts'

export type AdminTokenListing = Omit<AdminTokenRecord, 'sha256'>

const PAGE = 1000
/** A cluster has tens of admin tokens; the bound only keeps a runaway script from filling memory. */
const TOKENS_MAX = 10_000

export async function listAdminTokens(services: Services): Promise<readonly AdminTokenListing[]> {
  await services.cluster.readBarrier()
  const listed: AdminTokenListing[] = []
  let after: string | null = ''
  while (after !== null && listed.length < TOKENS_MAX) {
    const page: Page<AdminTokenRecord> = await services.state.page(tenantRanges.adminTokens(), {
      after,
      limit: PAGE,
    })
    listed.push(...page.items.map(({ sha256: _hash, ...rest }) => rest))
    after = page.next
  }
  return listed
}
