/**
 * `holdfast quota`: the limits of a tenant.
 *
 * Rule: the API replaces a quota as a whole, so limits that the command does not name are sent as they are.
 */
import type { AdminClient } from '../../client/clients.ts'
import type { Quota } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import { type AdminAccessOptions, tenantOf } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printTable, sizeText } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface QuotaOptions extends AdminAccessOptions, ChangeOptions {
  readonly tenant?: string
}

type Limit = number | 'none'

export interface SetQuotaOptions extends QuotaOptions {
  readonly maxBytes?: Limit
  readonly maxObjects?: Limit
  readonly maxBuckets?: Limit
  readonly maxVersions?: Limit
  readonly maxUploads?: Limit
  readonly maxMetadataBytes?: Limit
}

export function getQuota(options: QuotaOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const quota = await quotaOf(client, options)
    if (options.json) printJson(quota)
    else printQuota(quota)
    return EXIT.done
  })
}

export function setQuota(options: SetQuotaOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { quota } = await quotaOf(client, options)
    const body = {
      maxBytes: limitOf(options.maxBytes, quota.maxBytes),
      maxObjects: limitOf(options.maxObjects, quota.maxObjects),
      maxBuckets: limitOf(options.maxBuckets, quota.maxBuckets),
      ...furtherLimits(options, quota),
    }
    const call = { params: { id: tenantOf(options) }, body, query: rehearsal(options) }
    return reportChange<Quota>((await client.call('setTenantQuota', call)).answer, options, printQuota)
  })
}

export function clearQuota(options: QuotaOptions): Promise<number> {
  const id = tenantOf(options)
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('deleteTenantQuota', { params: { id }, query: rehearsal(options) })
    if (answer === undefined && !options.json) note(`${id} has no quota now`)
    return reportChange<object>(answer, options, () => {})
  })
}

/** Named only where there is one or the command removes it, so that the command works with nodes that do not know them. */
function furtherLimits(options: SetQuotaOptions, quota: Quota['quota']) {
  const names = ['maxVersions', 'maxUploads', 'maxMetadataBytes'] as const
  const limits = names.flatMap((name) => {
    const limit = limitOf(options[name], quota[name] ?? null)
    return limit === null && options[name] === undefined ? [] : [[name, limit] as const]
  })
  return Object.fromEntries(limits)
}

/** Null: no limit. */
function limitOf(requested: Limit | undefined, present: number | null): number | null {
  if (requested === undefined) return present
  return requested === 'none' ? null : requested
}

async function quotaOf(client: AdminClient, options: QuotaOptions): Promise<Quota> {
  return (await client.call('getTenantQuota', { params: { id: tenantOf(options) } })).answer
}

function printQuota({ quota, usage, metadataBytesMax }: Quota): void {
  const limit = (value: number | null, text: (value: number) => string): string =>
    value === null ? 'without a limit' : `of ${text(value)}`
  printTable([
    ['bytes', sizeText(usage.bytes), limit(quota.maxBytes, sizeText)],
    ['objects', `${usage.objects}`, limit(quota.maxObjects, String)],
    ['buckets', `${usage.buckets}`, limit(quota.maxBuckets, String)],
    ['versions and markers', `${usage.versions}`, limit(quota.maxVersions ?? null, String)],
    ['unfinished uploads', `${usage.uploads}`, limit(quota.maxUploads ?? null, String)],
    ['metadata', sizeText(usage.metadataBytes), limit(metadataBytesMax, sizeText)],
  ])
}
