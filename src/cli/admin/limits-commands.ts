/**
 * `holdfast limits`: how much a tenant may ask for.
 *
 * Rule: the API replaces the limits as a whole, so limits that the command does not name are sent as they are.
 */
import type { AdminClient } from '../../client/clients.ts'
import type { TenantLimits } from '../../client/generated/admin-operations.ts'
import { askAdmin } from '../base/asking.ts'
import { type AdminAccessOptions, tenantOf } from '../base/cluster-access.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printLine, printTable, sizeText } from '../base/printing.ts'
import { type ChangeOptions, rehearsal, reportChange } from './outcome.ts'

export interface LimitsOptions extends AdminAccessOptions, ChangeOptions {
  readonly tenant?: string
}

type Limit = number | 'none' | 'default'

export interface SetLimitsOptions extends LimitsOptions {
  readonly eachKey?: boolean
  readonly requests?: Limit
  readonly bytesIn?: Limit
  readonly bytesOut?: Limit
  /** Milliseconds. */
  readonly burst?: Limit
  readonly requestsAtOnce?: Limit
  readonly uploadsAtOnce?: Limit
  readonly weight?: number
}

type Scope = TenantLimits['limits']['tenant']

export function showLimits(options: LimitsOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const limits = await limitsOf(client, options)
    if (options.json) printJson(limits)
    else printLimits(limits)
    return EXIT.done
  })
}

export function setLimits(options: SetLimitsOptions): Promise<number> {
  return askAdmin(options, async (client) => {
    const { limits } = await limitsOf(client, options)
    const { eachKey = false, weight = limits.weight } = options
    const body = eachKey
      ? { tenant: limits.tenant, accessKey: changed(limits.accessKey, options), weight }
      : { tenant: changed(limits.tenant, options), accessKey: limits.accessKey, weight }
    const call = { params: { id: tenantOf(options) }, body, query: rehearsal(options) }
    const { answer } = await client.call('setTenantLimits', call)
    return reportChange<TenantLimits>(answer, options, printLimits)
  })
}

export function clearLimits(options: LimitsOptions): Promise<number> {
  const id = tenantOf(options)
  return askAdmin(options, async (client) => {
    const { answer } = await client.call('deleteTenantLimits', { params: { id }, query: rehearsal(options) })
    if (answer === undefined && !options.json) note(`${id} has the limits of the nodes now`)
    return reportChange<object>(answer, options, () => {})
  })
}

function changed(present: Scope, options: SetLimitsOptions): Scope {
  const { burst } = options
  const burstSeconds = typeof burst === 'number' ? Math.max(1, Math.round(burst / 1000)) : burst
  return {
    requestsPerSecond: limitOf(options.requests, present.requestsPerSecond),
    bytesInPerSecond: limitOf(options.bytesIn, present.bytesInPerSecond),
    bytesOutPerSecond: limitOf(options.bytesOut, present.bytesOutPerSecond),
    burstSeconds: limitOf(burstSeconds, present.burstSeconds),
    requestsAtOnce: limitOf(options.requestsAtOnce, present.requestsAtOnce),
    uploadsAtOnce: limitOf(options.uploadsAtOnce, present.uploadsAtOnce),
  }
}

/** Null: the setting of the nodes; 0: no limit. */
function limitOf(requested: Limit | undefined, present: number | null): number | null {
  if (requested === undefined) return present
  if (requested === 'default') return null
  return requested === 'none' ? 0 : requested
}

async function limitsOf(client: AdminClient, options: LimitsOptions): Promise<TenantLimits> {
  return (await client.call('getTenantLimits', { params: { id: tenantOf(options) } })).answer
}

function printLimits({ limits, applied, use }: TenantLimits): void {
  const row = (
    title: string,
    member: keyof Scope,
    text: (value: number) => string = String,
  ): readonly string[] => {
    const cell = (scope: 'tenant' | 'accessKey'): string => {
      const value = applied[scope][member]
      const origin = limits[scope][member] === null ? ' (default)' : ''
      return `${value === 0 ? 'no limit' : text(value)}${origin}`
    }
    return [title, cell('tenant'), cell('accessKey')]
  }
  printTable([
    ['', 'tenant', 'each key'],
    row('requests a second', 'requestsPerSecond'),
    row('bytes in a second', 'bytesInPerSecond', sizeText),
    row('bytes out a second', 'bytesOutPerSecond', sizeText),
    row('burst in seconds', 'burstSeconds'),
    row('requests at once', 'requestsAtOnce'),
    row('uploads at once', 'uploadsAtOnce'),
    ['weight', `${limits.weight}`, ''],
  ])
  const { requestsAtOnce, uploadsAtOnce, refused, limitedWithinSeconds } = use
  printLine(`${requestsAtOnce} requests run now, ${uploadsAtOnce} of them uploads`)
  if (limitedWithinSeconds !== null)
    printLine(
      `limited ${limitedWithinSeconds} s ago at the asked node, ${refused} requests refused since its start`,
    )
}
