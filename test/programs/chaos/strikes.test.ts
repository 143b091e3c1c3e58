import t from 'tap'
import { Random } from '../simulator/random.ts'
import { NEMESIS_NAMES, type Strike, strikes } from './strikes.ts'

function first(count: number, seed: number): readonly Strike[] {
  const taken: Strike[] = []
  for (const strike of strikes(new Random(seed, 'strikes'), NEMESIS_NAMES)) {
    taken.push(strike)
    if (taken.length === count) break
  }
  return taken
}

t.test('strikes', async (t) => {
  await t.test('are the same again for the same seed, and others for another', async (t) => {
    t.strictSame(first(50, 3), first(50, 3))
    t.notSame(first(50, 3), first(50, 4))
  })

  await t.test('bring each nemesis once before any comes again', async (t) => {
    const names = first(3 * NEMESIS_NAMES.length, 9).map(({ nemesis }) => nemesis)
    for (let round = 0; round < 3; round += 1) {
      const own = names.slice(round * NEMESIS_NAMES.length, (round + 1) * NEMESIS_NAMES.length)
      t.strictSame([...own].sort(), [...NEMESIS_NAMES].sort(), `round ${round}`)
    }
  })
})
