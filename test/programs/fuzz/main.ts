/**
 * `npm run fuzz [-- --seconds N --seed S --nodes N]`: nearly right requests at real nodes, for N seconds from seed S.
 *
 * Owns: progress, summary, exit code 1 when an answer was not as the document says.
 */
import { parseArgs } from 'node:util'
import { FuzzRun } from './fuzz-run.ts'
import { FuzzWorld } from './fuzz-world.ts'

const PROGRESS_EVERY_MS = 10_000
const MIB = 2 ** 20

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '1' },
  },
})
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const list = (counts: ReadonlyMap<string | number, number>): string =>
  [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')

async function fuzz(world: FuzzWorld): Promise<boolean> {
  const run = new FuzzRun(world.target, Number(values.seed))
  const end = performance.now() + Number(values.seconds) * 1000
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
  process.exitCode = (await fuzz(world)) ? 0 : 1
} finally {
  for (const end of ends) await end()
}
