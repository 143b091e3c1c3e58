/**
 * ClusterTime: what a majority's clocks say, whoever is wrong, silent or suspended.
 */
import t from 'tap'
import { CLOCK_HEARD_MS, ClusterTime, SKEW_LASTS_MS } from '../../cluster/node/time/cluster-time.ts'

const TRUE = 1_795_000_000_000
const DAY_MS = 86_400_000
const SKEW_MAX_MS = 5_000

function group(...voters: readonly string[]) {
  return { voters, learners: [] as readonly string[], outgoing: [] as readonly string[] }
}

/** Its own clock is n1; true time is TRUE + now. */
function bench(ownOffset = 0) {
  const clock = { at: 0, own: ownOffset }
  const time = new ClusterTime({
    nodeId: 'n1',
    clock: { now: () => clock.at, wallTime: () => TRUE + clock.at + clock.own },
    skewMaxMs: SKEW_MAX_MS,
  })
  const hear = (peer: string, offset: number, majority: number | null = null): void =>
    time.heard(peer, { wall: TRUE + clock.at + offset, majority }, majority !== null)
  return { clock, time, hear }
}

t.test('ClusterTime', async (t) => {
  t.test('is the middle clock of three, whichever one is wrong and however much', async (t) => {
    for (const wrong of [-400 * DAY_MS, -9_000, 9_000, 400 * DAY_MS]) {
      const own = bench(wrong)
      own.hear('n2', 3)
      own.hear('n3', -3)
      t.ok(Math.abs((own.time.count(group('n1', 'n2', 'n3')) ?? 0) - TRUE) <= 3, `own by ${wrong}`)
      const other = bench()
      other.hear('n2', wrong)
      other.hear('n3', -3)
      t.ok(Math.abs((other.time.count(group('n1', 'n2', 'n3')) ?? 0) - TRUE) <= 3, `another by ${wrong}`)
    }
  })

  t.test('is what a majority of five has reached, with two wrong ones', async (t) => {
    for (const wrong of [-DAY_MS, DAY_MS]) {
      const { time, hear } = bench(wrong)
      hear('n2', wrong)
      for (const [peer, offset] of Object.entries({ n3: -1, n4: 0, n5: 1 })) hear(peer, offset)
      t.ok(Math.abs((time.count(group('n1', 'n2', 'n3', 'n4', 'n5')) ?? 0) - TRUE) <= 1)
    }
  })

  t.test('of two is the earlier, for both are the majority', async (t) => {
    const { time, hear } = bench()
    hear('n2', DAY_MS)
    t.equal(time.count(group('n1', 'n2')), TRUE)
  })

  t.test('needs a majority of those that are voters now; learners and strangers do not count', async (t) => {
    const { time, hear } = bench()
    hear('learner', 0)
    t.equal(time.count({ ...group('n1', 'n2', 'n3'), learners: ['learner'] }), null)
    hear('n2', DAY_MS)
    t.equal(time.count({ ...group('n1', 'n2', 'n3'), learners: ['learner'] }), TRUE)
  })

  t.test('of a joint configuration is what both majorities have reached', async (t) => {
    const { time, hear } = bench(DAY_MS)
    for (const peer of ['n2', 'n3']) hear(peer, DAY_MS)
    for (const peer of ['n4', 'n5']) hear(peer, 0)
    const joint = { ...group('n1', 'n2', 'n3'), outgoing: ['n1', 'n4', 'n5'] }
    t.equal(time.count(joint), TRUE)
  })

  t.test('carries a clock on for a second after it was heard, and then does without it', async (t) => {
    const { clock, time, hear } = bench(DAY_MS)
    hear('n2', 0)
    clock.at += CLOCK_HEARD_MS
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + CLOCK_HEARD_MS)
    clock.at += 1
    t.equal(time.count(group('n1', 'n2', 'n3')), null)
    t.equal(time.now(), TRUE + clock.at, 'what was known goes on')
  })

  t.test('takes the quickest of the last words: delay makes a clock look late', async (t) => {
    const { clock, time, hear } = bench(DAY_MS)
    hear('n2', 0)
    clock.at += 500
    hear('n2', -4_000)
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + 500)
    clock.at += CLOCK_HEARD_MS - 499
    hear('n2', -4_000)
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + clock.at - 4_000, 'it is late indeed')
  })

  t.test('forgets at once what a clock told before it was set back', async (t) => {
    const { clock, time, hear } = bench(400 * DAY_MS)
    hear('n2', DAY_MS)
    hear('n3', 0)
    clock.at += 100
    hear('n2', 0)
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + 100)
  })

  t.test('is taken from the leader, and from nobody else', async (t) => {
    const { clock, time } = bench(-DAY_MS)
    time.heard('n2', { wall: TRUE, majority: TRUE }, false)
    t.equal(time.majorityTime, null)
    t.equal(time.now(), TRUE - DAY_MS, 'nothing else is known yet')
    time.heard('n2', { wall: TRUE, majority: TRUE }, true)
    clock.at += 7
    t.same([time.majorityTime, time.now(), time.offsetMs], [TRUE + 7, TRUE + 7, -DAY_MS])
  })

  t.test('calls the own clock wrong when it is so for a while, not at the first look', async (t) => {
    const { clock, time, hear } = bench(SKEW_MAX_MS + 10)
    const look = (): number | null => {
      hear('n2', 0, TRUE + clock.at)
      return time.skewMs
    }
    t.equal(look(), null)
    clock.at += SKEW_LASTS_MS - 1
    t.equal(look(), null)
    clock.at += 1
    t.equal(look(), SKEW_MAX_MS + 10)
    clock.own = SKEW_MAX_MS
    t.equal(look(), null, 'within the bound')
    clock.own = -SKEW_MAX_MS - 10
    look()
    clock.at += SKEW_LASTS_MS
    t.equal(look(), -SKEW_MAX_MS - 10)
  })
})
