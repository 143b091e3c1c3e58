/**
 * The part of the log that a node holds in memory is bounded, for any state and peers.
 */
import t from 'tap'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { loadOn } from '../helpers/node-load.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const KEEP = 40
const WINDOW = { windowEntriesMax: 64, windowBytesMax: 65_536 }

t.test('a follower whose state does not advance keeps its log on disk, not in memory', async (t) => {
  const world = await NodeWorld.started({
    node: { logKeepEntries: KEEP, limits: { raft: { ...DEFAULT_NODE_LIMITS.raft, ...WINDOW } } },
  })
  const [slow = ''] = world.followers
  world.host(slow).applyMs = 1_000_000
  const load = loadOn(world, 5, 'y'.repeat(2_000))
  for (let second = 0; second < 10; second += 1) {
    await world.clock.advance(1_000)
    for (const nodeId of world.running) {
      const { window, readBackBytes } = world.node(nodeId).status()
      t.ok(window.entries <= 2 * WINDOW.windowEntriesMax, `${nodeId} holds ${window.entries} entries`)
      t.ok(window.bytes + readBackBytes <= 3 * WINDOW.windowBytesMax, `${nodeId} holds ${window.bytes} bytes`)
    }
  }
  const { commitIndex, base } = world.node(slow).status()
  t.ok(commitIndex - base.index > 4 * WINDOW.windowEntriesMax, 'the rest is on disk')
  load.stop()
  await world.restart(slow)
  world.host(slow).applyMs = null
  await world.untilEqual()
  t.same(world.texts(slow), world.texts(world.leaderOrDie()), 'and is applied from there')
  t.equal(world.metric(slow, 'snapshots_installed_total'), 0)
  t.ok(world.metric(slow, 'log_read_back_total') > 0)
  await world.stopAll()
})
