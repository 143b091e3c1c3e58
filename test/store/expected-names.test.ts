/** Where names are expected behind others: for numbers nearly exact, for hashes in the right distance, and never before the last one. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { namesAhead } from '../../src/store/rows/expected-names.ts'

t.test('expects numbers where they are, across a carry', (t) => {
  const names = ['000093', '000094', '000095', '000096']
  t.same([...namesAhead(names, 4, 3)], ['000100', '000104', '000108'])
  t.same([...namesAhead(['p/8', 'p/9'], 1, 3)], [], 'there is no digit to carry to')
  t.end()
})

t.test('expects nothing behind one name, or none', (t) => {
  t.same([...namesAhead([], 1, 3)], [])
  t.same([...namesAhead(['a'], 1, 3)], [])
  t.same([...namesAhead(['a', 'a'], 1, 3)], [])
  t.end()
})

t.test('expects evenly spread names in their distance', (t) => {
  const names = ['01f', '08a', '0f3', '180'].map((name) => `${name}dc2e`)
  const [first, second] = [...namesAhead(names, 10, 2)]
  t.ok(first !== undefined && first > '5' && first < '7', `${first}`)
  t.ok(second !== undefined && second > '9' && second < 'd', `${second}`)
  t.end()
})

t.test('ends for any names', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', maxLength: 12 })),
      fc.integer({ min: 1, max: 300 }),
      (names, apart) => {
        assert.ok([...namesAhead([...names].sort(), apart, 15)].length <= 15)
      },
    ),
    { seed: 116, numRuns: 300 },
  )
  t.end()
})
