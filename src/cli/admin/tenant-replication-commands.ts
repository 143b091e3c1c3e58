/**
 * `holdfast tenant replication`: where all buckets of a tenant are replicated to. Rule: a secret comes from the environment or a file, never from the command line.
 */
import type { TenantReplication } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import type { AdminAccessOptions } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printable, printFacts, printJson, printTable } from '../base/printing.ts'
import { type RuleOptions, rulesIn } from '../base/replication-rules.ts'
import { sourceCredentials } from '../base/store-credentials.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface TenantReplicationOptions extends AdminAccessOptions, ChangeOptions {}

export interface SetTenantReplicationOptions extends TenantReplicationOptions, RuleOptions {
  readonly to: string
  readonly bucketPrefix?: string
  readonly targetKeyFile?: string
  readonly region?: string
  readonly virtualHost?: boolean
  readonly createBuckets?: boolean
  readonly existing?: boolean
}

export async function setTenantReplication(
  id: string,
  options: SetTenantReplicationOptions,
): Promise<number> {
  const { to, bucketPrefix, region, virtualHost, createBuckets = false, existing = false } = options
  const { accessKeyId, secretKey } = sourceCredentials(options.targetKeyFile, {
    option: '--target-key-file',
    of: 'the target',
  })
  const rules = await rulesIn(options)
  const target = {
    endpoint: to,
    ...(bucketPrefix === undefined ? {} : { bucketPrefix }),
    ...(region === undefined ? {} : { region }),
    ...(virtualHost === undefined ? {} : { virtualHost }),
    accessKeyId,
    secretKey,
  }
  const body = { target, ...(rules === undefined ? {} : { rules }), createBuckets, existing }
  return askAdmin(options, async (client) => {
    const call = { params: { id }, body, query: rehearsal(options) }
    const { answer } = await client.call('setTenantReplication', call)
    return reportChange<TenantReplication>(answer, options, ({ target: { endpoint } }) =>
      note(`buckets of ${id} without a replication of their own go to ${endpoint} from now on`),
    )
  })
}

export function showTenantReplication(id: string, options: TenantReplicationOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getTenantReplication', { params: { id } })
    if (options.json) printJson(answer)
    else print(answer)
    return EXIT.done
  })
}

export function removeTenantReplication(id: string, options: TenantReplicationOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const call = { params: { id }, query: rehearsal(options) }
    const { answer } = await client.call('deleteTenantReplication', call)
    if (answer === undefined && !options.json)
      note(`the buckets of ${id} are released from its replication; what is there stays`)
    return reportChange<object>(answer, options, () => {})
  })
}

function print({ target, rules, waiting, ...facts }: TenantReplication): void {
  printFacts({ ...facts, ...target, rules: JSON.stringify(rules) })
  if (waiting.length === 0) return
  const rows = waiting.map(({ bucket, attempts, error }) => [bucket, `${attempts}`, printable(error)])
  printTable([['WAITS', 'ATTEMPTS', 'WHY'], ...rows])
}
