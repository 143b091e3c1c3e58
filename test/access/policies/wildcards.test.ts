/**
 * Patterns against a matcher that tries every way, and a pattern on which a backtracking matcher is exponential.
 */
import fc from 'fast-check'
import t from 'tap'
import { matchesWildcards, repeatedChars } from '../../../src/access/policies/wildcards.ts'

/** By characters, as people count them. */
function tried(pattern: readonly string[], text: readonly string[]): boolean {
  const [wanted, ...rest] = pattern
  const [given, ...left] = text
  if (wanted === undefined) return given === undefined
  if (wanted === '*') return tried(rest, text) || (given !== undefined && tried(pattern, left))
  return given !== undefined && (wanted === '?' || wanted === given) && tried(rest, left)
}

t.test('matchesWildcards', async (t) => {
  t.test('takes * for any characters, slashes and none too, and ? for one', async (t) => {
    for (const [pattern, text, expected] of [
      ['', '', true],
      ['', 'a', false],
      ['*', '', true],
      ['?', '', false],
      ['in/*', 'in/', true],
      ['in/*', 'in/a/b', true],
      ['in/*', 'IN/a', false],
      ['in/*', 'xin/a', false],
      ['*.jpg', 'a/b.jpg', true],
      ['*.jpg', 'a.jpg.txt', false],
      ['a?c', 'abc', true],
      ['a?c', 'a😀c', true],
      ['a?c', 'abbc', false],
      ['a.c', 'abc', false],
      ['[a]+(b)', 'ab', false],
      ['a*b*c', 'axxbyybzc', true],
      ['a*b*c', 'axxcyyb', false],
    ] as const)
      t.equal(matchesWildcards(pattern, text), expected, `"${pattern}" and "${text}"`)
  })

  t.test('agrees with a matcher that tries every way', async () => {
    const letters = fc.array(fc.constantFrom('a', 'b', '/', '😀'), { maxLength: 9 })
    const patterns = fc.array(fc.constantFrom('a', 'b', '/', '😀', '*', '?'), { maxLength: 7 })
    fc.assert(
      fc.property(patterns, letters, (pattern, text) => {
        return matchesWildcards(pattern.join(''), text.join('')) === tried(pattern, text)
      }),
      { numRuns: 4000, seed: 11 },
    )
  })

  t.test('ends on patterns that make a backtracking matcher run for years', async (t) => {
    t.notOk(matchesWildcards('*a'.repeat(200), 'a'.repeat(1000) + 'b'))
  })
})

t.test('repeatedChars counts the patterns that one pass does not finish', async (t) => {
  for (const cheap of ['', 'a', '*', 'in/*', 'in/**', 'a?b']) t.equal(repeatedChars(cheap), 0, cheap)
  t.equal(repeatedChars('*.jpg'), 5)
  t.equal(repeatedChars('a*b*'), 4)
})
