import t from 'tap'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { apply } from '../../src/state-machine/state-machine.ts'
import { createTenant, disableTenant, MapWorld, worldWithBucket, put } from './map-world.ts'
import { timesAt } from '../helpers/entry-time.ts'

const secret = Uint8Array.of(9)

const accessKey = (id: string, tenantId = 'acme') =>
  ({
    type: 'createAccessKey',
    accessKeyId: id,
    tenantId,
    accountId: null,
    name: null,
    scopes: 'read',
    secret,
    expiresAt: 50,
  }) as const

const adminToken = (tokenId: string, sha256: string, tenantId: string | null = null) =>
  ({
    type: 'createAdminToken',
    tokenId,
    name: 'ops',
    role: 'owner',
    tenantId,
    expiresAt: null,
    sha256,
  }) as const

t.test('setClusterKey', (t) => {
  t.test('keeps the first fingerprint and returns it to every later caller', (t) => {
    const world = new MapWorld()
    t.same(world.do({ type: 'setClusterKey', masterKeyFingerprint: 'one' }), { masterKeyFingerprint: 'one' })
    t.same(world.do({ type: 'setClusterKey', masterKeyFingerprint: 'two' }), { masterKeyFingerprint: 'one' })
    t.same(world.get(tenantKeys.clusterKey()), { masterKeyFingerprint: 'one' })
    t.end()
  })
  t.end()
})

t.test('createTenant', (t) => {
  t.test('makes an active tenant without buckets, with the time of the log', (t) => {
    const world = new MapWorld()
    const tenant = world.do(createTenant('acme'))
    t.match(tenant, { id: 'acme', status: 'active', createdAt: 1_700_000_000_007, bucketCount: 0 })
    t.same(world.get(tenantKeys.tenant('acme')), tenant)
    t.end()
  })

  t.test('already_exists when the id is taken', (t) => {
    const world = worldWithBucket()
    t.match(world.run(createTenant('acme')), { ok: false, code: 'already_exists' })
    t.equal(world.get(tenantKeys.tenant('acme'))?.bucketCount, 1, 'the first one stays')
    t.end()
  })

  t.test('invalid_argument when the id cannot be part of a row key', (t) => {
    for (const id of ['', 'a\u0000b', '\ud800']) {
      t.match(new MapWorld().run(createTenant(id)), { ok: false, code: 'invalid_argument' })
    }
    t.end()
  })
  t.end()
})

t.test('access keys', (t) => {
  t.test('a new key is active, of version 1, and found under its tenant', (t) => {
    const world = worldWithBucket()
    const made = world.do(accessKey('AK1'))
    t.match(made, { accessKeyId: 'AK1', tenantId: 'acme', status: 'active', version: 1, expiresAt: 50 })
    t.same(world.get(tenantKeys.tenantAccessKey('acme', 'AK1')), { accessKeyId: 'AK1' })
    t.end()
  })

  t.test('not_found when the tenant does not exist', (t) => {
    t.match(new MapWorld().run(accessKey('AK1')), { ok: false, code: 'not_found' })
    t.end()
  })

  t.test('already_exists when the id is taken, by any tenant', (t) => {
    const world = worldWithBucket()
    world.do(createTenant('beta'))
    world.do(accessKey('AK1'))
    t.match(world.run(accessKey('AK1', 'beta')), { ok: false, code: 'already_exists' })
    t.equal(world.get(tenantKeys.tenantAccessKey('beta', 'AK1')), undefined)
    t.end()
  })

  t.test('a rotation raises the version and keeps what it does not name', (t) => {
    const world = worldWithBucket()
    world.do(accessKey('AK1'))
    const rotate = { type: 'rotateAccessKey', accessKeyId: 'AK1', tenantId: 'acme', secret } as const
    const kept = world.do({ ...rotate, scopes: null, expiresAt: null })
    t.match(kept, { version: 2, scopes: 'read', expiresAt: 50, createdAt: 1_700_000_000_021 })
    t.equal(kept.rotatedAt, 1_700_000_000_028)
    const changed = world.do({ ...rotate, scopes: 'write', expiresAt: 0 })
    t.match(changed, { version: 3, scopes: 'write', expiresAt: null })
    t.match(world.do({ ...rotate, scopes: null, expiresAt: 77 }), { expiresAt: 77 })
    t.end()
  })

  t.test('a revoked key stays as it was first revoked; precondition_failed when it is rotated', (t) => {
    const world = worldWithBucket()
    world.do(accessKey('AK1'))
    const revoke = { type: 'revokeAccessKey', accessKeyId: 'AK1', tenantId: 'acme' } as const
    const revoked = world.do({ ...revoke, reason: 'lost' })
    t.match(revoked, { status: 'revoked', revokedReason: 'lost' })
    t.same(world.do({ ...revoke, reason: 'again' }), revoked)
    const rotation = world.run({ ...revoke, type: 'rotateAccessKey', secret, scopes: null, expiresAt: null })
    t.match(rotation, { ok: false, code: 'precondition_failed' })
    t.same(world.get(tenantKeys.accessKey('AK1')), revoked)
    t.end()
  })

  t.test("not_found when the key is another tenant's, exactly as when there is none", (t) => {
    const world = worldWithBucket()
    world.do(createTenant('beta'))
    world.do(accessKey('AK1'))
    for (const accessKeyId of ['AK1', 'AK2']) {
      const command = { accessKeyId, tenantId: 'beta', secret, scopes: null, expiresAt: null } as const
      t.match(world.run({ ...command, type: 'rotateAccessKey' }), { ok: false, code: 'not_found' })
      t.match(world.run({ ...command, type: 'revokeAccessKey', reason: 'r' }), {
        ok: false,
        code: 'not_found',
      })
    }
    t.end()
  })
  t.end()
})

t.test('admin tokens', (t) => {
  t.test('a token is found by its hash, and revoking it twice keeps the first time', (t) => {
    const world = worldWithBucket()
    const token = world.do(adminToken('T1', 'hash1', 'acme'))
    t.match(token, { tokenId: 'T1', role: 'owner', tenantId: 'acme', revokedAt: null })
    t.same(world.get(tenantKeys.adminTokenHash('hash1')), { tokenId: 'T1' })
    const revoked = world.do({ type: 'revokeAdminToken', tokenId: 'T1' })
    t.equal(revoked.revokedAt, 1_700_000_000_028)
    t.same(world.do({ type: 'revokeAdminToken', tokenId: 'T1' }), revoked)
    t.end()
  })

  t.test('already_exists when the id or the hash is taken', (t) => {
    const world = new MapWorld()
    world.do(adminToken('T1', 'hash1'))
    t.match(world.run(adminToken('T1', 'hash2')), { ok: false, code: 'already_exists' })
    t.match(world.run(adminToken('T2', 'hash1')), { ok: false, code: 'already_exists' })
    t.end()
  })

  t.test('not_found when the tenant or the token does not exist', (t) => {
    const world = new MapWorld()
    t.match(world.run(adminToken('T1', 'hash1', 'acme')), { ok: false, code: 'not_found' })
    t.match(world.run({ type: 'revokeAdminToken', tokenId: 'T1' }), { ok: false, code: 'not_found' })
    t.end()
  })

  t.test('invalid_argument when an id is empty', (t) => {
    t.match(new MapWorld().run(adminToken('', 'hash1')), { ok: false, code: 'invalid_argument' })
    t.end()
  })
  t.end()
})

t.test('apply', (t) => {
  t.test('throws when the command is unknown, because other nodes may know it', (t) => {
    const unknown = { type: 'makeCoffee' } as never
    const where = { index: 1, ...timesAt(1), ordinal: 0, featureLevel: 1 }
    t.throws(() => apply(new MapWorld(), unknown, where), /makeCoffee/)
    t.throws(() => apply(new MapWorld(), { type: 'toString' } as never, where))
    t.end()
  })

  t.test('tenant_disabled for every data command, and for nothing else', (t) => {
    const world = worldWithBucket()
    disableTenant(world, 'acme')
    const at = { tenantId: 'acme', bucket: 'photos', key: 'k' } as const
    const refused = { ok: false, code: 'tenant_disabled' }
    t.match(
      world.run({
        type: 'createBucket',
        tenantId: 'acme',
        name: 'b',
        bucketsMax: 9,
        versioning: 'Unversioned',
        objectLockEnabled: false,
      }),
      refused,
    )
    t.match(world.run({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' }), refused)
    t.match(world.run({ type: 'deleteObject', ...at, versionId: null, ifMatch: null }), refused)
    const more = { size: 0, etag: '', contentType: '', checksums: {}, metadata: {}, masterKeyId: '' }
    t.match(world.run({ ...put('k', { kind: 'empty' }, 0), ...at, ...more }), refused)
    t.match(
      world.run(accessKey('AK1')),
      { ok: false, code: 'precondition_failed' },
      'nor does it get new keys',
    )
    const copy = { tenantId: 'acme', chunkId: 'c', birth: 'b' } as const
    t.match(world.run({ type: 'addReplica', ...copy, node: 'n1', permit: 1 }), { ok: true })
    t.match(world.run({ type: 'dropReplicas', node: 'n1', copies: [copy], operation: null }), { ok: true })
    t.end()
  })
  t.end()
})
