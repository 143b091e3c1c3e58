/**
 * What `npm run chaos` accepts. Pure.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../../../scripts/local/options.ts'
import { HOSTS_MAX } from './host-plan.ts'
import { NEMESIS_NAMES, type NemesisName } from './strikes.ts'

const PLANS = ['faults', 'walk', 'full-disks'] as const
/** What a plan that is no row of faults decides by itself. */
const DECIDED = {
  walk: ['nodes', 'seconds', 'nemesis', 'hold'],
  'full-disks': ['nodes', 'nemesis', 'hold'],
  faults: [],
} as const

export interface ChaosOptions {
  /** Faults drawn from the seed, the walk of members, or all disks full at once. */
  readonly plan: (typeof PLANS)[number]
  readonly nodes: number
  /** From the first strike to the last; set-up, healing and judgement come on top. */
  readonly seconds: number
  readonly nemeses: readonly NemesisName[]
  /** How long each fault lasts; null: drawn from the seed. */
  readonly holdSeconds: number | null
  readonly seed: number
  readonly jsonFile: string | null
  /** Where the logs of the nodes go when the run fails; null: nowhere. */
  readonly logDir: string | null
}

export const CHAOS_USAGE = `npm run chaos -- [--plan faults] [--nodes N] [--seconds S] [--nemesis NAME[,NAME]] [--hold S] [--seed N] [--json FILE] [--logs DIR]
npm run chaos -- --plan walk [--seed N] [--json FILE] [--logs DIR]
npm run chaos -- --plan full-disks [--seconds S] [--json FILE] [--logs DIR]

  --plan NAME      faults (default), drawn from the seed; walk: the members change one after the other; or full-disks: all disks are full for
                   --seconds, then a bucket and a tenant are deleted through the API
  --nodes N        hosts, each with one node, 3 to ${HOSTS_MAX} (default 3)
  --seconds S      how long faults come, 1 to 86400 (default 60)
  --nemesis NAMES  mixed (default) for all of them, or some of:
                   ${NEMESIS_NAMES.slice(0, 6).join(', ')},
                   ${NEMESIS_NAMES.slice(6).join(', ')}
  --hold S         how long each fault lasts, 1 to 3600 (default: 0.7 to 6, drawn)
  --seed N         which faults, in which order, on whom (default: drawn, and printed)
  --json FILE      the same report as JSON
  --logs DIR       keep the logs of the nodes there

Needs Linux, and root or user namespaces. Networks, disks and processes belong only to the run and end with it.
`

const MIXED = 'mixed'

export function parseChaosOptions(argv: readonly string[], drawSeed: () => number): ChaosOptions | null {
  const values = parse(argv)
  if (values.help) return null
  return {
    plan: knownPlan(values),
    nodes: wholeNumber(values.nodes ?? '3', '--nodes', { min: 3, max: HOSTS_MAX }),
    seconds: wholeNumber(values.seconds ?? '60', '--seconds', { min: 1, max: 86_400 }),
    nemeses: nemesesOf(values.nemesis ?? MIXED),
    holdSeconds: values.hold === undefined ? null : wholeNumber(values.hold, '--hold', { min: 1, max: 3600 }),
    seed:
      values.seed === undefined
        ? drawSeed()
        : wholeNumber(values.seed, '--seed', { min: 0, max: 2 ** 32 - 1 }),
    jsonFile: values.json === undefined ? null : resolve(values.json),
    logDir: values.logs === undefined ? null : resolve(values.logs),
  }
}

function knownPlan(values: ReturnType<typeof parse>): ChaosOptions['plan'] {
  const plan = PLANS.find((one) => one === values.plan)
  if (plan === undefined)
    throw new UsageError(`There is no plan '${values.plan}': expected one of ${PLANS.join(', ')}`)
  const foreign = DECIDED[plan].find((name) => values[name] !== undefined)
  if (foreign !== undefined)
    throw new UsageError(`--${foreign} is for faults: the plan '${plan}' has its own hosts and steps`)
  return plan
}

function nemesesOf(text: string): readonly NemesisName[] {
  const names = new Set(
    text.split(',').flatMap((name) => (name === MIXED ? NEMESIS_NAMES : [knownNemesis(name)])),
  )
  return [...names]
}

function knownNemesis(name: string): NemesisName {
  const known = NEMESIS_NAMES.find((one) => one === name)
  if (known === undefined)
    throw new UsageError(
      `There is no nemesis '${name}': expected ${MIXED}, or some of ${NEMESIS_NAMES.join(', ')}`,
    )
  return known
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        plan: { type: 'string', default: 'faults' },
        nodes: { type: 'string' },
        seconds: { type: 'string' },
        nemesis: { type: 'string' },
        hold: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'string' },
        logs: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}
