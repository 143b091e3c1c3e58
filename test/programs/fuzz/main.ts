/**
 * `npm run fuzz [-- --seconds N --seed S --nodes N --api native|s3|both]`: nearly right requests at real nodes, for N seconds from seed S, half of them each
 * API where both are meant.
 *
 * Owns: progress, summary, exit code 1 when an answer was not as the document says.
 */
import { parseArgs } from 'node:util'
import type { FuzzReport } from './fuzz-frame.ts'
import { FuzzRun } from './fuzz-run.ts'
import { FuzzWorld } from './fuzz-world.ts'
import { S3FuzzRun } from './s3-fuzz-run.ts'

const PROGRESS_EVERY_MS = 10_000
const MIB = 2 ** 20

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '1' },
    api: { type: 'string', default: 'both' },
  },
})
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const list = (counts: ReadonlyMap<string | number, number>): string =>
  [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')

interface Run {
  run(isOver: (report: FuzzReport) => boolean): Promise<FuzzReport>
}

function runsOf(world: FuzzWorld): readonly (readonly [api: string, run: Run])[] {
  const seed = Number(values.seed)
  const runs: readonly (readonly [string, Run])[] = [
    ['native', new FuzzRun(world.target, seed)],
    ['s3', new S3FuzzRun(world.s3Target, seed)],
  ]
  return runs.filter(([api]) => values.api === 'both' || values.api === api)
}

async function fuzz(world: FuzzWorld, run: Run, seconds: number): Promise<boolean> {
  const end = performance.now() + seconds * 1000
  let reported = performance.now()
  const resident: number[] = []
  const report = await run.run(({ requests, faults }) => {
    const now = performance.now()
    if (now - reported > PROGRESS_EVERY_MS) {
      reported = now
      resident.push(Math.round(world.memoryBytes / MIB))
      say(`${requests} requests, ${faults.length} faults, ${resident.at(-1)} MiB`)
    }
    return now > end
  })
  for (const fault of report.faults) say(fault)
  for (const line of world.errors.slice(0, 10)) say(line)
  say(`statuses: ${list(report.statuses)}`)
  say(`codes: ${list(report.codes)}`)
  say(`most MiB resident in each third of the time: ${highestOfThirds(resident).join(', ')}`)
  const isWell = await world.isWell()
  say(
    `seed ${values.seed}: ${report.requests} requests of ${report.operations.size} operations, slowest ${Math.round(report.slowestMs)} ms, ` +
      `${Math.round(world.memoryBytes / MIB)} MiB resident and ${Math.round((await world.heapBytes()) / MIB)} MiB of heap at the end, ${report.faults.length} faults, nodes ${isWell ? 'well' : 'not well'}`,
  )
  return isWell && report.faults.length === 0 && world.errors.length === 0
}

/** Growing memory is visible in the last ones. */
function highestOfThirds(samples: readonly number[]): readonly number[] {
  const size = Math.ceil(samples.length / 3)
  return [0, 1, 2].map((n) => Math.max(0, ...samples.slice(n * size, (n + 1) * size)))
}

const ends: (() => unknown)[] = []
try {
  const world = await FuzzWorld.start({ teardown: (end) => ends.unshift(end) }, Number(values.nodes))
  const runs = runsOf(world)
  process.exitCode = runs.length === 0 ? 2 : 0
  for (const [api, run] of runs) {
    say(`${api}:`)
    if (!(await fuzz(world, run, Number(values.seconds) / runs.length))) process.exitCode = 1
  }
} finally {
  for (const end of ends) await end()
}
