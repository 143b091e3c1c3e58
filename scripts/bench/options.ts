/**
 * What `npm run bench` accepts.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../local/options.ts'

export interface BenchTarget {
  readonly endpoints: readonly string[]
  readonly accessKeyId: string
  readonly secretKey: string
}

export interface BenchOptions {
  readonly seconds: number
  /** Clients of the small operations; the large ones have their own, lower number. */
  readonly clients: number
  readonly only: string | null
  /** Rounds of each way to lose the leader; 0 for none. */
  readonly failovers: number
  readonly jsonFile: string | null
  /** Settings for the nodes of a fresh cluster, over the defaults. */
  readonly configFile: string | null
  /** A running cluster; null: a fresh one. */
  readonly target: BenchTarget | null
}

export const BENCH_USAGE = `npm run bench -- [--seconds S] [--clients N] [--only TEXT] [--fail-overs N]
                 [--json FILE] [--config FILE] [--endpoint URL[,URL] --access-key ID --secret-key KEY]

  --seconds S      how long each row is measured, 1 to 3600 (default 20)
  --clients N      clients of the small operations, 1 to 1024 (default 64)
  --only TEXT      only the rows whose name contains this, such as "PUT", "64 MiB" or "raft"
  --fail-overs N   how often the leader is killed, and how often stopped, 0 to 100 (default 5); never with --endpoint
  --json FILE      the same report as JSON
  --config FILE    settings (YAML) for the nodes, over the defaults, to measure the effect of a setting
  --endpoint URL   measure a running cluster, instead of three fresh nodes in a temporary folder.
                   A bucket is created there and removed with its contents; figures of processes are unknown then.
`

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        seconds: { type: 'string', default: '20' },
        clients: { type: 'string', default: '64' },
        only: { type: 'string' },
        'fail-overs': { type: 'string', default: '5' },
        json: { type: 'string' },
        config: { type: 'string' },
        endpoint: { type: 'string' },
        'access-key': { type: 'string' },
        'secret-key': { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function targetOf(values: ReturnType<typeof parse>): BenchTarget | null {
  const { endpoint, 'access-key': accessKeyId, 'secret-key': secretKey } = values
  if (endpoint === undefined && accessKeyId === undefined && secretKey === undefined) return null
  if (endpoint === undefined || accessKeyId === undefined || secretKey === undefined)
    throw new UsageError('--endpoint, --access-key and --secret-key belong together')
  const endpoints = endpoint.split(',').map((url) => {
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol))
      throw new UsageError(`--endpoint takes http:// or https:// addresses, got '${url}'`)
    return parsed.origin
  })
  return { endpoints, accessKeyId, secretKey }
}

/** Null when help was requested. Throws UsageError. */
export function parseBenchOptions(argv: readonly string[]): BenchOptions | null {
  const values = parse(argv)
  if (values.help) return null
  if (values.config !== undefined && values.endpoint !== undefined)
    throw new UsageError('--config is for a fresh cluster, not for a running one')
  return {
    seconds: wholeNumber(values.seconds, '--seconds', { min: 1, max: 3600 }),
    clients: wholeNumber(values.clients, '--clients', { min: 1, max: 1024 }),
    only: values.only ?? null,
    failovers: wholeNumber(values['fail-overs'], '--fail-overs', { min: 0, max: 100 }),
    jsonFile: values.json === undefined ? null : resolve(values.json),
    configFile: values.config === undefined ? null : resolve(values.config),
    target: targetOf(values),
  }
}
