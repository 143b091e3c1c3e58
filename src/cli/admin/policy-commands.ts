/**
 * `holdfast policy`: the policy of a bucket.
 */
import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { BucketPolicy } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import { type AdminAccessOptions, tenantOf } from '../base/cluster-access.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson, printLine } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface PolicyOptions extends AdminAccessOptions, ChangeOptions {
  readonly tenant?: string
}

export function getPolicy(bucket: string, options: PolicyOptions): Promise<number> {
  const params = { id: tenantOf(options), bucket }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('getTenantBucketPolicy', { params })
    if (options.json) printJson(answer)
    else printLine(JSON.stringify(answer, null, 2))
    return EXIT.done
  })
}

export async function setPolicy(bucket: string, file: string, options: PolicyOptions): Promise<number> {
  const params = { id: tenantOf(options), bucket }
  const body = policyOf(file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'), file)
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('setTenantBucketPolicy', { params, body, query: rehearsal(options) })
    return reportChange<object>(answer, options, () => note(`${bucket} has this policy now`))
  })
}

export function deletePolicy(bucket: string, options: PolicyOptions): Promise<number> {
  const params = { id: tenantOf(options), bucket }
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('deleteTenantBucketPolicy', { params, query: rehearsal(options) })
    if (answer === undefined && !options.json) note(`${bucket} has no policy now`)
    return reportChange<object>(answer, options, () => {})
  })
}

/** The service validates the policy; this checks only that it is an object with a Statement. */
function policyOf(json: string, file: string): BucketPolicy {
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'object' && value !== null && 'Statement' in value) return value as BucketPolicy
  } catch {
    // The error below covers this case.
  }
  throw new CommandError(`'${file}' does not contain a policy`, {
    code: 'invalid_argument',
    hint: 'Write a JSON object with "Statement"; docs/formats/bucket-policy.md has all members.',
    exitCode: EXIT.usage,
  })
}
