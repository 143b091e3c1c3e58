/**
 * Service accounts, which own access keys.
 *
 * Owns: createAccount. Knows nothing of: keys, except the count that tenant-access.ts keeps in the row of the account.
 * Rule: no two accounts of a tenant have the same name, so that a repeated create does not make a second account.
 */
import { tenantKeys } from './keys.ts'
import type { ApplyContext, View } from '../base/view.ts'
import { isKeyPart } from '../base/row-key.ts'
import type { TenantCommand } from './commands.ts'
import type { Draft } from '../base/draft.ts'
import type { TenantId } from '../base/record-ids.ts'
import { type AccountRecord, ACCOUNTS_PER_TENANT_MAX } from './records.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { tenantAccessOf, openTenant } from './tenant-access.ts'
import { accountIdAt } from '../base/version-id.ts'

export function createAccount(
  draft: Draft,
  command: Extract<TenantCommand, { type: 'createAccount' }>,
  context: ApplyContext,
): Accepted<AccountRecord> | Refused {
  const { tenantId, name, description } = command
  if (!isKeyPart(name)) return refuse('invalid_argument', 'Cannot create account: its name is malformed')
  const tenant = openTenant(draft, tenantId, 'create account')
  if (!tenant.ok) return tenant
  if (draft.get(tenantKeys.accountName(tenantId, name)) !== undefined) {
    return refuse(
      'already_exists',
      `Cannot create account: tenant "${tenantId}" has one with the name "${name}"`,
    )
  }
  const access = tenantAccessOf(draft, tenantId)
  if (access.accountCount >= ACCOUNTS_PER_TENANT_MAX) {
    const message = `Cannot create account: tenant "${tenantId}" has ${access.accountCount} and no more are allowed`
    return refuse('precondition_failed', message)
  }
  const account: AccountRecord = {
    accountId: accountIdAt(context),
    tenantId,
    name,
    description,
    createdAt: context.time,
    keyCount: 0,
  }
  draft.put(tenantKeys.account(tenantId, account.accountId), account)
  draft.put(tenantKeys.accountName(tenantId, name), { accountId: account.accountId })
  draft.put(tenantKeys.tenantAccess(tenantId), { ...access, accountCount: access.accountCount + 1 })
  return accept(account)
}

/** Another tenant's account gets the same answer as one that does not exist. */
export function accountOf(view: View, tenantId: TenantId, id: string): Accepted<AccountRecord> | Refused {
  const account = isKeyPart(id) ? view.get(tenantKeys.account(tenantId, id)) : undefined
  return account === undefined
    ? refuse('not_found', `Account "${id.slice(0, 64)}" does not exist in tenant "${tenantId}"`)
    : accept(account)
}
