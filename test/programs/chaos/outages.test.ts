import t from 'tap'
import { type Struck, longestGap, summarize } from './outages.ts'

const struck = (nemesis: Struck['nemesis'], at: number, readyAt: number): Struck => ({
  nemesis,
  what: nemesis,
  at,
  healedAt: at,
  readyAt,
  excused: [],
})

t.test('longestGap', async (t) => {
  const writes = [0, 10, 20, 500, 510, 2000]
  await t.test('is the longest time between two writes, started before the window or in it', async (t) => {
    t.equal(longestGap(writes, { from: 15, to: 505 }), 480)
    t.equal(longestGap(writes, { from: 600, to: 2001 }), 1490)
  })
  await t.test('ends with the window: later gaps have another reason', async (t) => {
    t.equal(longestGap(writes, { from: 15, to: 100 }), 80)
    t.equal(longestGap(writes, { from: 1900, to: 5000 }), 3000)
    t.equal(longestGap([], { from: 100, to: 400 }), 300)
  })
})

t.test('summarize reports the worst strike of each nemesis, up to the strike that follows', async (t) => {
  const writes = [0, 100, 1000, 1100, 1200, 1700]
  const all = [struck('pause', 50, 200), struck('kill', 1050, 1150), struck('pause', 1190, 1300)]
  t.strictSame(summarize(all, writes), [
    { nemesis: 'kill', strikes: 1, withoutWritesMs: 100 },
    { nemesis: 'pause', strikes: 2, withoutWritesMs: 900 },
  ])
})
