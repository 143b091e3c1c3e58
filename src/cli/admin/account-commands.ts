/**
 * `holdfast account`: service accounts of a tenant, to which access keys can belong.
 */
import type { Account } from '../../client/generated/admin-operations.ts'
import { askAdmin, pagesOf } from '../base/asking.ts'
import { type AdminAccessOptions, tenantOf } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { printable, printFacts, printJson, printTable } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface AccountOptions extends AdminAccessOptions, ChangeOptions {
  readonly tenant?: string
}

export interface CreateAccountOptions extends AccountOptions {
  readonly description?: string
}

export function listAccounts(options: AccountOptions): Promise<number> {
  const params = { id: tenantOf(options) }
  return askAdmin(options, async (client) => {
    for await (const { accounts } of pagesOf((from) =>
      client.call('listTenantAccounts', { params, query: from }),
    ))
      if (options.json) for (const account of accounts) printJson(account)
      else
        printTable(
          accounts.map(({ id, keyCount, createdAt, name, description }) => [
            id,
            `${keyCount} keys`,
            createdAt,
            printable(name),
            description === '' ? '' : printable(description),
          ]),
        )
    return EXIT.done
  })
}

export function createAccount(name: string, options: CreateAccountOptions): Promise<number> {
  const params = { id: tenantOf(options) }
  const body = { name, ...(options.description === undefined ? {} : { description: options.description }) }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('createTenantAccount', { params, body, query: rehearsal(options) })
    return reportChange<Account>(answer, options, (account) => printFacts({ ...account }))
  })
}
