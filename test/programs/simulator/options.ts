/**
 * The options of `npm run sim`.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../../../scripts/local/options.ts'
import type { SimMachineChoice } from './pool.ts'
import type { Machine } from './swarm.ts'

export interface SimOptions {
  readonly first: number
  readonly seeds: number
  readonly events: number
  readonly workers: number
  /** No seed starts after this many minutes; null: all of them. */
  readonly minutes: number | null
  readonly twice: boolean
  readonly trace: boolean
  readonly json: boolean
  readonly machine: SimMachineChoice
}

export const SIM_USAGE = `npm run sim -- [--seeds N] [--events M] [--seed S | --first S] [--workers W] [--minutes X]
               [--machine registers|objects|members|background] [--twice] [--trace] [--json]

  --seeds N     how many seeds (default 20)
  --events M    events under faults in each; recovery comes on top (default 50000)
  --seed S      this one seed
  --first S     the first of the seeds (default 1)
  --workers W   threads (default: one for each core)
  --minutes X   begin no seed after so many minutes
  --machine M   what the nodes apply: registers, the buckets and objects of the service, these with its work in the background, or
                its members, which operators change all the time (default: registers or objects, drawn from the seed)
  --twice       run each seed two times and compare everything that happened
  --trace       print the last events of a seed
  --json        one line of JSON for each seed on standard output

Exit code 1: a promise was broken. The seed is printed with the command that repeats it, and kept in test/programs/simulator/regress/.
`

const SEEDS_MAX = 2 ** 40
const MACHINES = ['registers', 'objects', 'members', 'background'] as const satisfies readonly Machine[]

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        seeds: { type: 'string', default: '20' },
        events: { type: 'string', default: '50000' },
        seed: { type: 'string' },
        first: { type: 'string', default: '1' },
        workers: { type: 'string', default: String(availableParallelism()) },
        minutes: { type: 'string' },
        machine: { type: 'string' },
        twice: { type: 'boolean', default: false },
        trace: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function machineNamed(name: string | undefined): SimMachineChoice {
  if (name === undefined) return null
  const machine = MACHINES.find((one) => one === name)
  if (machine !== undefined) return machine
  throw new UsageError(`--machine is one of ${MACHINES.join(', ')}, not "${name}"`)
}

/** Null: help was requested. Throws UsageError. */
export function parseSimOptions(argv: readonly string[]): SimOptions | null {
  const { seed, minutes, machine, ...given } = parse(argv)
  if (given.help) return null
  const { twice, trace, json } = given
  return {
    first: wholeNumber(seed ?? given.first, seed === undefined ? '--first' : '--seed', {
      min: 0,
      max: SEEDS_MAX,
    }),
    seeds: seed === undefined ? wholeNumber(given.seeds, '--seeds', { min: 1, max: SEEDS_MAX }) : 1,
    events: wholeNumber(given.events, '--events', { min: 1, max: 1e9 }),
    workers: wholeNumber(given.workers, '--workers', { min: 1, max: 256 }),
    minutes: minutes === undefined ? null : wholeNumber(minutes, '--minutes', { min: 1, max: 1e6 }),
    twice,
    trace,
    json,
    machine: machineNamed(machine),
  }
}
