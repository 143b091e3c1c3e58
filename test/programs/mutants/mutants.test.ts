/**
 * Every mutant has one place in the sources and a hunt that says something. The hunts themselves are in hunts-*.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { changedText } from './changed-text.ts'
import { hunt } from './hunter.ts'
import { CANARIES, MISTAKES, MUTANTS } from './mutants.ts'

t.test('mutants', async (t) => {
  t.test('have one id and one place each', async (t) => {
    const all = [...CANARIES, ...MISTAKES, ...MUTANTS]
    t.equal(new Set(all.map(({ id }) => id)).size, all.length)
    for (const mutant of all) {
      const source = readFileSync(new URL(`../../../${mutant.file}`, import.meta.url), 'utf8')
      t.not(changedText(mutant, source), source, `${mutant.id} changes ${mutant.file}`)
    }
  })

  t.test('name test files that exist', async (t) => {
    const named = [...CANARIES, ...MUTANTS].flatMap(({ id, killers }) =>
      typeof killers === 'object' ? killers.tests.map((file) => ({ id, file })) : [],
    )
    t.ok(named.length > 100)
    t.same(
      named.filter(({ file }) => !existsSync(new URL(`../../../${file}`, import.meta.url))),
      [],
    )
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
})
