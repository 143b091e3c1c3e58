/**
 * `npm run bench:idle`: the processor time of three nodes without requests, by thread, beside another build at the same time.
 *
 * Owns: the measurement. Both builds run side by side, so that both are held up by what else the machine does. Rule: no figure is judged here;
 * the load of the machine is printed with them. Linux only.
 */
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '../local/options.ts'
import { grownSince, sampleThreads } from '../profile/threads.ts'
import { freshCluster, type MeasuredCluster } from './cluster.ts'

const USAGE = `npm run bench:idle -- [--build DIR] [--seconds S] [--turns N]

  --build DIR    another checkout of Holdfast with its node_modules, measured beside this one
  --seconds S    how long a turn lasts, 1 to 3600 (default 60)
  --turns N      how many, 1 to 100 (default 3)
`
/** What follows a start, such as compilation, is over for the most part. */
const SETTLING_MS = 20_000

const say = (text: string): void => void process.stderr.write(`${text}\n`)
const text = (share: number): string => (share * 100).toFixed(2)

interface Measured {
  readonly name: string
  readonly cluster: MeasuredCluster
}

/** One line for each node: shares of a processor in percent, those of the threads behind their sum. */
async function turn(measured: readonly Measured[], seconds: number): Promise<readonly string[]> {
  const before = measured.map(({ cluster }) => cluster.pids.map(sampleThreads))
  const start = performance.now()
  await wait(seconds * 1000)
  const micros = (performance.now() - start) * 1000
  return measured.flatMap(({ name, cluster }, at) => {
    let all = 0
    const nodes = cluster.pids.map((pid, node) => {
      const threads = [...grownSince(before[at]?.[node] ?? new Map(), pid)]
      const sum = threads.reduce((total, [, spent]) => total + spent, 0) / micros
      all += sum
      const parts = threads
        .toSorted(([, one], [, other]) => other - one)
        .map(([kind, spent]) => `${kind} ${text(spent / micros)}`)
      return `  node ${node + 1}: ${text(sum)} % (${parts.join(', ')})`
    })
    return [`${name}: ${text(all)} % of a processor in three nodes`, ...nodes]
  })
}

async function measure(builds: readonly string[], seconds: number, turns: number): Promise<void> {
  const measured: Measured[] = []
  try {
    for (const name of builds) {
      const program = name === 'this build' ? undefined : resolve(name, 'scripts/local/cluster.ts')
      measured.push({ name, cluster: await freshCluster(null, program) })
    }
    await wait(SETTLING_MS)
    for (let n = 1; n <= turns; n++) {
      const load = (loadavg()[0] ?? 0).toFixed(1)
      const lines = await turn(measured, seconds)
      process.stdout.write(`turn ${n}, ${seconds} s, load ${load} before\n${lines.join('\n')}\n`)
    }
  } finally {
    for (const { cluster } of measured) await cluster.stop()
  }
}

async function main(): Promise<number> {
  try {
    const { values } = parseArgs({
      options: {
        build: { type: 'string' },
        seconds: { type: 'string', default: '60' },
        turns: { type: 'string', default: '3' },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) {
      process.stdout.write(USAGE)
      return 0
    }
    const seconds = wholeNumber(values.seconds, '--seconds', { min: 1, max: 3600 })
    const turns = wholeNumber(values.turns, '--turns', { min: 1, max: 100 })
    await measure(['this build', ...(values.build === undefined ? [] : [values.build])], seconds, turns)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(`error: ${error.message}`)
    return 2
  }
}

process.exitCode = await main()
