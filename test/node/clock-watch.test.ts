/**
 * ClockWatch: the times that a leader stamps, and its transfer to a node with a right clock.
 */
import t from 'tap'
import { ClockWatch } from '../../cluster/node/time/clock-watch.ts'
import { ClusterTime, SKEW_LASTS_MS } from '../../cluster/node/time/cluster-time.ts'
import { TIME_LEVEL } from '../../cluster/node/base/log-time.ts'
import { SILENT } from '../helpers/loggers.ts'

const TRUE = 1_795_000_000_000
const HOUR_MS = 3_600_000

function bench({ level = TIME_LEVEL, own = 0, logTime = TRUE } = {}) {
  const clock = { at: 0 }
  const port = {
    now: () => clock.at,
    wallTime: () => TRUE + clock.at + own,
    after: () => ({ cancel: () => undefined }),
  }
  const time = new ClusterTime({ nodeId: 'n1', clock: port, skewMaxMs: 5_000 })
  const [transfers, stamps]: [string[], number[]] = [[], []]
  const peer = (nodeId: string, matchIndex: number) =>
    ({ nodeId, matchIndex, state: 'replicate', silentTicks: 0 }) as never
  const watch = new ClockWatch({
    clock: port,
    time,
    status: () => ({
      configuration: { voters: ['n1', 'n2', 'n3'], learners: ['n4'], outgoing: [] },
      peers: [peer('n2', 5), peer('n3', 9), peer('n4', 9)],
    }),
    isLeader: () => true,
    level: () => level,
    logTime: () => logTime,
    transfer: (target) => transfers.push(target),
    stampTime: () => stamps.push(clock.at),
    logger: SILENT,
  })
  const receive = (offsets: Readonly<Record<string, number>>): void => {
    for (const [nodeId, offset] of Object.entries(offsets))
      time.receive(nodeId, { wall: TRUE + clock.at + offset, majority: null }, false)
  }
  const pass = (ms: number, offsets: Readonly<Record<string, number>>): void => {
    for (let passed = 0; passed < ms; passed += 100) {
      clock.at += 100
      receive(offsets)
      watch.onTick()
    }
  }
  return { clock, watch, receive, pass, transfers, stamps }
}

t.test('ClockWatch', async (t) => {
  t.test('stamps the time of the majority, and 0 without one', async (t) => {
    const { clock, watch, receive } = bench({ own: HOUR_MS })
    t.equal(watch.stamp(), 0)
    receive({ n2: 1, n3: -1 })
    t.equal(watch.stamp(), TRUE + 1)
    clock.at += 10_000
    t.equal(watch.stamp(), 0, 'they were received too long ago')
  })

  t.test('below the level stamps its own clock where peers report none', async (t) => {
    const { watch, receive } = bench({ own: HOUR_MS, level: TIME_LEVEL - 1 })
    t.equal(watch.stamp(), TRUE + HOUR_MS)
    receive({ n2: 1, n3: -1 })
    t.equal(watch.stamp(), TRUE + 1, 'and not where they report one')
  })

  t.test('hands over to the voter with the longest log whose clock is right', async (t) => {
    const { pass, transfers } = bench({ own: HOUR_MS })
    pass(SKEW_LASTS_MS, { n2: 0, n3: 0, n4: 0 })
    t.same(transfers, [])
    pass(200, { n2: 0, n3: 0, n4: 0 })
    t.same(transfers, ['n3'])
    pass(4_000, { n2: 0, n3: 0 })
    t.same(transfers, ['n3'], 'not again at once')
    pass(2_000, { n2: 0, n3: 0 })
    t.same(transfers, ['n3', 'n3'])
  })

  t.test('does not hand over to a clock that is wrong as well', async (t) => {
    const { pass, transfers } = bench({ own: HOUR_MS })
    pass(SKEW_LASTS_MS + 1_000, { n2: 0, n3: 2 * HOUR_MS })
    t.same(transfers, [], 'its own clock is the median')
    const other = bench({ own: 2 * HOUR_MS })
    other.pass(SKEW_LASTS_MS + 1_000, { n2: 0, n3: HOUR_MS })
    t.same(other.transfers, ['n3'], 'the middle one')
  })

  t.test('stamps an entry when the log is an hour behind, and not more often than it may', async (t) => {
    const { pass, stamps } = bench({ logTime: TRUE - HOUR_MS })
    pass(1_000, { n2: 0, n3: 0 })
    t.equal(stamps.length, 1)
    const old = bench({ logTime: TRUE - HOUR_MS, level: TIME_LEVEL - 1 })
    old.pass(1_000, { n2: 0, n3: 0 })
    t.same(old.stamps, [])
  })
})
