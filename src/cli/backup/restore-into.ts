/**
 * `holdfast backup restore-into`: over the admin API.
 */
import { askAdmin } from '../base/asking.ts'
import { type OperationOptions, reportStarted } from '../admin/operation-commands.ts'
import { rehearsal } from '../admin/outcome.ts'

export interface RestoreIntoOptions extends OperationOptions {
  readonly from: string
  readonly cluster?: string
  readonly tenant: string
  readonly bucket?: string
  readonly toTenant: string
  readonly toName?: string
  readonly toBucket?: string
  readonly maxRate?: number
  readonly reason: string
}

export function restoreInto(backupId: string, options: RestoreIntoOptions): Promise<number> {
  const { from: target, tenant, toTenant, reason } = options
  const { cluster: clusterId, bucket, toName: toTenantName, toBucket, maxRate: maxBytesPerSecond } = options
  const asked = { clusterId, bucket, toTenantName, toBucket, maxBytesPerSecond }
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
  return askAdmin(options, async (client) => {
    const body = { target, tenant, toTenant, reason, ...given }
    const call = { params: { backupId }, body, query: rehearsal(options) }
    return reportStarted(client, (await client.call('restoreBackup', call)).answer, options)
  })
}
