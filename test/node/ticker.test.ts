/**
 * A process that slept gets one tick gap, never the ticks that it has missed.
 */
import t from 'tap'
import { Ticker } from '../../cluster/node/ticker.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const HEARTBEAT_MS = 50
const GAP_MS = 500

t.test('Ticker', async (t) => {
  t.test('ticks with the heartbeat, and reports a pause as one gap', async (t) => {
    const clock = new VirtualClock()
    let sleptMs = 0
    const kinds: string[] = []
    const ticker = new Ticker({
      // While the process sleeps its timers wait, and its clock continues.
      clock: {
        now: () => clock.now() + sleptMs,
        wallTime: () => clock.wallTime() + sleptMs,
        after: (ms, callback) => clock.after(ms, callback),
      },
      heartbeatMs: HEARTBEAT_MS,
      gapMs: GAP_MS,
      onTick: (kind) => kinds.push(kind),
    })
    ticker.start()
    await clock.advance(3 * HEARTBEAT_MS)
    t.strictSame(kinds, ['tick', 'tick', 'tick'])
    sleptMs = 10 * GAP_MS
    await clock.advance(3 * HEARTBEAT_MS)
    t.strictSame(kinds.slice(3, 5), ['tickGap', 'tick'])
    t.ok(kinds.length <= 7, 'missed ticks are not repeated')
    ticker.stop()
    t.equal(clock.pending, 0)
  })
})
