/**
 * How often a node wakes to measure the lag of its event loop: what it reports is never less than the pause between two measurements.
 */
import t from 'tap'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { until } from '../helpers/async.ts'

t.test('the lag of the event loop is measured ten times a second, and not a hundred', async (t) => {
  const metrics = new Metrics({ version: '0.0.0', nodeId: 'n1', samples: () => [] })
  let least = 0
  await until('the lag was measured', async () => {
    const [, value = ''] = /^nodejs_eventloop_lag_min_seconds (\S+)$/m.exec(await metrics.render()) ?? []
    // Before the first measurement it is the largest number that there is.
    const isMeasured = Number(value) > 0 && Number(value) < 1e6
    if (isMeasured) least = Number(value)
    return isMeasured
  })
  t.ok(least >= 0.05, `${least} s`)
})
