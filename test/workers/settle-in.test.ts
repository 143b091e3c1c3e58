/**
 * Before its master key is known to be the cluster's, a node answers nobody; with another key it never does.
 */
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { Agreement } from '../../src/workers/agreement.ts'
import { settleIn } from '../../src/workers/settle-in.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

/** A node on the state of `world`, whose key has this fingerprint. */
function nodeOn(world: MemoryServices, masterKeyFingerprint: string) {
  const agreement = new Agreement()
  const { cluster } = world.services
  const services = { ...world.services, cluster: agreement.guard(cluster), masterKeyFingerprint }
  return { services, settle: settleIn({ services, cluster, agreement }, new AbortController().signal) }
}

t.test('a node serves once its master key was compared with the cluster', async (t) => {
  const world = await MemoryServices.start(t)
  const { services, settle } = nodeOn(world, 'fingerprint-1')
  await t.rejects(services.cluster.readBarrier(), { code: 'leader_not_ready' })
  t.match(services.cluster.readiness(), { ready: false, reasons: [/master key/] })
  await settle
  await services.cluster.readBarrier()
  t.strictSame(services.cluster.readiness(), { ready: true, reasons: [] })
  t.equal(services.state.masterKeyFingerprint(), 'fingerprint-1', 'the first key becomes the cluster key')
})

t.test('wrong_master_key ends a node that has another key, and it never served', async (t) => {
  const world = await MemoryServices.start(t)
  await nodeOn(world, 'fingerprint-1').settle
  const stranger = nodeOn(world, 'fingerprint-2')
  await t.rejects(stranger.settle, { code: 'wrong_master_key', hint: /same file/ })
  await t.rejects(stranger.services.cluster.readBarrier(), { code: 'leader_not_ready' })
  t.equal(world.services.state.masterKeyFingerprint(), 'fingerprint-1')
})

t.test('a node without a leader goes on asking until there is one', async (t) => {
  const world = await MemoryServices.start(t)
  world.barrierFault = new Condition('no_leader', 'nobody leads')
  const { services, settle } = nodeOn(world, 'fingerprint-1')
  await t.rejects(services.cluster.readBarrier(), { code: 'no_leader' })
  t.match(services.cluster.readiness(), { ready: false })
  world.barrierFault = null
  await settle
  t.ok(services.cluster.readiness().ready)
})
