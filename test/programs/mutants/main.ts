/**
 * `npm run mutants [-- --seeds N --events M --only ID,ID --workers W --json FILE --tests FILE]`: kills every mutant, from seed 1 on.
 *
 * Owns: the hunt over all of them, its table, its exit code: 1 when a mutant survives, or when a canary does not behave as expected.
 * `--json` takes the seeds that killed into a file for test/programs/mutants/hunt-share.ts, `--tests` the tests that killed those which take long.
 */
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { hunt, type Hunted, passes } from './hunter.ts'
import { readSeeds, writeSeeds } from './known-seeds.ts'
import { type KnownTest, readTests, writeTests } from './known-tests.ts'
import type { Mutant } from './mutant.ts'
import { CANARIES, MUTANTS } from './mutants.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    events: { type: 'string', default: '20000' },
    only: { type: 'string' },
    workers: { type: 'string', default: String(availableParallelism()) },
    json: { type: 'string' },
    tests: { type: 'string' },
  },
})
const wanted = values.only?.split(',')
const chosen = [...CANARIES, ...MUTANTS].filter(({ id }) => wanted === undefined || wanted.includes(id))
const rows: (Hunted & { readonly id: string; readonly bug: string; readonly seconds: number })[] = []
/** Below this, the whole file is fast enough. s */
const SLOW_S = 1.5
const narrow = new Map<string, KnownTest>()
let failures = 0

async function hunter(queue: Mutant[]): Promise<void> {
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const started = performance.now()
    // A canary that must live runs for a few seeds only.
    const seeds = mutant.mustLive === true ? 20 : Number(values.seeds)
    const outcome = await hunt(mutant, { firstSeed: 1, seeds, events: Number(values.events) })
    const seconds = (performance.now() - started) / 1000
    if (values.tests !== undefined && seconds > SLOW_S) await narrowDown(mutant, outcome)
    const isRight = (outcome.seed === null) === (mutant.mustLive === true)
    if (!isRight) failures += 1
    rows.push({ id: mutant.id, bug: mutant.bug, seconds, ...outcome })
    const seed = outcome.seed === null ? 'lives' : outcome.seed === 0 ? 'test' : String(outcome.seed)
    const columns = [mutant.id.padEnd(5), seed.padStart(6), `${seconds.toFixed(1)} s`.padStart(9)]
    process.stdout.write(`${columns.join(' ')}  ${isRight ? '' : 'WRONG: '}${mutant.bug} [${outcome.why}]\n`)
  }
}

/** The innermost test that kills it by itself, and passes by itself without the bug. */
async function narrowDown(mutant: Mutant, { test }: Hunted): Promise<void> {
  for (let depth = test?.path.length ?? 0; test !== undefined && depth > 0; depth -= 1) {
    const only = { file: test.file, path: test.path.slice(0, depth) }
    const isKill = async (): Promise<boolean> => {
      const { seed } = await hunt(mutant, { firstSeed: 1, seeds: 1, events: 1, only })
      return seed !== null
    }
    if (!(await passes(only)) || !(await isKill())) continue
    narrow.set(mutant.id, only)
    return
  }
}

/** As with seeds. */
function keepTests(file: string): void {
  const tests = existsSync(file) ? readTests(file) : new Map<string, KnownTest>()
  const ids = new Set(MUTANTS.map(({ id }) => id))
  for (const id of [...tests.keys(), ...rows.map((row) => row.id)])
    if (!ids.has(id) || rows.some((row) => row.id === id)) tests.delete(id)
  for (const [id, test] of narrow) if (ids.has(id)) tests.set(id, test)
  writeTests(file, tests)
}

/** Seeds of mutants that were not hunted this time stay as they are. */
function keepSeeds(file: string): void {
  const seeds = existsSync(file) ? readSeeds(file) : new Map<string, number>()
  for (const id of seeds.keys()) if (!MUTANTS.some((mutant) => mutant.id === id)) seeds.delete(id)
  for (const { id, seed } of rows) {
    if (seed === null || seed === 0) seeds.delete(id)
    else if (MUTANTS.some((mutant) => mutant.id === id)) seeds.set(id, seed)
  }
  writeSeeds(file, seeds)
}

process.stdout.write('id     seed      time  bug [what found it]\n')
const queue = [...chosen]
await Promise.all(Array.from({ length: Number(values.workers) }, () => hunter(queue)))
const seeds = rows.flatMap(({ seed }) => (seed === null || seed === 0 ? [] : [seed]))
const mean = seeds.reduce((sum, seed) => sum + seed, 0) / Math.max(1, seeds.length)
process.stdout.write(
  `${rows.length} mutants and canaries, ${failures} wrong; seeds to kill: mean ${mean.toFixed(1)}, most ${Math.max(0, ...seeds)}\n`,
)
if (values.json !== undefined) keepSeeds(values.json)
if (values.tests !== undefined) keepTests(values.tests)
process.exitCode = failures === 0 ? 0 : 1
