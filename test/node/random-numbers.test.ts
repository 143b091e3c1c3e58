/**
 * Random numbers in batches: no number comes back with the next batch.
 */
import t from 'tap'
import { randomNumbers } from '../../cluster/base/random-numbers.ts'

t.test('randomNumbers gives whole numbers of 32 bits, and other ones in each batch', async (t) => {
  const draw = randomNumbers()
  const drawn = Array.from({ length: 1_024 }, draw)
  t.ok(drawn.every((each) => Number.isInteger(each) && each >= 0 && each < 2 ** 32))
  // By chance two of them are equal in one of some 8,000 runs, three pairs never.
  t.ok(new Set(drawn).size >= 1_021)
  t.ok(Math.max(...drawn) > 2 ** 31)
  t.notSame(drawn.slice(0, 8), Array.from({ length: 8 }, randomNumbers()))
})
