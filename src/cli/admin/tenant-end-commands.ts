/**
 * `holdfast tenant disable` and `delete`: the end of a tenant, in two steps.
 */
import type { Tenant } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import { note } from '../base/printing.ts'
import { reportStarted, type StartOptions } from './operation-commands.ts'
import { rehearsal, reportChange } from './outcome.ts'

export interface DeleteTenantOptions extends StartOptions {
  /** The id of the tenant, repeated. */
  readonly confirm: string
}

export function disableTenant(id: string, options: StartOptions): Promise<number> {
  const call = { params: { id }, body: { reason: options.reason }, query: rehearsal(options) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('disableTenant', call)
    return reportChange<Tenant>(answer, options, () => note(`${id} is disabled, its access keys are revoked`))
  })
}

export function deleteTenant(id: string, options: DeleteTenantOptions): Promise<number> {
  const { reason, confirm } = options
  return askAdmin(options, async (client) => {
    const call = { params: { id }, body: { reason, confirm }, query: rehearsal(options) }
    return reportStarted(client, (await client.call('deleteTenant', call)).answer, options)
  })
}
