/** The commands that end a tenant: their order, and the refusals of each step. */
import t from 'tap'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import type { ErasedItem } from '../../src/state-machine/removal/commands.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import { deliveries, hookOf, requested, worldWithHooks } from './hook-commands.ts'
import {
  createBucket,
  createTenant,
  deleteTenant,
  disableTenant,
  type MapWorld,
  put,
  putChunks,
  recounted,
  releaseAll,
  remove,
  rowsOf,
  startOperation,
  worldWithBucket,
} from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

const DAY_MS = 24 * 3_600_000
const UNTIL_2033 = 2_000_000_000_000
const sealed = (byte: number) => ({ kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(byte) }) as const
const inVault = <C extends Command>(command: C): C => ({ ...command, bucket: 'vault' })

function accessKey(
  world: MapWorld,
  accessKeyId: string,
  tenantId = 'acme',
  accountId: string | null = null,
): void {
  const secret = Uint8Array.of(7)
  world.do({
    type: 'createAccessKey',
    accessKeyId,
    tenantId,
    accountId,
    name: null,
    scopes: 'read',
    secret,
    expiresAt: null,
  })
}

function erase(bucket: string, ...items: readonly ErasedItem[]): Extract<Command, { type: 'eraseTenant' }> {
  return {
    type: 'eraseTenant',
    tenantId: 'acme',
    operationId: 'op1',
    step: { kind: 'content', bucket, items },
  }
}

function eraseBucket(bucket: string): Command {
  return { type: 'eraseTenant', tenantId: 'acme', operationId: 'op1', step: { kind: 'bucket', bucket } }
}

const shred: Command = { type: 'shredTenant', tenantId: 'acme', operationId: 'op1' }

/** A bucket with object lock in addition to `photos`. */
function worldWithVault(): MapWorld {
  const world = worldWithBucket()
  world.do(createBucket('vault', { versioning: 'Enabled', objectLockEnabled: true }))
  return world
}

t.test('disableTenant', async (t) => {
  t.test('revokes every active key in the same entry, only those of the tenant', async (t) => {
    const world = worldWithBucket()
    world.do(createTenant('other'))
    for (const id of ['AK1', 'AK2', 'AK3']) accessKey(world, id)
    accessKey(world, 'AKO', 'other')
    world.do({ type: 'revokeAccessKey', accessKeyId: 'AK1', tenantId: 'acme', reason: 'lost' })
    t.match(world.do({ type: 'disableTenant', tenantId: 'acme', reason: 'unpaid' }), {
      revoked: ['AK2', 'AK3'],
    })
    t.match(world.get(tenantKeys.tenant('acme')), {
      status: 'disabled',
      disabledAt: world.time,
      disabledReason: 'unpaid',
    })
    t.match(world.get(tenantKeys.accessKey('AK1')), { revokedReason: 'lost' }, 'the first reason stays')
    t.match(world.get(tenantKeys.accessKey('AK2')), {
      status: 'revoked',
      revokedAt: world.time,
      revokedReason: 'unpaid',
    })
    t.match(world.get(tenantKeys.accessKey('AK3')), { status: 'revoked' })
    t.match(world.get(tenantKeys.accessKey('AKO')), { status: 'active' })
    t.same(recounted(world), [])
  })

  t.test('repeated changes nothing; the first reason and time stay', async (t) => {
    const world = worldWithBucket()
    accessKey(world, 'AK1')
    disableTenant(world, 'acme')
    const tenant = world.get(tenantKeys.tenant('acme'))
    const again = { type: 'disableTenant', tenantId: 'acme', reason: 'again' } as const
    t.strictSame(world.do(again), { tenant, revoked: [] })
    t.match(world.get(tenantKeys.accessKey('AK1')), { status: 'revoked', revokedReason: 'unpaid' })
  })

  t.test('refuses all further creations and changes', async (t) => {
    const world = worldWithVault()
    world.do(inVault(put('k', { kind: 'empty' }, 0)))
    disableTenant(world, 'acme')
    const name = { tenantId: 'acme', bucket: 'vault', key: 'k', versionId: null }
    const retention = { mode: 'GOVERNANCE', until: UNTIL_2033 } as const
    const refused: readonly Command[] = [
      inVault(put('k', { kind: 'empty' }, 0)),
      createBucket('more'),
      remove('k', null, 'vault'),
      { type: 'setObjectLegalHold', ...name, legalHold: true },
      { type: 'setObjectRetention', ...name, retention },
      inVault(createUpload('k')),
    ]
    for (const command of refused) t.match(world.run(command), { code: 'tenant_disabled' }, command.type)
    const about = { tenantId: 'acme', accountId: null, name: null, scopes: 'read', expiresAt: null }
    t.match(world.run({ type: 'createAccessKey', accessKeyId: 'AKN', secret: Uint8Array.of(1), ...about }), {
      code: 'precondition_failed',
      message: /is disabled/,
    })
  })

  t.test('refuses a tenant that does not exist', async (t) => {
    const requested = { type: 'disableTenant', tenantId: 'none', reason: 'x' } as const
    t.match(worldWithBucket().run(requested), { code: 'not_found' })
  })
})

t.test('deleteTenant', async (t) => {
  t.test('precondition_failed while the tenant is active, or a retention has not ended', async (t) => {
    const world = worldWithBucket()
    t.match(world.run(deleteTenant('acme', 'op1')), {
      code: 'precondition_failed',
      message: /disable it first/,
    })
    disableTenant(world, 'acme')
    const late = { ...deleteTenant('acme', 'op1'), locksEndedBy: world.time + DAY_MS }
    t.match(world.run(late), { code: 'precondition_failed', message: /has not ended yet/ })
    t.match(world.get(tenantKeys.tenant('acme')), { status: 'disabled' })
    world.time += DAY_MS
    t.match(world.run(late), { ok: true })
    t.match(world.run(deleteTenant('none', 'op2')), { code: 'not_found' })
  })

  t.test('counts the work, and returns the same operation while it is unfinished', async (t) => {
    const world = worldWithBucket()
    world.do(put('a', sealed(1), 5))
    world.do(put('b', sealed(2), 6))
    world.do(createUpload('c'))
    disableTenant(world, 'acme')
    const started = world.do(deleteTenant('acme', 'op1'))
    t.match(started, {
      kind: 'tenantDeletion',
      status: 'queued',
      progress: { blobsTotal: 3, bytesTotal: 11 },
    })
    t.match(world.get(tenantKeys.tenant('acme')), { status: 'deleting', deletion: 'op1' })
    t.strictSame(world.do(deleteTenant('acme', 'op2')), started)
    world.do({ type: 'setOperationStatus', operationId: 'op1', action: 'fail', error: 'a locked version' })
    t.match(
      world.do(deleteTenant('acme', 'op2')),
      { operationId: 'op2', status: 'queued' },
      'another one after a failure',
    )
    t.match(world.run(shred), { code: 'precondition_failed' }, 'and the old one may not continue')
  })

  t.test('cannot be cancelled, and refuses when too many operations are unfinished', async (t) => {
    const world = worldWithBucket()
    disableTenant(world, 'acme')
    for (let n = 0; n < 16; n++) world.do(startOperation(`other-${n}`))
    t.match(world.run(deleteTenant('acme', 'op1')), {
      code: 'precondition_failed',
      message: /16 are unfinished/,
    })
    world.do({ type: 'setOperationStatus', operationId: 'other-0', action: 'cancel', error: null })
    world.do(deleteTenant('acme', 'op1'))
    const act = { type: 'setOperationStatus', operationId: 'op1', error: null } as const
    t.match(world.run({ ...act, action: 'cancel' }), {
      code: 'precondition_failed',
      message: /pause it instead/,
    })
    world.do({ ...act, action: 'pause' })
    t.match(world.run(shred), { code: 'precondition_failed', message: /is paused/ })
    world.do({ ...act, action: 'resume' })
    t.match(world.run(eraseBucket('photos')), { ok: true })
  })
})

t.test('eraseTenant', async (t) => {
  t.test('removes all contents of a bucket, and leaves no row once they are released', async (t) => {
    const world = worldWithBucket()
    world.do({ ...put('small', sealed(1), 5), idempotency: { key: 'once', fingerprint: 'f' } })
    world.do(
      putChunks(
        'large',
        Array.from({ length: 20 }, (_, n) => `c${n}`),
      ),
    )
    const { uploadId } = world.do(createUpload('done'))
    world.do(putPart({ key: 'done', uploadId, partNumber: 1 }, ['p1']))
    world.do(completeUpload({ key: 'done', uploadId }, 1))
    const open = world.do(createUpload('open'))
    world.do(putPart({ key: 'open', uploadId: open.uploadId, partNumber: 1 }, ['p2']))
    world.do({ type: 'setBucketPolicy', tenantId: 'acme', name: 'photos', policy: '{}' })
    world.do({ type: 'setBucketCors', tenantId: 'acme', name: 'photos', rules: [] })
    const { accountId } = world.do({ type: 'createAccount', tenantId: 'acme', name: 'ci', description: '' })
    accessKey(world, 'AK1', 'acme', accountId)
    world.do({ type: 'setQuota', tenantId: 'acme', maxBytes: 9_999, maxObjects: null, maxBuckets: null })
    const own = { requestsPerSecond: 5, bytesInPerSecond: null, bytesOutPerSecond: null } as const
    const scope = { ...own, burstSeconds: null, requestsAtOnce: null, uploadsAtOnce: null }
    const limits = { tenant: scope, accessKey: scope, weight: 1 }
    world.do({ type: 'setTenantLimits', tenantId: 'acme', limits })
    disableTenant(world, 'acme')
    world.do(deleteTenant('acme', 'op1'))
    const versions = rowsOf<{ key: string; versionId: string }>(world, 'object')
    const items: readonly ErasedItem[] = [
      { kind: 'upload', key: 'open', uploadId: open.uploadId },
      { kind: 'completed', key: 'done', uploadId },
      { kind: 'idempotency', key: 'small', name: 'once' },
      ...versions.map(({ key, versionId }) => ({ kind: 'version', key, versionId }) as const),
    ]
    t.match(world.run(eraseBucket('photos')), { code: 'bucket_not_empty' })
    t.match(world.do(erase('photos', ...items)), {
      status: 'running',
      progress: { blobsTotal: 4, blobsDone: 4, bytesTotal: 225, bytesMoved: 225 },
    })
    t.match(world.do(erase('photos', ...items)), { progress: { blobsDone: 4 } }, 'again counts nothing')
    t.same(recounted(world), [])
    world.do(eraseBucket('photos'))
    t.match(world.run(eraseBucket('photos')), { ok: true }, 'again is no error')
    world.do({
      type: 'eraseTenant',
      tenantId: 'acme',
      operationId: 'op1',
      step: { kind: 'access', accessKeyIds: ['AK1'], accountIds: [] },
    })
    t.same(recounted(world), [])
    t.match(world.run(shred), { code: 'precondition_failed', message: /has access keys or accounts/ })
    for (let times = 0; times < 2; times++)
      world.do({
        type: 'eraseTenant',
        tenantId: 'acme',
        operationId: 'op1',
        step: { kind: 'access', accessKeyIds: [], accountIds: [accountId] },
      })
    world.do(shred)
    releaseAll(world)
    t.same(recounted(world), [])
    const left = new Set([...world.rows.keys()].map((key) => key.split('\u0000')[0]))
    for (const kind of [
      'in',
      'bucket',
      'accessKey',
      'tenantAccessKey',
      'tenantAccess',
      'account',
      'accountName',
      'expiry',
      'discard',
      'quota',
      'limits',
    ])
      t.notOk(left.has(kind), kind)
    const chunks = rowsOf<{ references: number }>(world, 'chunk')
    t.ok(chunks.length === 22 && chunks.every(({ references }) => references === 0), 'condemned, not removed')
  })

  t.test('object_locked: a locked version stays, and so do all items of the same step', async (t) => {
    const world = worldWithVault()
    const free = world.do(inVault(put('free', sealed(1), 5))).object
    const held = world.do(inVault({ ...put('held', sealed(2), 5), legalHold: true })).object
    const retention = { mode: 'GOVERNANCE', until: world.time + DAY_MS } as const
    const kept = world.do(inVault({ ...put('kept', sealed(3), 5), retention })).object
    disableTenant(world, 'acme')
    world.do(deleteTenant('acme', 'op1'))
    const item = ({ key, versionId }: typeof free): ErasedItem => ({ kind: 'version', key, versionId })
    for (const locked of [held, kept]) {
      t.match(world.run(erase('vault', item(free), item(locked))), { code: 'object_locked' })
      t.match(world.run(erase('vault', item(locked))), { code: 'object_locked' })
    }
    t.equal(rowsOf(world, 'object').length, 3)
    world.time += DAY_MS
    t.match(world.run(erase('vault', item(free), item(kept))), { ok: true }, 'time ends the lock')
    t.match(world.run(eraseBucket('vault')), { code: 'bucket_not_empty' })
    t.match(world.run(shred), { code: 'precondition_failed', message: /it has 2 buckets/ })
    t.equal(world.get(tenantKeys.tenant('acme'))?.dataKey.length, 1, 'and its keys are whole')
  })

  t.test('announces no removal to hooks, and delivers nothing any more', async (t) => {
    const world = worldWithHooks(requested('a'))
    const { object } = world.do(put('k', sealed(1), 5))
    t.equal(deliveries(world).length, 1)
    disableTenant(world, 'acme')
    world.do(deleteTenant('acme', 'op1'))
    world.do(erase('photos', { kind: 'version', key: 'k', versionId: object.versionId }))
    t.equal(deliveries(world).length, 1, 'that of the put')
    world.do(eraseBucket('photos'))
    t.match(
      hookOf(world, 'a'),
      { state: 'removed', secret: { length: 0 } },
      'its rows stay until they are trimmed',
    )
    t.equal(rowsOf(world, 'busyHook').length, 0)
    world.do(shred)
    t.same(recounted(world), [])
  })

  t.test('is refused for an operation that does not delete this tenant', async (t) => {
    const world = worldWithBucket()
    const { object } = world.do(put('k', sealed(1), 5))
    const item = { kind: 'version', key: 'k', versionId: object.versionId } as const
    t.match(world.run(erase('photos', item)), { code: 'precondition_failed' }, 'active')
    disableTenant(world, 'acme')
    t.match(world.run(erase('photos', item)), { code: 'precondition_failed' }, 'disabled')
    world.do(createTenant('other'))
    disableTenant(world, 'other')
    world.do(deleteTenant('other', 'op1'))
    t.match(world.run(erase('photos', item)), { code: 'precondition_failed' }, 'another one')
    t.match(world.run({ ...erase('photos', item), tenantId: 'none' }), { code: 'not_found' })
    world.do(deleteTenant('acme', 'op2'))
    t.match(world.run(erase('photos', item)), { code: 'precondition_failed' }, 'still another one')
    t.match(world.run(shred), { code: 'precondition_failed' })
    const [one] = rowsOf<BucketRecord>(world, 'bucket')
    t.equal(one?.versionCount, 1)
  })

  t.test('refuses more items than an entry may have', async (t) => {
    const world = worldWithBucket()
    disableTenant(world, 'acme')
    world.do(deleteTenant('acme', 'op1'))
    const items = Array.from({ length: 257 }, (_, n) => {
      return { kind: 'version', key: `k${n}`, versionId: '0'.repeat(26) } as const
    })
    t.match(world.run(erase('photos', ...items)), { code: 'invalid_argument' })
  })
})

t.test('shredTenant', async (t) => {
  const world = worldWithBucket()
  disableTenant(world, 'acme')
  world.do(deleteTenant('acme', 'op1'))
  t.match(world.run(shred), { code: 'precondition_failed', message: /it has 1 buckets/ })
  world.do(eraseBucket('photos'))

  t.test('leaves a tombstone without keys, and the operation has succeeded', async (t) => {
    t.match(world.do(shred), { status: 'deleted', deletedAt: world.time, disabledReason: 'unpaid' })
    const row = world.get(tenantKeys.tenant('acme'))
    t.strictSame([row?.dataKey.length, row?.dedupKey.length], [0, 0])
    t.match(world.get(longOperationKeys.operation('op1')), { status: 'succeeded', finishedAt: world.time })
  })

  t.test('changes nothing when it is repeated, and the id is never reused', async (t) => {
    const before = world.get(tenantKeys.tenant('acme'))
    t.strictSame(world.do(shred), before)
    disableTenant(world, 'acme')
    t.strictSame(world.get(tenantKeys.tenant('acme')), before)
    t.match(world.run(createTenant('acme')), { code: 'already_exists' })
    t.match(world.run(createBucket('more')), { code: 'tenant_disabled' })
    t.match(world.do(deleteTenant('acme', 'op2')), { operationId: 'op1', status: 'succeeded' })
  })
})
