/**
 * Before its master key is known to be the cluster's, a node serves no request; with another key it never does.
 */
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { SealedSecrets } from '../../src/access/sealed-secrets.ts'
import { MasterKeyGate } from '../../src/workers/master-key-gate.ts'
import { runStartupTasks } from '../../src/workers/startup-tasks.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'

const keyOf = (byte: number): MasterKey => MasterKey.fromBytes(`mk-${byte}`, Buffer.alloc(32, byte))

/** A node on the state of `world` that has this key file. */
function nodeOn(world: MemoryServices, masterKey: MasterKey) {
  const masterKeyGate = new MasterKeyGate()
  const { cluster } = world.services
  const services = { ...world.services, cluster: masterKeyGate.guard(cluster) }
  const secrets = new SealedSecrets(masterKey, services.state)
  const forgotten: boolean[] = []
  const settling = {
    readBarrier: () => cluster.readBarrier(),
    forgetFingerprint: async () => void forgotten.push(true),
  }
  const settle = runStartupTasks(
    { services, cluster: settling, masterKeyGate, masterKey, secrets },
    new AbortController().signal,
  )
  return { services, settle, forgotten }
}

t.test('a node serves once its master key was compared with the cluster', async (t) => {
  const world = await MemoryServices.start(t)
  const { services, settle } = nodeOn(world, keyOf(1))
  await t.rejects(services.cluster.readBarrier(), { code: 'leader_not_ready' })
  t.match(services.cluster.readiness(), { ready: false, reasons: [/master key/] })
  await settle
  await services.cluster.readBarrier()
  t.strictSame(services.cluster.readiness(), { ready: true, reasons: [] })
  const { fingerprint } = keyOf(1)
  t.equal(
    services.state.get(tenantKeys.clusterKey())?.masterKeyFingerprint,
    fingerprint,
    'the first key becomes the cluster key',
  )
})

t.test('wrong_master_key ends a node that has another key, and it never served', async (t) => {
  const world = await MemoryServices.start(t)
  await nodeOn(world, keyOf(1)).settle
  const otherNode = nodeOn(world, keyOf(2))
  await t.rejects(otherNode.settle, { code: 'wrong_master_key', hint: /same file/ })
  t.same(otherNode.forgotten, [true], 'its directory takes the right file at the next start')
  await t.rejects(otherNode.services.cluster.readBarrier(), { code: 'leader_not_ready' })
  t.equal(world.services.state.get(tenantKeys.clusterKey())?.masterKeyFingerprint, keyOf(1).fingerprint)
})

t.test('a node without a leader keeps asking until there is one', async (t) => {
  const world = await MemoryServices.start(t)
  world.barrierFault = new Condition('no_leader', 'there is no leader')
  const { services, settle } = nodeOn(world, keyOf(1))
  await t.rejects(services.cluster.readBarrier(), { code: 'no_leader' })
  t.match(services.cluster.readiness(), { ready: false })
  world.barrierFault = null
  await settle
  t.ok(services.cluster.readiness().ready)
})
