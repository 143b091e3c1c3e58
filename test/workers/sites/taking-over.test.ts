/** A node that takes over from another one, whose results it has not applied yet. [docs/adr/0090-replication-to-a-second-site.md] */
import t from 'tap'
import { remove } from '../../state-machine/map-world.ts'
import { Bench } from './site-bench.ts'

t.test('a node that takes over sends nothing that was sent and deleted before', async (t) => {
  const bench = await Bench.start(t)
  await bench.put('a')
  const later = bench.another()
  // What the node before did reaches this one while it waits.
  bench.barrier = async () => {
    bench.barrier = () => Promise.resolve()
    await bench.settle()
    await bench.propose(remove('a'))
    await bench.settle()
  }
  await later.round()
  await later.idle()
  t.same(bench.site.effects, ['put a e1', 'remove a'])
  t.match(bench.state, { pending: 0, sent: 2 })
})

t.test('a node that is not the job runner behind the barrier sends nothing', async (t) => {
  const bench = await Bench.start(t)
  await bench.put('a')
  bench.barrier = async () => {
    bench.duty.isOn = false
  }
  await bench.sending.round()
  await bench.sending.idle()
  t.same(bench.site.effects, [])
})
