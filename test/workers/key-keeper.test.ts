/**
 * A rotation of the master key on the services of several nodes that share one state, turn by turn.
 */
import t, { type Test } from 'tap'
import { Condition } from '../../cluster/index.ts'
import { MasterKey } from '../../src/access/master-key.ts'
import { NativeAccess } from '../../src/access/native-access.ts'
import { SealedSecrets } from '../../src/access/sealed-secrets.ts'
import { accessKeySecret } from '../../src/access/sealing-contexts.ts'
import { MasterKeyGate } from '../../src/workers/master-key-gate.ts'
import { KeyKeeper } from '../../src/workers/key-keeper.ts'
import { runStartupTasks } from '../../src/workers/startup-tasks.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { ChunkKeys } from '../../src/content/chunk-keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'

const line = (name: string, byte: number) => ({ id: `mk-${name}`, secret: Buffer.alloc(32, byte) })
const [OLD, NEW, OTHER] = [line('old', 1), line('new', 2), line('other', 3)]
const FINGERPRINT = Object.fromEntries(
  [OLD, NEW, OTHER].map((one) => [one.id, MasterKey.of([one]).fingerprint]),
)
const NODES = ['n1', 'n2', 'n3']

type Line = typeof OLD

/** One node: its key file, and what it does with it. */
class Node {
  readonly keeper: KeyKeeper
  readonly access: NativeAccess
  readonly masterKey: MasterKey
  forgot = 0
  secretsLeft: number | null = null

  constructor(world: MemoryServices, nodeId: string, file: readonly Line[]) {
    const { services } = world
    this.masterKey = MasterKey.of(file)
    const { state, propose, config, logger } = services
    this.access = new NativeAccess({
      masterKey: this.masterKey,
      state,
      config,
      uses: world.uses,
      now: () => world.now,
    })
    this.keeper = new KeyKeeper({
      masterKey: this.masterKey,
      secrets: new SealedSecrets(this.masterKey, state),
      state,
      propose,
      nodeId,
      members: () => NODES,
      isJobRunner: () => nodeId === 'n1',
      forgetChangedKeys: () => (this.forgot += 1),
      onWalk: (secretsLeft) => (this.secretsLeft = secretsLeft),
      logger,
    })
  }
}

async function started(t: Test): Promise<{ world: MemoryServices; nodes: Node[] }> {
  const world = await MemoryServices.start(t, { masterKey: MasterKey.of([OLD]) })
  await settled(world, [OLD])
  return { world, nodes: NODES.map((id) => new Node(world, id, [OLD])) }
}

function settled(world: MemoryServices, file: readonly Line[]): Promise<void> {
  const { cluster } = world.services
  const masterKeyGate = new MasterKeyGate()
  const services = { ...world.services, cluster: masterKeyGate.guard(cluster) }
  const settling = { readBarrier: () => cluster.readBarrier(), forgetFingerprint: async () => undefined }
  const masterKey = MasterKey.of(file)
  const secrets = new SealedSecrets(masterKey, services.state)
  return runStartupTasks(
    { services, cluster: settling, masterKeyGate, masterKey, secrets },
    new AbortController().signal,
  )
}

async function turns(nodes: readonly Node[], times = 4): Promise<void> {
  for (let time = 0; time < times; time += 1) for (const node of nodes) await node.keeper.turn()
}

const remaining = (node: Node | undefined): number | undefined =>
  node?.keeper.samples().find(({ name }) => name.endsWith('remaining'))?.value

t.test('a rotation', async (t) => {
  const { world, nodes } = await started(t)
  await world.tenant('acme')
  const key = await world.accessKey('acme', 'read')
  const clientAddress = 'test'
  const oldToken = nodes[0]?.access.exchange({ ...key, clientAddress }).token
  await turns(nodes)

  await t.test('seals with the old key on every node until the last one has the new one', async (t) => {
    for (const [at, id] of NODES.entries()) {
      t.equal(world.services.state.get(tenantKeys.clusterKey())?.masterKeyFingerprint, FINGERPRINT['mk-old'])
      await settled(world, [NEW, OLD])
      nodes[at] = new Node(world, id, [NEW, OLD])
      nodes[at].masterKey.use(FINGERPRINT['mk-old'] ?? '')
      await nodes[at].keeper.turn()
      const { accessKeyId, sealed } = nodes[at].access.newAccessKey()
      const sealers = nodes.map(({ masterKey }) => masterKey.sealerOf(sealed, accessKeySecret(accessKeyId)))
      t.strictSame(sealers, ['mk-old', 'mk-old', 'mk-old'], 'every node opens it')
    }
  })

  await t.test('then moves to the new key, seals everything again, and logs it', async (t) => {
    await turns(nodes)
    t.equal(world.services.state.get(tenantKeys.clusterKey())?.masterKeyFingerprint, FINGERPRINT['mk-new'])
    t.strictSame(
      nodes.map(({ masterKey }) => masterKey.id),
      ['mk-new', 'mk-new', 'mk-new'],
    )
    t.equal(world.services.state.get(tenantKeys.tenant('acme'))?.masterKeyId, 'mk-new')
    t.equal(remaining(nodes[0]), 0)
    t.equal(remaining(nodes[1]), -1, 'only the leader walks')
    const said = world.lines.map(({ message }) => message)
    t.ok(said.includes('nothing is sealed under an older master key any more'))
    t.notMatch(JSON.stringify(world.lines), /secretKey|AQEB|AgIC/)
  })

  await t.test('keeps tokens alive and every secret the same, with and without the old key', async (t) => {
    const alone = new Node(world, 'n1', [NEW])
    for (const node of [...nodes, alone]) {
      t.ok(node.access.exchange({ ...key, clientAddress }).token)
    }
    t.ok(
      nodes[0]?.access.openBearer(`Bearer ${oldToken}`)({ address: '192.0.2.1', isSecure: false }),
      'a token from before is still good',
    )
    t.throws(() => alone.access.openBearer(`Bearer ${oldToken}`)({ address: '192.0.2.1', isSecure: false }), {
      code: 'token_invalid',
    })
    await settled(world, [NEW])
    await t.rejects(settled(world, [OLD]), { code: 'wrong_master_key' })
  })
})

t.test('a node whose file does not have a key that is still needed', async (t) => {
  t.test('is refused with master_key_needed, which names the key', async (t) => {
    const { world, nodes } = await started(t)
    await world.tenant('acme')
    for (const [at, id] of NODES.entries()) nodes[at] = new Node(world, id, [NEW, OLD])
    // The cluster moves to the new key, but no node seals again: the one that would is down.
    const others = nodes.slice(1)
    for (const node of nodes) node.masterKey.use(FINGERPRINT['mk-old'] ?? '')
    const { propose } = world.services
    for (const nodeId of NODES) {
      await propose({
        type: 'announceMasterKeys',
        nodeId,
        fingerprints: nodes[0]?.masterKey.fingerprints ?? [],
      })
    }
    await turns(others)
    t.equal(world.services.state.get(tenantKeys.clusterKey())?.masterKeyFingerprint, FINGERPRINT['mk-new'])
    await t.rejects(settled(world, [NEW]), { code: 'master_key_needed', message: /tenant 'acme'.*'mk-old'/ })
    await settled(world, [NEW, OLD])
  })

  t.test('is refused for the secret of an access key alone, too', async (t) => {
    const { world } = await started(t)
    const { propose } = world.services
    const newer = new NativeAccess({
      masterKey: MasterKey.of([NEW]),
      state: world.services.state,
      config: world.services.config,
      uses: world.uses,
      now: () => world.now,
    })
    await propose({ type: 'createTenant', id: 'acme', name: 'acme', ...newer.newTenantKeys('acme') })
    const { accessKeyId } = await world.accessKey('acme', 'read')
    for (const nodeId of NODES) {
      const fingerprints = [FINGERPRINT['mk-new'] ?? '', FINGERPRINT['mk-old'] ?? '']
      await propose({ type: 'announceMasterKeys', nodeId, fingerprints })
    }
    const [from, to] = [FINGERPRINT['mk-old'] ?? '', FINGERPRINT['mk-new'] ?? '']
    await propose({ type: 'advanceClusterKey', from, to, nodes: NODES })
    await t.rejects(settled(world, [NEW]), {
      code: 'master_key_needed',
      message: new RegExp(`${accessKeyId}.*'mk-old'`),
    })
  })
})

t.test(
  'an exchange of a data key during a rotation keeps all three keys of the tenant readable',
  async (t) => {
    const { world } = await started(t)
    await world.tenant('acme')
    const { dataKey, masterKeyId } = world.services.access.newTenantKeys('acme', 2)
    const asked = { operationId: 'op1', requestedBy: 'olga', reason: 'yearly', maxBytesPerSecond: null }
    await world.change({
      type: 'exchangeTenantKey',
      tenantId: 'acme',
      ...asked,
      from: 1,
      dataKey,
      masterKeyId,
    })
    const nodes = NODES.map((id) => new Node(world, id, [NEW, OLD]))
    for (const node of nodes) node.masterKey.use(FINGERPRINT['mk-old'] ?? '')
    await turns(nodes)
    t.equal(remaining(nodes[0]), 0)
    t.equal(nodes[0]?.secretsLeft, 0, 'it is reported')
    const tenant = world.services.state.get(tenantKeys.tenant('acme'))
    if (tenant === undefined) return t.fail('the tenant is there')
    const ring = new ChunkKeys(MasterKey.of([NEW])).of(tenant)
    t.ok(ring.of(1) !== undefined && ring.of(2) !== undefined, 'the new master key opens both')
    await settled(world, [NEW])
  },
)

t.test('a secret that is damaged', async (t) => {
  t.test('stops neither the start nor the rotation, and is named in the log', async (t) => {
    const { world } = await started(t)
    const { propose } = world.services
    const about = { tenantId: 'acme', accountId: null, name: null, scopes: 'read', expiresAt: null } as const
    await world.tenant('acme')
    const damaged = Buffer.from(world.services.access.newAccessKey().sealed)
    await propose({ type: 'createAccessKey', accessKeyId: 'AKDAMAGED', secret: damaged, ...about })
    const good = await world.accessKey('acme', 'read')
    await settled(world, [NEW, OLD])
    const nodes = NODES.map((id) => new Node(world, id, [NEW, OLD]))
    for (const node of nodes) node.masterKey.use(FINGERPRINT['mk-old'] ?? '')
    await turns(nodes)
    t.equal(remaining(nodes[0]), 1)
    t.match(
      world.lines.filter(({ level }) => level === 'error'),
      [{ fields: { secrets: 1, some: ["access key 'AKDAMAGED'"] } }],
    )
    t.ok(
      new Node(world, 'n1', [NEW]).access.exchange({ ...good, clientAddress: 'test' }),
      'the others are done',
    )
    // It names the old key, so the old key is still asked for.
    await t.rejects(settled(world, [NEW]), { code: 'master_key_needed', message: /AKDAMAGED/ })
  })
})

t.test('KeyKeeper', async (t) => {
  t.test('never moves the cluster to and fro between nodes that want different keys', async (t) => {
    const { world } = await started(t)
    const files = [
      [NEW, OLD],
      [NEW, OTHER, OLD],
      [OTHER, NEW, OLD],
    ]
    const nodes = NODES.map((id, at) => new Node(world, id, files[at] ?? []))
    for (const node of nodes) node.masterKey.use(FINGERPRINT['mk-old'] ?? '')
    await turns(nodes)
    t.equal(world.services.state.get(tenantKeys.clusterKey())?.masterKeyFingerprint, FINGERPRINT['mk-old'])
  })

  t.test('rests when there is nothing to do: it proposes nothing and forgets what changed', async (t) => {
    const { world, nodes } = await started(t)
    await world.tenant('acme')
    const { proposals } = world
    const forgot = nodes[0]?.forgot ?? 0
    await turns(nodes)
    t.equal(world.proposals, proposals)
    t.equal(nodes[0]?.forgot, forgot + 4)
  })

  t.test('stops a node without the key on which the others agreed', async (t) => {
    const { world } = await started(t)
    await t.rejects(new Node(world, 'n1', [NEW]).keeper.turn(), { code: 'wrong_master_key' })
  })

  t.test('waits for a leader and continues, until its signal fires', async (t) => {
    const { world } = await started(t)
    world.proposeFault = new Condition('no_leader', 'there is no leader')
    const controller = new AbortController()
    const node = new Node(world, 'n1', [NEW, OLD])
    node.masterKey.use(FINGERPRINT['mk-old'] ?? '')
    const run = node.keeper.run(controller.signal)
    controller.abort()
    await run
    t.equal(world.services.state.get(tenantKeys.clusterKey())?.holders, undefined)
    world.proposeFault = null
    await node.keeper.turn()
    t.match(world.services.state.get(tenantKeys.clusterKey())?.holders, { n1: { length: 2 } })
  })
})
