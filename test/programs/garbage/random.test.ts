/** A slice of the random interleavings, and rules that are left out one at a time: each omission must break a promise. */
import t from 'tap'
import { shareOf } from '../../helpers/proof-size.ts'
import { runSeed } from './random-run.ts'
import { ALL_RULES, type Rules } from './world.ts'

const SEEDS = shareOf(3000, 120)
/** The omission of every rule is detected within a quarter of these. */
const SEEDS_TO_MISS = 5000

function firstBroken(rules: Rules, seeds: number): string | null {
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      runSeed(seed, rules)
    } catch (error) {
      return `seed ${seed}: ${(error as Error).message}`
    }
  }
  return null
}

t.test('garbage', (t) => {
  t.test(`breaks no promise in the random interleavings of seeds 1 to ${SEEDS}`, (t) => {
    t.equal(firstBroken(ALL_RULES, SEEDS), null)
    t.end()
  })

  const missing: readonly [keyof Rules, string][] = [
    ['judgesUnderLock', 'a copy is unlinked by a verdict from before it was locked'],
    ['locksCopies', 'a copy is unlinked while it is being made'],
    ['holdsMark', 'the mark passes an upload of unknown outcome'],
    ['newBirthForTopUp', 'a gateway adds copies under the birth of a row'],
    ['readsBack', 'a copy is committed that was not read back'],
    ['passesBarrier', 'a node removes copies while its rows are older than those it acted on'],
    ['watchesWrites', 'a written copy is not watched until a row names it'],
    ['watchesDrops', 'a copy is forgotten while the end of its drop row is in flight'],
    ['walksAfterCrash', 'a process does not walk over the copies of the previous one'],
    ['unknownIsOpen', 'a session that this node does not know is taken for closed'],
  ]
  for (const [rule, what] of missing) {
    t.test(`breaks a promise when ${what}`, (t) => {
      t.not(firstBroken({ ...ALL_RULES, [rule]: false }, SEEDS_TO_MISS), null)
      t.end()
    })
  }
  t.end()
})
