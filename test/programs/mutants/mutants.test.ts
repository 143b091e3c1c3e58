/**
 * Every mutant has one place in the sources and a meaningful hunt. The hunts themselves are in hunts-*.test.ts.
 */
import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { changedText } from './changed-text.ts'
import { hunt } from './hunter.ts'
import { CANARIES, MISTAKES, MUTANTS } from './mutants.ts'

/** Names that a change declares itself, or that it takes from the language. */
const NAMES_OF_ITS_OWN: Readonly<Record<string, readonly string[]>> = {
  X20: ['any'],
  X25: ['any'],
  W27: ['fdatasync'],
  M6: ['stateMachine', 'Parameters', 'decodeMachineRecord', 'encodeMachineRecord', 'record', 'batch'],
  N21: ['open'],
  TM2: ['sum'],
  TM13: ['arguments'],
}
const KEYWORDS =
  /^(const|let|if|else|return|for|of|in|new|await|async|void|throw|true|false|null|undefined|typeof|this|continue|break|switch|case|default|function|import|export|from|as)$/

/** Variables, functions, types and private members that a text uses; other members and keys of objects are not among them. */
function namesUsedIn(text: string): readonly string[] {
  const code = text.replace(/'(?:[^'\\\n]|\\.)*'/g, "''").replace(/\/\/.*$/gm, '')
  const names = [...code.matchAll(/#\w+|(?<![.\w$#])[A-Za-z_$][\w$]*(?!\w|\s*(?::|=>))/g)].map(
    ([name]) => name,
  )
  return names.filter((name) => !KEYWORDS.test(name) && !(name in globalThis))
}

t.test('mutants', async (t) => {
  t.test('have one id and one place each', async (t) => {
    const all = [...CANARIES, ...MISTAKES, ...MUTANTS]
    t.equal(new Set(all.map(({ id }) => id)).size, all.length)
    for (const mutant of all) {
      const source = readFileSync(new URL(`../../../${mutant.file}`, import.meta.url), 'utf8')
      t.not(changedText(mutant, source), source, `${mutant.id} changes ${mutant.file}`)
    }
  })

  t.test('use names that their file has: a missing name would fail every test', async (t) => {
    const unknown = [...CANARIES, ...MUTANTS].flatMap(({ id, file, replace }) => {
      const source = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
      const known = new Set([
        ...(source.match(/#\w+|[\w$]+/g) ?? []),
        ...(source.match(/[\w$]+/g) ?? []),
        ...(NAMES_OF_ITS_OWN[id] ?? []),
      ])
      return namesUsedIn(replace).flatMap((name) => (known.has(name) ? [] : [`${id}: ${name}`]))
    })
    t.same(unknown, [])
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

  t.test('are refused when their place does not exist', async (t) => {
    const [mutant] = MUTANTS
    t.ok(mutant)
    if (mutant) t.throws(() => changedText(mutant, 'something else'), /occurs 0 times/)
  })

  t.test(
    'are errors, not mutants, when they do not load, make no sense, never end or have no test',
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
