/**
 * disableTenant: authorize -> tenant exists -> reason -> commit. Its active access keys are revoked in the same entry, of more than
 * an entry takes the rest in those that follow; nobody can use any of them from the first entry on. Again changes nothing.
 */
import { authorize } from '../../access/authorize.ts'
import type { AdminTokenPrincipal } from '../../access/principal.ts'
import { ITEMS_PER_COMMAND_MAX } from '../../state-machine/copies.ts'
import type { TenantId, TenantRecord } from '../../state-machine/records.ts'
import { givenReason } from '../reason.ts'
import type { Services } from '../services.ts'
import { settle } from '../settle.ts'
import { findTenant } from './find-tenant.ts'

export async function disableTenant(
  services: Services,
  principal: AdminTokenPrincipal,
  input: { readonly id: string; readonly reason: string },
): Promise<TenantRecord> {
  authorize(principal, 'disableTenant', { tenantId: input.id })
  const { id: tenantId } = findTenant(services, input.id)
  const reason = givenReason(input.reason, `disable tenant "${tenantId}"`)
  const first = await activeKeys(services, tenantId, '')
  const wish = { type: 'disableTenant', tenantId, reason } as const
  const tenant = settle(await services.propose({ ...wish, accessKeyIds: first.accessKeyIds }))
  // Made while the first page was read, or beyond it. From here on none is made any more, so one walk finds all.
  await services.cluster.readBarrier()
  for (let after: string | null = ''; after !== null; ) {
    const { accessKeyIds, next } = await activeKeys(services, tenantId, after)
    if (accessKeyIds.length > 0) settle(await services.propose({ ...wish, accessKeyIds }))
    after = next
  }
  return tenant
}

async function activeKeys(
  { state }: Services,
  tenantId: TenantId,
  after: string,
): Promise<{ readonly accessKeyIds: readonly string[]; readonly next: string | null }> {
  const { items, next } = await state.accessKeys(tenantId, after, ITEMS_PER_COMMAND_MAX)
  const active = items.filter(({ status }) => status === 'active')
  return { accessKeyIds: active.map(({ accessKeyId }) => accessKeyId), next }
}
