/** What `npm run attacks` accepts, and how long it may take. */
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../../../scripts/local/options.ts'
import { type Attack, LEAD_MS } from './attack.ts'

/** The nodes of one checkout. */
export interface Build {
  readonly name: string
  /** The main file of the nodes. */
  readonly mainFile: string
}

export interface AttackOptions {
  readonly attacks: readonly Attack[]
  /** Each attack runs on each of them before the next one does. */
  readonly builds: readonly Build[]
  readonly rounds: number
  /** Each of the two measurements of one run. */
  readonly seconds: number
  /** No further attack begins that would end later. */
  readonly minutes: number
}

const SECONDS_MAX = 20
const SECONDS_LEAST = 3
/** Of one run beside its measurements and its lead: start of the nodes, warm-up, end. */
const OVERHEAD_SECONDS = 10

export const usageOf = (
  all: readonly Attack[],
): string => `npm run attacks -- [--only ID,...] [--build DIR,...] [--rounds N] [--minutes N] [--seconds N]

  --only ID,...    some of them: ${all.map(({ id }) => id).join(', ')}
  --build DIR,...  start the nodes of other checkouts, with their node_modules, each attack on one after the other (default: this one)
  --rounds N       repeat everything, in the opposite order of checkouts each second time, 1 to 20 (default 1)
  --minutes N      begin nothing that would end later, 1 to 600 (default 15)
  --seconds N      measure the victim for so long alone and beside the attack, 1 to 600 (default: what fits, ${SECONDS_LEAST} to ${SECONDS_MAX})

Prints progress on standard error and one table in Markdown on standard output.
`

const MAIN_FILE = join('src', 'main.ts')

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        only: { type: 'string' },
        seconds: { type: 'string' },
        build: { type: 'string' },
        rounds: { type: 'string', default: '1' },
        minutes: { type: 'string', default: '15' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError((cause as Error).message, { cause })
  }
}

/** `root`: the folder of this checkout. Null when help was requested. Throws UsageError. */
export function parseAttackOptions(
  argv: readonly string[],
  all: readonly Attack[],
  root: string,
): AttackOptions | null {
  const { only, seconds, build, help, ...counts } = parse(argv)
  if (help) return null
  const plan = {
    attacks: only === undefined ? all : only.split(',').map((id) => named(id, all)),
    builds: (build ?? root).split(',').map((dir) => buildAt(resolve(dir))),
    rounds: wholeNumber(counts.rounds, '--rounds', { min: 1, max: 20 }),
    minutes: wholeNumber(counts.minutes, '--minutes', { min: 1, max: 600 }),
  }
  const fitting = secondsWithin(plan)
  return {
    ...plan,
    seconds: seconds === undefined ? fitting : wholeNumber(seconds, '--seconds', { min: 1, max: 600 }),
  }
}

/** How long one run takes about. */
export function runSeconds({ leadMs = LEAD_MS }: Pick<Attack, 'leadMs'>, seconds: number): number {
  return OVERHEAD_SECONDS + leadMs / 1000 + 2 * seconds
}

function secondsWithin({ attacks, builds, rounds, minutes }: Omit<AttackOptions, 'seconds'>): number {
  const runs = attacks.length * builds.length * rounds
  const fixed = builds.length * rounds * attacks.reduce((sum, attack) => sum + runSeconds(attack, 0), 0)
  const left = Math.floor((60 * minutes - fixed) / (2 * runs))
  return Math.min(SECONDS_MAX, Math.max(SECONDS_LEAST, left))
}

function buildAt(dir: string): Build {
  const mainFile = join(dir, MAIN_FILE)
  if (existsSync(mainFile)) return { name: basename(dir), mainFile }
  throw new UsageError(`--build takes a checkout, but there is no '${mainFile}'`)
}

function named(id: string, all: readonly Attack[]): Attack {
  const attack = all.find((one) => one.id === id)
  if (attack !== undefined) return attack
  throw new UsageError(`No attack is called '${id}'; there are ${all.map((one) => one.id).join(', ')}`)
}
