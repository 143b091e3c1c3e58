/**
 * `npm run garbage [-- --interleavings N --seed S --worlds W]`: N random interleavings from seed S on, then every small
 * scope with at most W worlds each. `--interleavings 1 --seed S --trace` shows one.
 *
 * Owns: progress, summary, exit code 1 when a promise is broken, with the seed that broke it.
 */
import { parseArgs } from 'node:util'
import { explore } from './exhaustive.ts'
import { runSeed } from './random-run.ts'
import { SCOPES } from './scopes.ts'

const PROGRESS_EVERY_MS = 10_000

const { values } = parseArgs({
  options: {
    interleavings: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    worlds: { type: 'string', default: '100000' },
    trace: { type: 'boolean', default: false },
  },
})
const say = (text: string): void => void process.stdout.write(`${text}\n`)

function runSeeds(first: number, count: number): boolean {
  const fingerprints = new Set<number>()
  let steps = 0
  let reported = performance.now()
  for (let seed = first; seed < first + count; seed++) {
    try {
      const run = runSeed(seed, undefined, values.trace ? (step) => say(JSON.stringify(step)) : undefined)
      steps += run.steps
      fingerprints.add(run.hash)
    } catch (error) {
      say(
        `seed ${seed}: ${(error as Error).message}\nrerun: npm run garbage -- --interleavings 1 --seed ${seed} --trace`,
      )
      return false
    }
    if (performance.now() - reported < PROGRESS_EVERY_MS) continue
    reported = performance.now()
    say(`${seed - first + 1} of ${count} interleavings, ${steps} steps`)
  }
  say(
    `${count} random interleavings, ${fingerprints.size} of them distinct, ${steps} steps: no promise broken`,
  )
  return true
}

function exploreScopes(worldsMax: number): boolean {
  for (const [name, scope] of Object.entries(SCOPES)) {
    try {
      const { worlds, interleavings, isWhole } = explore(scope, worldsMax)
      const reach = isWhole ? 'the whole scope' : 'up to the bound'
      say(`${name}: ${worlds} worlds, ${interleavings.toPrecision(3)} interleavings, ${reach}`)
    } catch (error) {
      say(`${name}: ${(error as Error).message}`)
      return false
    }
  }
  return true
}

const isKept =
  runSeeds(Number(values.seed), Number(values.interleavings)) &&
  (values.trace || exploreScopes(Number(values.worlds)))
process.exitCode = isKept ? 0 : 1
