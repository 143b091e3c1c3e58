/**
 * What `npm start` accepts, and the addresses that follow from it. [decisions 15]
 */
import { parseArgs } from 'node:util'
import { resolve } from 'node:path'

export interface LocalOptions {
  readonly nodes: number
  readonly dataDir: string
  readonly basePort: number
  readonly json: boolean
  /** Settings for every node; they override the defaults of the local cluster. */
  readonly configFile: string | null
  readonly restart: boolean
}

/** An error in the command line. */
export class UsageError extends Error {}

export const USAGE = `npm start -- [--nodes N] [--data DIR] [--base-port P] [--json] [--config FILE] [--restart]

  --nodes N       how many nodes, 1 to 9 (default 3)
  --data DIR      the folder for all data (default ./data)
  --base-port P   node i listens on P+10*i (data), P+10*i+1 (admin), P+10*i+2 (peers) (default 9000)
  --json          one line of JSON on standard output when the cluster is ready
  --config FILE   settings (YAML) for every node, over the defaults
  --restart       restart a node when its process ends
`

const NODES_MAX = 9

export function wholeNumber(text: string, name: string, { min, max }: { min: number; max: number }): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < min || value > max)
    throw new UsageError(`${name} takes a whole number from ${min} to ${max}, got '${text}'`)
  return value
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        nodes: { type: 'string', default: '3' },
        data: { type: 'string', default: 'data' },
        'base-port': { type: 'string', default: '9000' },
        json: { type: 'boolean', default: false },
        config: { type: 'string' },
        restart: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

/** Null when help was requested. Throws UsageError. */
export function parseLocalOptions(argv: readonly string[]): LocalOptions | null {
  const values = parse(argv)
  if (values.help) return null
  const nodes = wholeNumber(values.nodes, '--nodes', { min: 1, max: NODES_MAX })
  return {
    nodes,
    dataDir: resolve(values.data),
    basePort: wholeNumber(values['base-port'], '--base-port', { min: 1, max: 65_535 - 10 * nodes }),
    json: values.json,
    configFile: values.config === undefined ? null : resolve(values.config),
    restart: values.restart,
  }
}
