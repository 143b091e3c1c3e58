/**
 * What `npm run profile` accepts.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../local/options.ts'
import { ROW_IDS } from '../race/rows.ts'
import type { Sampled } from './inspected-node.ts'

/** The rows of the race, without those that state their own number of clients. */
const PROFILED = ROW_IDS.filter((id) => !id.endsWith('-1'))
const PLACES = ['leader', 'follower'] as const

const SAMPLED = ['time', 'allocations'] as const satisfies readonly Sampled[]

export interface ProfileOptions {
  readonly of: Sampled
  readonly rows: readonly string[]
  readonly places: readonly (typeof PLACES)[number][]
  readonly clients: readonly number[]
  readonly seconds: number
  readonly operations: number | null
  readonly build: string | null
  readonly configFile: string | null
  readonly outFile: string | null
}

export const PROFILE_USAGE = `npm run profile -- put-4k,get-4k [--of time] [--at leader,follower] [--clients 64,1] [--seconds S] [--operations N] [--build DIR] [--out FILE.md]

  the first word    what is profiled, some of ${PROFILED.join(', ')} (default put-4k)
  --of WHAT         what is counted: time (processor time) or allocations (bytes of the heaps of V8, collected ones included); default time
  --at PLACE,...    which node all clients ask: leader, follower (default both, one after the other)
  --clients N,...   how many clients, 1 to 1024, one load for each (default 64,1)
  --seconds S       how long each load lasts, 1 to 600 (default 5; with --operations a bound, default 120)
  --operations N    end each load after N operations, the warm-up too
  --build DIR       another checkout of Holdfast with its node_modules
  --config FILE     settings (YAML) for the nodes, over the defaults
  --out FILE.md     the page; FILE.json is written beside it
`

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        of: { type: 'string', default: 'time' },
        at: { type: 'string', default: PLACES.join(',') },
        clients: { type: 'string', default: '64,1' },
        seconds: { type: 'string' },
        operations: { type: 'string' },
        build: { type: 'string' },
        config: { type: 'string' },
        out: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause })
  }
}

function chosen<T extends string>(text: string, known: readonly T[], name: string): readonly T[] {
  return text.split(',').map((word) => {
    const found = known.find((one) => one === word)
    if (found === undefined)
      throw new UsageError(`${name} has no '${word}', expected some of ${known.join(', ')}`)
    return found
  })
}

/** Null when help was requested. Throws UsageError. */
export function parseProfileOptions(argv: readonly string[]): ProfileOptions | null {
  const { values, positionals } = parse(argv)
  if (values.help) return null
  const { of, at, clients, seconds, operations, build, config, out } = values
  if (out !== undefined && !out.endsWith('.md'))
    throw new UsageError(`--out takes a file that ends in .md, got '${out}'`)
  const [sampled = 'time', ...further] = chosen(of, SAMPLED, '--of')
  if (further.length > 0) throw new UsageError(`--of takes one word, got '${of}'`)
  return {
    of: sampled,
    rows:
      positionals.length === 0
        ? ['put-4k']
        : positionals.flatMap((text) => chosen(text, PROFILED, 'The profile')),
    places: chosen(at, PLACES, '--at'),
    clients: clients.split(',').map((text) => wholeNumber(text, '--clients', { min: 1, max: 1024 })),
    seconds: wholeNumber(seconds ?? (operations === undefined ? '5' : '120'), '--seconds', {
      min: 1,
      max: 600,
    }),
    operations:
      operations === undefined ? null : wholeNumber(operations, '--operations', { min: 1, max: 1_000_000 }),
    build: build === undefined ? null : resolve(build),
    configFile: config === undefined ? null : resolve(config),
    outFile: out === undefined ? null : resolve(out),
  }
}
