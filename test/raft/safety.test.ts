/** Random faults against the whole core. The seed is in the test's name: run only that test to repeat it. */
import t from 'tap'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { Chaos } from './chaos.ts'
import type { Configuration } from '../../cluster/raft/types.ts'

const EVENTS = 5000
/** One seed in this many is played unless the proof is played whole. */
const SHARE = PLAYS_WHOLE ? 1 : 5

const groups: readonly {
  readonly name: string
  readonly seeds: number
  readonly configuration: Configuration
  readonly spares?: readonly string[]
  readonly disksForget?: boolean
}[] = [
  { name: 'one voter', seeds: 10, configuration: { voters: ['a'], learners: [], outgoing: [] } },
  {
    name: 'three voters',
    seeds: 240,
    configuration: { voters: ['a', 'b', 'c'], learners: [], outgoing: [] },
  },
  {
    name: 'four voters',
    seeds: 25,
    configuration: { voters: ['a', 'b', 'c', 'd'], learners: [], outgoing: [] },
  },
  {
    name: 'five voters',
    seeds: 200,
    configuration: { voters: ['a', 'b', 'c', 'd', 'e'], learners: [], outgoing: [] },
  },
  {
    name: 'three voters and a learner',
    seeds: 60,
    configuration: { voters: ['a', 'b', 'c'], learners: ['l'], outgoing: [] },
  },
  {
    name: 'a joint configuration',
    seeds: 60,
    configuration: { voters: ['a', 'b', 'c'], learners: [], outgoing: ['b', 'c', 'd'] },
  },
  {
    name: 'members that change',
    seeds: 200,
    configuration: { voters: ['a', 'b', 'c'], learners: [], outgoing: [] },
    spares: ['d', 'e', 'f'],
  },
  {
    name: 'three voters and disks that go back',
    seeds: 200,
    configuration: { voters: ['a', 'b', 'c'], learners: [], outgoing: [] },
    disksForget: true,
  },
  {
    name: 'five voters and disks that go back',
    seeds: 100,
    configuration: { voters: ['a', 'b', 'c', 'd', 'e'], learners: [], outgoing: [] },
    disksForget: true,
  },
  {
    name: 'members that change and disks that go back',
    seeds: 200,
    configuration: { voters: ['a', 'b', 'c'], learners: [], outgoing: [] },
    spares: ['d', 'e'],
    disksForget: true,
  },
]

t.test('Raft under random faults', async (t) => {
  for (const { name, seeds: whole, configuration, spares, disksForget } of groups) {
    const seeds = whole / SHARE
    t.test(`keeps every promise and recovers with ${name}`, async (t) => {
      let committed = 0
      for (let seed = 1; seed <= seeds; seed += 1) {
        const chaos = new Chaos(configuration, seed, spares, disksForget)
        try {
          chaos.run(EVENTS)
          chaos.recover()
        } catch (cause) {
          throw new Error(`seed=${seed} group="${name}"`, { cause })
        }
        committed += chaos.network.checker.committedIndex
      }
      t.ok(committed > seeds * 5, `the runs did something: ${committed} entries committed`)
    })
  }
})
