/**
 * Every seed that once broke a promise, run again.
 *
 * `npm run sim` writes a file here when a seed fails: { seed, events, machine, reason }, the machine only where it was chosen.
 * It stays after the repair.
 * Rule: the file names the fault of that time; the present draw of the seed must pass.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runSeed } from '../run-seed.ts'
import type { Machine } from '../swarm.ts'

const FOLDER = dirname(fileURLToPath(import.meta.url))

interface Regression {
  readonly seed: number
  readonly events: number
  readonly machine?: Machine
  readonly reason: string
}

t.test('regressions', async (t) => {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
  t.comment(`${files.length} seeds`)
  for (const file of files.toSorted()) {
    const { seed, events, machine, reason } = JSON.parse(
      readFileSync(join(FOLDER, file), 'utf8'),
    ) as Regression
    const plan = machine === undefined ? {} : { machine }
    t.test(`seed ${seed}: ${reason}`, { timeout: 600_000 }, async (t) => {
      t.equal((await runSeed({ seed, events, plan })).violation, null)
    })
  }
})
