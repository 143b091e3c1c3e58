/**
 * The commands of a master key rotation: their changes and refusals.
 */
import t from 'tap'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { REWRAP_ITEMS_MAX } from '../../src/state-machine/master-keys/limits.ts'
import { createTenant, endTenant, MapWorld } from './map-world.ts'

const fingerprint = (digit: string): string => digit.repeat(64)
const [OLD, NEW, OTHER] = [fingerprint('a'), fingerprint('b'), fingerprint('c')]

function announce(nodeId: string, ...fingerprints: readonly string[]): Command {
  return { type: 'announceMasterKeys', nodeId, fingerprints }
}

function advance(nodes: readonly string[], from = OLD, to = NEW): Command {
  return { type: 'advanceClusterKey', from, to, nodes }
}

function clusterOf(...nodes: readonly string[]): MapWorld {
  const world = new MapWorld()
  world.do({ type: 'setClusterKey', masterKeyFingerprint: OLD })
  for (const node of nodes) world.do(announce(node, NEW, OLD))
  return world
}

t.test('advanceClusterKey', async (t) => {
  t.test('moves to the new key when every node has announced it first, once', async (t) => {
    const world = clusterOf('n1', 'n2', 'n3')
    t.match(world.do(advance(['n1', 'n2', 'n3'])), { masterKeyFingerprint: NEW })
    t.match(
      world.do(advance(['n1', 'n2', 'n3'])),
      { masterKeyFingerprint: NEW },
      'repeating it changes nothing',
    )
    t.equal(world.get(tenantKeys.clusterKey())?.masterKeyFingerprint, NEW)
  })

  t.test(
    'refuses with precondition_failed while a node does not have it, or wants another first',
    async (t) => {
      const world = clusterOf('n1', 'n2')
      const refusal = { code: 'precondition_failed', message: /n3/ }
      t.match(world.run(advance(['n1', 'n2', 'n3'])), refusal)
      world.do(announce('n3', OLD))
      t.match(world.run(advance(['n1', 'n2', 'n3'])), refusal)
      world.do(announce('n3', OTHER, NEW, OLD))
      t.match(world.run(advance(['n1', 'n2', 'n3'])), refusal)
      t.match(world.run(advance([])), { code: 'precondition_failed' })
      t.equal(world.get(tenantKeys.clusterKey())?.masterKeyFingerprint, OLD)
    },
  )

  t.test('refuses with precondition_failed when the cluster now seals with another key', async (t) => {
    const world = clusterOf('n1')
    t.match(world.run(advance(['n1'], OTHER)), { code: 'precondition_failed' })
    t.match(new MapWorld().run(advance(['n1'])), { code: 'precondition_failed' })
  })
})

t.test('announceMasterKeys', async (t) => {
  t.test('replaces the earlier announcement of the node, and none of the others', async (t) => {
    const world = clusterOf('n1', 'n2')
    world.do(announce('n2', OLD))
    t.strictSame(world.get(tenantKeys.clusterKey()), {
      masterKeyFingerprint: OLD,
      holders: { n1: [NEW, OLD], n2: [OLD] },
    })
  })

  t.test('refuses a node without the key of the cluster, and malformed lists', async (t) => {
    const world = clusterOf()
    t.match(world.run(announce('n1', NEW)), { code: 'precondition_failed' })
    t.match(world.run(announce('n1')), { code: 'invalid_argument' })
    t.match(world.run(announce('n1', OLD, 'short')), { code: 'invalid_argument' })
    t.match(world.run(announce('n1', ...Array.from({ length: 9 }, () => OLD))), { code: 'invalid_argument' })
    t.match(world.run(announce('', OLD)), { code: 'invalid_argument' })
    t.match(new MapWorld().run(announce('n1', OLD)), { code: 'precondition_failed' })
  })

  t.test('refuses more nodes than a cluster can have', async (t) => {
    const world = clusterOf(...Array.from({ length: 256 }, (_, i) => `n${i}`))
    t.match(world.run(announce('one-more', OLD)), { code: 'precondition_failed' })
    world.do(announce('n7', OLD))
  })
})

t.test('rewrapTenantKeys', async (t) => {
  const bytes = (text: string): Buffer => Buffer.from(text)
  const rewrap = (tenantId: string, before: [string, string], after: [string, string]): Command => ({
    type: 'rewrapTenantKeys',
    masterKeyId: 'mk-2',
    items: [
      {
        tenantId,
        before: { dataKey: bytes(before[0]), dedupKey: bytes(before[1]) },
        after: { dataKey: bytes(after[0]), dedupKey: bytes(after[1]) },
      },
    ],
  })

  function worldWith(): MapWorld {
    const world = new MapWorld()
    world.do({ ...createTenant('acme'), dataKey: bytes('d1'), dedupKey: bytes('u1') })
    return world
  }

  t.test('replaces exactly the bytes that it was made from', async (t) => {
    const world = worldWith()
    t.strictSame(world.do(rewrap('acme', ['d1', 'u1'], ['d2', 'u2'])), { rewrapped: 1 })
    const row = world.get(tenantKeys.tenant('acme'))
    t.match(row, { masterKeyId: 'mk-2', name: 'acme', status: 'active' })
    t.strictSame([String(row?.dataKey), String(row?.dedupKey)], ['d2', 'u2'])
  })

  t.test('skips keys that changed meanwhile, were shredded, or are gone', async (t) => {
    const world = worldWith()
    t.strictSame(world.do(rewrap('acme', ['d0', 'u1'], ['d2', 'u2'])), { rewrapped: 0 })
    t.strictSame(world.do(rewrap('acme', ['d1', 'u0'], ['d2', 'u2'])), { rewrapped: 0 })
    t.strictSame(world.do(rewrap('none', ['d1', 'u1'], ['d2', 'u2'])), { rewrapped: 0 })
    endTenant(world, 'acme')
    t.strictSame(world.do(rewrap('acme', ['d1', 'u1'], ['d2', 'u2'])), { rewrapped: 0 })
    t.equal(world.get(tenantKeys.tenant('acme'))?.dataKey.length, 0)
  })

  t.test(
    'refuses with invalid_argument more items than an entry may have, and writes none of them',
    async (t) => {
      const world = worldWith()
      const one = rewrap('acme', ['d1', 'u1'], ['d2', 'u2']) as Extract<Command, { type: 'rewrapTenantKeys' }>
      const items = Array.from({ length: REWRAP_ITEMS_MAX + 1 }, () => one.items[0]).filter(
        (item) => item !== undefined,
      )
      t.match(world.run({ ...one, items }), { code: 'invalid_argument' })
      t.equal(String(world.get(tenantKeys.tenant('acme'))?.dataKey), 'd1')
    },
  )
})

t.test('rewrapAccessKeys', async (t) => {
  const world = new MapWorld()
  world.do(createTenant('acme'))
  const about = { tenantId: 'acme', accountId: null, name: null, scopes: 'read', expiresAt: null } as const
  world.do({ type: 'createAccessKey', accessKeyId: 'AK1', secret: Buffer.from('s1'), ...about })
  const rewrap = (before: string, after: string): Command => ({
    type: 'rewrapAccessKeys',
    items: [{ accessKeyId: 'AK1', before: Buffer.from(before), after: Buffer.from(after) }],
  })

  t.test('replaces the sealed secret and neither version nor times', async (t) => {
    const before = world.get(tenantKeys.accessKey('AK1'))
    t.strictSame(world.do(rewrap('s1', 's2')), { rewrapped: 1 })
    t.strictSame(world.get(tenantKeys.accessKey('AK1')), { ...before, secret: Buffer.from('s2') })
  })

  t.test('skips a secret that was rotated meanwhile', async (t) => {
    world.do({
      type: 'rotateAccessKey',
      accessKeyId: 'AK1',
      tenantId: 'acme',
      secret: Buffer.from('s3'),
      scopes: null,
      expiresAt: null,
    })
    t.strictSame(world.do(rewrap('s2', 's4')), { rewrapped: 0 })
    t.equal(String(world.get(tenantKeys.accessKey('AK1'))?.secret), 's3')
    t.match(world.run({ type: 'rewrapAccessKeys', items: Array.from({ length: 257 }, () => item()) }), {
      code: 'invalid_argument',
    })
  })

  function item() {
    return { accessKeyId: 'AK1', before: Buffer.from('s3'), after: Buffer.from('s4') }
  }
})
