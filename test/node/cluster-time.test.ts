/**
 * ClusterTime: the time of a majority's clocks, with wrong, silent or suspended nodes.
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
  const receive = (peer: string, offset: number, majority: number | null = null): void =>
    time.receive(peer, { wall: TRUE + clock.at + offset, majority }, majority !== null)
  return { clock, time, receive }
}

t.test('ClusterTime', async (t) => {
  t.test('is the median of three clocks, with any one wrong by any amount', async (t) => {
    for (const wrong of [-400 * DAY_MS, -9_000, 9_000, 400 * DAY_MS]) {
      const own = bench(wrong)
      own.receive('n2', 3)
      own.receive('n3', -3)
      t.ok(Math.abs((own.time.count(group('n1', 'n2', 'n3')) ?? 0) - TRUE) <= 3, `own by ${wrong}`)
      const other = bench()
      other.receive('n2', wrong)
      other.receive('n3', -3)
      t.ok(Math.abs((other.time.count(group('n1', 'n2', 'n3')) ?? 0) - TRUE) <= 3, `another by ${wrong}`)
    }
  })

  t.test('is the time that a majority of five has reached, with two wrong ones', async (t) => {
    for (const wrong of [-DAY_MS, DAY_MS]) {
      const { time, receive } = bench(wrong)
      receive('n2', wrong)
      for (const [peer, offset] of Object.entries({ n3: -1, n4: 0, n5: 1 })) receive(peer, offset)
      t.ok(Math.abs((time.count(group('n1', 'n2', 'n3', 'n4', 'n5')) ?? 0) - TRUE) <= 1)
    }
  })

  t.test('of two is the earlier, because the majority is both', async (t) => {
    const { time, receive } = bench()
    receive('n2', DAY_MS)
    t.equal(time.count(group('n1', 'n2')), TRUE)
  })

  t.test('needs a majority of the present voters; learners and non-members do not count', async (t) => {
    const { time, receive } = bench()
    receive('learner', 0)
    t.equal(time.count({ ...group('n1', 'n2', 'n3'), learners: ['learner'] }), null)
    receive('n2', DAY_MS)
    t.equal(time.count({ ...group('n1', 'n2', 'n3'), learners: ['learner'] }), TRUE)
  })

  t.test('of a joint configuration is the time that both majorities have reached', async (t) => {
    const { time, receive } = bench(DAY_MS)
    for (const peer of ['n2', 'n3']) receive(peer, DAY_MS)
    for (const peer of ['n4', 'n5']) receive(peer, 0)
    const joint = { ...group('n1', 'n2', 'n3'), outgoing: ['n1', 'n4', 'n5'] }
    t.equal(time.count(joint), TRUE)
  })

  t.test('extrapolates a clock for a second after its last report, and then ignores it', async (t) => {
    const { clock, time, receive } = bench(DAY_MS)
    receive('n2', 0)
    clock.at += CLOCK_HEARD_MS
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + CLOCK_HEARD_MS)
    clock.at += 1
    t.equal(time.count(group('n1', 'n2', 'n3')), null)
    t.equal(time.now(), TRUE + clock.at, 'the last known time advances')
  })

  t.test('takes the least delayed of the last reports: delay makes a clock look late', async (t) => {
    const { clock, time, receive } = bench(DAY_MS)
    receive('n2', 0)
    clock.at += 500
    receive('n2', -4_000)
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + 500)
    clock.at += CLOCK_HEARD_MS - 499
    receive('n2', -4_000)
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + clock.at - 4_000, 'it is late indeed')
  })

  t.test('forgets at once the reports of a clock from before it was set back', async (t) => {
    const { clock, time, receive } = bench(400 * DAY_MS)
    receive('n2', DAY_MS)
    receive('n3', 0)
    clock.at += 100
    receive('n2', 0)
    t.equal(time.count(group('n1', 'n2', 'n3')), TRUE + 100)
  })

  t.test('is taken only from the leader', async (t) => {
    const { clock, time } = bench(-DAY_MS)
    time.receive('n2', { wall: TRUE, majority: TRUE }, false)
    t.equal(time.majorityTime, null)
    t.equal(time.now(), TRUE - DAY_MS, 'nothing else is known yet')
    time.receive('n2', { wall: TRUE, majority: TRUE }, true)
    clock.at += 7
    t.same([time.majorityTime, time.now(), time.offsetMs], [TRUE + 7, TRUE + 7, -DAY_MS])
  })

  t.test('reports its own clock as wrong after a while, not at the first check', async (t) => {
    const { clock, time, receive } = bench(SKEW_MAX_MS + 10)
    const look = (): number | null => {
      receive('n2', 0, TRUE + clock.at)
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
