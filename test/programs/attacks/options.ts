/** What `npm run attacks` accepts. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../../../scripts/local/options.ts'
import type { Attack } from './attack.ts'

export interface AttackOptions {
  readonly attacks: readonly Attack[]
  readonly seconds: number
  /** The main file of the nodes. */
  readonly mainFile: string
}

export const usageOf = (
  all: readonly Attack[],
): string => `npm run attacks -- [--only ID,...] [--seconds N] [--build DIR]

  --only ID,...   some of them: ${all.map(({ id }) => id).join(', ')}
  --seconds N     measure the victim for so long alone and beside the attack, 1 to 600 (default 20)
  --build DIR     start the nodes of another checkout, with its node_modules, to compare (default: this one)
`

const MAIN_FILE = join('src', 'main.ts')

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        only: { type: 'string' },
        seconds: { type: 'string', default: '20' },
        build: { type: 'string' },
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
  const { only, seconds, build, help } = parse(argv)
  if (help) return null
  const mainFile = join(resolve(build ?? root), MAIN_FILE)
  if (!existsSync(mainFile)) throw new UsageError(`--build takes a checkout, but there is no '${mainFile}'`)
  return {
    attacks: only === undefined ? all : only.split(',').map((id) => named(id, all)),
    seconds: wholeNumber(seconds, '--seconds', { min: 1, max: 600 }),
    mainFile,
  }
}

function named(id: string, all: readonly Attack[]): Attack {
  const attack = all.find((one) => one.id === id)
  if (attack !== undefined) return attack
  throw new UsageError(`No attack is called '${id}'; there are ${all.map((one) => one.id).join(', ')}`)
}
