/** The word list of tidy: what it refuses, what it leaves alone, and that each message names the replacement. */
import t from 'tap'
import { REFUSED_WORDS, refusedWords } from '../../scripts/checks/words.ts'

const ONE_OF_EACH = [
  ['who', 'ever leads'],
  ['no', 'body answers'],
  ['start a', 'new'],
  ['it was to', 'ld'],
  ['the wi', 'sh'],
  ['it la', 'cks a copy'],
  ['it men', 'ds itself'],
  ['the dis', 'trusted state'],
  ['its fare', 'well'],
  ['the stand', 'ing of a copy'],
  ['it goes', ' on'],
  ['for', ' ever'],
  ['was not hea', 'rd'],
  ['has beg', 'un'],
  ['the ask', 'er'],
  ['the lea', 'ver'],
  ['a stran', 'ger'],
  ['the lad', 'der'],
  ['its pa', 'tience'],
  ['three, two o', 'f which'],
  ['on its', ' way'],
].map((pieces) => pieces.join(''))

t.test('refusedWords', async (t) => {
  t.test('refuses each word of the list and names the replacement', async (t) => {
    t.equal(ONE_OF_EACH.length, REFUSED_WORDS.length)
    for (const [index, line] of ONE_OF_EACH.entries()) {
      const found = refusedWords({ path: 'src/x.ts', text: `/** plain */\n// ${line}\n` })
      t.equal(found.length, 1, line)
      t.match(found[0], `write ${REFUSED_WORDS[index]?.instead}`)
      t.match(found[0], /^line 2 says "/)
    }
  })

  t.test('knows words in identifiers only as whole words', async (t) => {
    t.strictSame(refusedWords({ path: 'src/x.ts', text: 'const slackMs = recommended.amendments' }), [])
  })

  t.test('leaves released names alone', async (t) => {
    const released = `throw new PeerRefusedError('${['men', 'ding'].join('')}', text)`
    t.strictSame(refusedWords({ path: 'src/x.ts', text: released }), [])
  })

  t.test('does not read records of their day', async (t) => {
    const text = ONE_OF_EACH.join('\n')
    for (const path of [
      'docs/adr/0001-x.md',
      'docs/benchmarks/x.md',
      'CHANGELOG.md',
      'docs/openapi/data.json',
    ])
      t.strictSame(refusedWords({ path, text }), [])
    t.equal(refusedWords({ path: 'docs/guide/x.md', text }).length, ONE_OF_EACH.length)
  })
})
