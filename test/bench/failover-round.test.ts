/** What counts as the gap when the leader is lost. */
import t from 'tap'
import { longestIntervals } from '../../scripts/failover/round.ts'

const at = (...times: number[]) => times.map((time) => ({ at: time }))

t.test('longestIntervals', async (t) => {
  t.strictSame(longestIntervals(at(0, 10, 25, 35), 100), { before: 15, after: 0 }, 'nothing after the signal')
  t.strictSame(
    longestIntervals(at(0, 10, 1310, 1320), 12),
    { before: 10, after: 1300 },
    'runs from the last acknowledgement before the signal',
  )
  t.strictSame(
    longestIntervals(at(0, 10, 14, 500, 1400), 12),
    { before: 10, after: 900 },
    'is the longest, not the first: a request in flight does not shorten it',
  )
  t.strictSame(longestIntervals(at(30, 0, 10), 5), { before: 0, after: 20 }, 'sorts the acknowledgements')
})
