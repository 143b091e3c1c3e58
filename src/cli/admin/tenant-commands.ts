/**
 * `holdfast tenant` and `holdfast usage`.
 */
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
    printFacts(
      Object.fromEntries(Object.entries(totals).map(([name, value]) => [name, inUnits(name, value)])),
    )
    note('')
    printTable(
      byBucket.map(({ name, objects, versions, logicalBytes }) => [
        sizeText(logicalBytes).padStart(10),
        `${objects} objects`,
        `${versions} versions`,
        name,
      ]),
    )
    return EXIT.done
  })
}

const inUnits = (name: string, value: unknown): unknown =>
  name.endsWith('Bytes') && typeof value === 'number' ? `${value} (${sizeText(value)})` : value
