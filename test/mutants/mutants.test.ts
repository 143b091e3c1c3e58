/**
 * Every mutant dies. Each is hunted at the seed that is known to kill it; when the simulation has changed and that seed no longer
 * does, the hunt goes on from seed 1.
 *
 * `npm run mutants -- --json test/mutants/known-seeds.json` writes the known seeds anew.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { changedText } from './changed-text.ts'
import { hunt, type Hunted } from './hunter.ts'
import { readSeeds } from './known-seeds.ts'
import type { Mutant } from './mutant.ts'
import { CANARIES, MISTAKES, MUTANTS } from './mutants.ts'

const SEEDS_MAX = 1000
const EVENTS = 20_000
const HUNTS_AT_ONCE = 2

const known = readSeeds(new URL('known-seeds.json', import.meta.url))

async function hunted(mutant: Mutant): Promise<Hunted> {
  if (mutant.mustLive === true) return hunt(mutant, { firstSeed: 1, seeds: 3, events: EVENTS })
  const first = await hunt(mutant, { firstSeed: known.get(mutant.id) ?? 1, seeds: 1, events: EVENTS })
  if (first.seed !== null || typeof mutant.killers !== 'string') return first
  return hunt(mutant, { firstSeed: 1, seeds: SEEDS_MAX, events: EVENTS })
}

t.test('mutants', async (t) => {
  t.test('have one id and one place each', async (t) => {
    const all = [...CANARIES, ...MISTAKES, ...MUTANTS]
    t.equal(new Set(all.map(({ id }) => id)).size, all.length)
    for (const mutant of all) {
      const source = readFileSync(new URL(`../../${mutant.file}`, import.meta.url), 'utf8')
      t.not(changedText(mutant, source), source, `${mutant.id} changes ${mutant.file}`)
    }
  })

  t.test('are refused when their place is not there', async (t) => {
    const [mutant] = MUTANTS
    t.ok(mutant)
    if (mutant) t.throws(() => changedText(mutant, 'something else'), /occurs 0 times/)
  })

  t.test(
    'are no mutants but mistakes when they do not load, make no sense, never end or have no test',
    async (t) => {
      for (const mistake of MISTAKES) {
        const limitMs = mistake.bug === 'never ends' ? 3_000 : 60_000
        await t.rejects(
          hunt(mistake, { firstSeed: 1, seeds: 1, events: 1, limitMs }),
          { message: /^Cannot hunt E/ },
          mistake.bug,
        )
      }
    },
  )

  t.test('all die, and the canaries do as they must', async (t) => {
    const queue = [...CANARIES, ...MUTANTS]
    const hunters = Array.from({ length: HUNTS_AT_ONCE }, async () => {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
        const { seed, why } = await hunted(mutant)
        const isRight = (seed === null) === (mutant.mustLive === true)
        t.ok(isRight, `${mutant.id} (${mutant.bug}): ${why}`)
      }
    })
    await Promise.all(hunters)
  })
})
