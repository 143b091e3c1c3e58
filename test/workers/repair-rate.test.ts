/** The committed rate reaches the machine, and only when it has changed. */
import t from 'tap'
import { followRepairRate } from '../../src/workers/repair-rate.ts'
import { StoreWorld } from '../store/store-world.ts'

t.test('followRepairRate', async (t) => {
  const world = await StoreWorld.open(t)
  const rates: (number | null)[] = []
  const last = (): number | null => rates.at(-1) ?? null
  const cluster = {
    setRepairRate: (rate: number | null) => void rates.push(rate),
    repairStatus: () => ({ bytesPerSecond: last() }) as never,
  }
  const follow = (): void => followRepairRate(cluster, world.store.reader)
  follow()
  t.strictSame(rates, [], 'there is none at the beginning')
  await world.do({ type: 'setRepairRate', bytesPerSecond: 1_000 })
  for (let n = 0; n < 3; n++) follow()
  await world.do({ type: 'setRepairRate', bytesPerSecond: null })
  for (let n = 0; n < 3; n++) follow()
  t.strictSame(rates, [1_000, null])
})
