/**
 * `holdfast tenant` and `holdfast usage`.
 */
import type { AdminOperations } from '../../client/generated/admin-operations.ts'
import { askAdmin, pagesOf } from '../base/asking.ts'
import { type AdminAccessOptions, tenantOf } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printable, printFacts, printJson, printTable, sizeText } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface ReadOptions extends AdminAccessOptions {
  readonly json?: boolean
}

export interface CreateTenantOptions extends AdminAccessOptions, ChangeOptions {
  readonly id?: string
}

export function listTenants(options: ReadOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    for await (const { tenants } of pagesOf((from) => client.call('listTenants', { query: from })))
      if (options.json) for (const tenant of tenants) printJson(tenant)
      else
        printTable(tenants.map(({ id, status, createdAt, name }) => [id, status, createdAt, printable(name)]))
    return EXIT.done
  })
}

export function getTenant(id: string, options: ReadOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getTenant', { params: { id } })
    if (options.json) printJson(answer)
    else printFacts({ ...answer })
    return EXIT.done
  })
}

export function createTenant(name: string, options: CreateTenantOptions): Promise<number> {
  const body = { name, ...(options.id === undefined ? {} : { id: options.id }) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('createTenant', { body, query: rehearsal(options) })
    return reportChange<object>(answer, options, (tenant) => printFacts({ ...tenant }))
  })
}

export interface UsageOptions extends ReadOptions {
  readonly tenant?: string
}

export function showUsage(options: UsageOptions): Promise<number> {
  const id = tenantOf(options)
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getTenantUsage', { params: { id } })
    if (options.json) {
      printJson(answer)
      return EXIT.done
    }
    const { byBucket, ...totals } = answer
    printTable(usageRows(totals))
    if (totals.isTruncated) note('Only the first 1,000 buckets are listed below.')
    note('')
    printTable([
      ...(byBucket.length === 0 ? [] : [['SIZE'.padStart(10), 'OBJECTS', 'VERSIONS', 'BUCKET']]),
      ...byBucket.map(({ name, objects, versions, logicalBytes }) => [
        sizeText(logicalBytes).padStart(10),
        `${objects}`,
        `${versions}`,
        name,
      ]),
    ])
    return EXIT.done
  })
}

type Totals = Omit<AdminOperations['getTenantUsage']['answer'], 'byBucket'>

/** What people read in place of the names of the API. */
const USAGE_NAMES: readonly (readonly [member: keyof Totals, name: string])[] = [
  ['tenantId', 'tenant'],
  ['asOf', 'at'],
  ['buckets', 'buckets'],
  ['objects', 'objects'],
  ['versions', 'versions'],
  ['deleteMarkers', 'delete markers'],
  ['logicalBytes', 'bytes of versions'],
  ['multipartUploads', 'unfinished uploads'],
  ['multipartBytes', 'bytes of unfinished uploads'],
  ['metadataBytes', 'bytes of metadata'],
  ['notificationConfigs', 'notification configs'],
  ['physicalBytes', 'bytes on disks, all copies'],
  ['storedBytes', 'bytes stored, each chunk once'],
  ['inlineBytes', 'bytes of small bodies'],
  ['dedupSavedBytes', 'bytes saved by deduplication'],
  ['compressionSavedBytes', 'bytes saved by compression'],
]

function usageRows(totals: Totals): readonly (readonly string[])[] {
  return USAGE_NAMES.map(([member, name]) => {
    const value = totals[member]
    const isSize = typeof value === 'number' && member.endsWith('Bytes')
    return [name, isSize ? `${value} (${sizeText(value)})` : `${String(value)}`]
  })
}
