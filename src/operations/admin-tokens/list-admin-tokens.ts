/**
 * All admin tokens, without their hashes: a hash is of no use to people and of some use to thieves.
 */
import type { Services } from '../base/services.ts'
import { tenantRanges } from '../../state-machine/tenants/keys.ts'
import type { AdminSession, AdminTokenRecord } from '../../state-machine/tenants/records.ts'
import type { Page } from '../../store/reads/state-reader.ts'

export interface AdminTokenListing extends Omit<AdminTokenRecord, 'sha256' | 'session'> {
  /** A person logged in with it. Absent: a token of the command line. */
  readonly session?: Pick<AdminSession, 'user' | 'endsAt'>
}

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
    listed.push(...page.items.map(withoutHash))
    after = page.next
  }
  return listed
}

function withoutHash({ sha256: _hash, session, ...rest }: AdminTokenRecord): AdminTokenListing {
  if (session === undefined) return rest
  const { user, endsAt } = session
  return { ...rest, session: { user, endsAt } }
}
