/** Steps of a restore into the running cluster. [docs/adr/0094-restore-into-the-running-cluster.md] */
import t from 'tap'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import {
  MISSING_VERSIONS_NAMED_MAX,
  type RestoreScope,
} from '../../src/state-machine/long-operations/records.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type {
  RestoredFacts,
  RestoreItem,
  RestoringCommand,
} from '../../src/state-machine/restoring/commands.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { quotaReport } from '../../src/state-machine/usage/quota.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import type { VersionRecord } from '../../src/state-machine/versions/records.ts'
import { newestVersion, versionAt } from '../../src/state-machine/versions/versions.ts'
import {
  createBucket,
  createTenant,
  fresh,
  MapWorld,
  OPEN_SESSION,
  put,
  putChunks,
  recounted,
  releaseAll,
  remove,
  startOperation,
  worldWithBucket,
} from './map-world.ts'

const ID = 'op-restore'
const LONG_AGO = 1_000

function start(
  to: Partial<RestoreScope['to']> = {},
  operationId = ID,
): Extract<Command, { type: 'startOperation' }> {
  const from = { tenantId: 'was', bucket: 'photos' }
  const restore = {
    target: 'nas',
    clusterId: 'c',
    backupId: 'b',
    from,
    to: { tenantId: 'acme', bucket: 'then', tenantName: null, ...to },
  }
  return { ...startOperation(operationId), kind: 'backupRestore', restore }
}

/** The steps of one operation, each from the cursor of the one before. */
class Steps {
  readonly #world: MapWorld
  #cursor = ''

  constructor(world: MapWorld) {
    this.#world = world
  }

  command(items: readonly RestoreItem[], more: Partial<RestoringCommand> = {}): RestoringCommand {
    const from = this.#cursor
    const about = { from, cursor: `${from}.`, phase: 'restoring', counted: {}, missing: [] }
    return { type: 'restoreStep', operationId: ID, ...about, bucket: 'then', items, ...more }
  }

  do(...items: readonly RestoreItem[]): void {
    this.#cursor = this.#world.do(this.command(items)).cursor
    if (recounted(this.#world).length > 0) throw new Error(recounted(this.#world).join('\n'))
  }
}

const BUCKET = { what: 'bucket', bucketsMax: 10, versioning: 'Enabled', objectLockEnabled: true } as const
const NO_MORE = { defaultRetention: null, policy: null, cors: null, lifecycle: null, tags: null }

function facts(key: string, more: Partial<RestoredFacts> = {}): RestoredFacts {
  const about = {
    contentType: 'text/x',
    checksums: {},
    metadata: { of: key },
    masterKeyId: 'mk-1',
    tags: { a: 'b' },
  }
  const locks = { retention: null, legalHold: false }
  return {
    key,
    isNull: false,
    lastModified: LONG_AGO,
    size: 10,
    etag: `was ${key}`,
    ...about,
    ...locks,
    ...more,
  }
}

function version(key: string, chunk: string, more: Partial<RestoredFacts> = {}): RestoreItem {
  const body = { kind: 'chunks', chunks: [fresh(chunk)], copiesMin: 2 } as const
  return { what: 'version', ...facts(key, more), body }
}

function started(to: Partial<RestoreScope['to']> = {}): { readonly world: MapWorld; readonly steps: Steps } {
  const world = worldWithBucket()
  world.do(start(to))
  return { world, steps: new Steps(world) }
}

/** Of a key, the newest first. */
function chain(world: MapWorld, key: string, bucket = 'then', tenantId = 'acme'): readonly VersionRecord[] {
  const id = world.get(bucketKeys.bucket(tenantId, bucket))?.id ?? ''
  const found: VersionRecord[] = []
  for (let one = newestVersion(world, id, key); one !== undefined; ) {
    found.push(one)
    one = one.older === null ? undefined : versionAt(world, id, key, one.older)
  }
  return found
}

t.test('restoreStep', async (t) => {
  t.test('makes versions and markers in their order, as the backup says', async (t) => {
    const { world, steps } = started()
    steps.do(BUCKET)
    const retention = { mode: 'COMPLIANCE', until: 5 } as const
    steps.do(
      version('k', 'c1', { isNull: true, lastModified: 1 }),
      version('k', 'c2', { lastModified: 2, retention, legalHold: true }),
      { what: 'marker', key: 'k', isNull: false, lastModified: 3 },
    )
    steps.do(version('k', 'c3', { lastModified: 4 }), {
      what: 'marker',
      key: 'gone',
      isNull: false,
      lastModified: 5,
    })
    const [newest, marker, locked, oldest] = chain(world, 'k')
    t.match(newest, {
      kind: 'object',
      lastModified: 4,
      etag: 'was k',
      metadata: { of: 'k' },
      tags: { a: 'b' },
    })
    t.match(marker, { kind: 'deleteMarker', lastModified: 3 })
    t.match(locked, { kind: 'object', lastModified: 2, retention, legalHold: true })
    t.match(oldest, { kind: 'object', lastModified: 1, isNull: true, older: null })
    const id = world.get(bucketKeys.bucket('acme', 'then'))?.id ?? ''
    t.ok(world.get(versionKeys.lockedVersion(id, 'k', locked?.versionId ?? '')), 'the lock is indexed')
    t.match(world.get(bucketKeys.bucket('acme', 'then')), {
      objectCount: 1,
      versionCount: 3,
      deleteMarkerCount: 2,
      logicalBytes: 30,
    })
  })

  t.test('counts once: the cursor and what was made change together', async (t) => {
    const { world, steps } = started()
    steps.do(BUCKET)
    const step = steps.command([version('k', 'c1')], { counted: { blobsDone: 1, bytesMoved: 10 } })
    world.do(step)
    const rows = new Map(world.rows)
    t.match(world.run(step), { ok: false, code: 'precondition_failed' })
    t.same(world.rows, rows)
    t.match(world.get(longOperationKeys.operation(ID))?.progress, { blobsDone: 1, bytesMoved: 10 })
  })

  t.test('changes nothing when one of its items is refused', async (t) => {
    const { world, steps } = started()
    steps.do(BUCKET)
    const rows = new Map(world.rows)
    const twice = [version('k', 'c1', { isNull: true }), version('k', 'c2', { isNull: true })]
    t.match(world.run(steps.command(twice)), { ok: false, code: 'invalid_argument' })
    const lost = { kind: 'chunks', chunks: [fresh('c3', { existing: true })], copiesMin: 2 } as const
    const reply = world.run(
      steps.command([version('a', 'c4'), { what: 'version', ...facts('k'), body: lost }]),
    )
    t.match(reply, { ok: false, code: 'chunks_gone', chunks: ['c3'] })
    t.same(world.rows, rows)
  })

  t.test('shares chunks that the tenant has, and none of another one', async (t) => {
    const { world, steps } = started()
    world.do(putChunks('here', [fresh('c1')]))
    steps.do(BUCKET)
    const body = { kind: 'chunks', chunks: [fresh('c1', { existing: true })], copiesMin: 2 } as const
    steps.do({ what: 'version', ...facts('k'), body })
    t.equal(chain(world, 'k').length, 1)
  })

  t.test('assembles parts that came in several steps, and gives up those that cannot be whole', async (t) => {
    const { world, steps } = started()
    steps.do(BUCKET)
    const part = (key: string, partNumber: number, chunk: string): RestoreItem => {
      const body = { kind: 'chunks', chunks: [fresh(chunk)], copiesMin: 2 } as const
      return { what: 'part', key, partNumber, size: 10, checksums: {}, body }
    }
    steps.do(
      { what: 'upload', key: 'film', masterKeyId: 'mk-1' },
      part('film', 1, 'p1'),
      part('film', 2, 'p2'),
    )
    steps.do(part('film', 3, 'p3'), { what: 'assembled', parts: 3, ...facts('film', { size: 30 }) })
    t.match(chain(world, 'film'), [{ size: 30, body: { kind: 'parts', count: 3 }, lastModified: LONG_AGO }])
    steps.do({ what: 'upload', key: 'lost', masterKeyId: 'mk-1' }, part('lost', 1, 'p4'))
    const few = steps.command([{ what: 'assembled', parts: 2, ...facts('lost', { size: 20 }) }])
    t.match(world.run(few), { ok: false, code: 'precondition_failed' })
    steps.do({ what: 'dropped', key: 'lost' })
    t.same(chain(world, 'lost'), [])
    releaseAll(world)
    t.same(recounted(world), [])
    t.match(world.get(bucketKeys.bucket('acme', 'then')), {
      uploadCount: 0,
      uploadBytes: 0,
      logicalBytes: 30,
    })
  })

  t.test('keeps others out of the bucket until it has its settings', async (t) => {
    const { world, steps } = started()
    steps.do(BUCKET)
    steps.do(version('k', 'c1'))
    const writes: readonly Command[] = [
      { ...putChunks('mine', [fresh('c9')]), bucket: 'then' },
      { type: 'setBucketVersioning', tenantId: 'acme', name: 'then', versioning: 'Enabled' },
      { type: 'setBucketTags', tenantId: 'acme', name: 'then', tags: { a: 'b' } },
      { type: 'setObjectTags', tenantId: 'acme', bucket: 'then', key: 'k', versionId: null, tags: {} },
      remove('k', null, 'then'),
      { type: 'deleteBucket', tenantId: 'acme', name: 'then' },
    ]
    for (const write of writes)
      t.match(world.run(write), { ok: false, code: 'invalid_bucket_state' }, write.type)
    const cors = [
      {
        id: null,
        allowedOrigins: ['*'],
        allowedMethods: ['GET' as const],
        allowedHeaders: null,
        exposeHeaders: null,
        maxAgeSeconds: null,
      },
    ]
    const defaultRetention = { mode: 'GOVERNANCE', days: 1 } as const
    steps.do({ what: 'settings', ...NO_MORE, cors, tags: { of: 'then' }, policy: '{}', defaultRetention })
    t.match(world.get(bucketKeys.bucket('acme', 'then')), {
      hasCors: true,
      defaultRetention,
      restoring: undefined,
    })
    for (const write of writes.slice(0, -1)) t.equal(world.run(write).ok, true, write.type)
    t.match(world.run(steps.command([version('k', 'c2')])), { ok: false, code: 'precondition_failed' })
    t.same(recounted(world), [])
  })

  for (const action of ['cancel', 'fail'] as const)
    t.test(`leaves a bucket and a tenant like any other after "${action}"`, async (t) => {
      const { world, steps } = started({ tenantId: 'acme-then', bucket: null, tenantName: 'Acme' })
      const keys = { dataKey: Uint8Array.of(3), dedupKey: Uint8Array.of(4), masterKeyId: 'mk-1' }
      steps.do({ what: 'tenant', ...keys })
      const mine = createBucket('mine', { tenantId: 'acme-then' })
      t.match(world.run(mine), { ok: false, code: 'invalid_bucket_state' })
      steps.do(BUCKET)
      steps.do(version('k', 'c1'))
      world.do({ type: 'setOperationStatus', operationId: ID, action, error: null })
      world.do(mine)
      world.do({ ...put('k2', { kind: 'empty' }, 0), tenantId: 'acme-then', bucket: 'then' })
      t.equal(world.get(tenantKeys.tenant('acme-then'))?.restoring, undefined)
      t.match(world.run(steps.command([version('k', 'c2')])), { ok: false, code: 'precondition_failed' })
    })

  t.test('makes a tenant, whose limits come when it is whole', async (t) => {
    const { world, steps } = started({ tenantId: 'acme-then', bucket: null, tenantName: 'Acme' })
    const keys = { dataKey: Uint8Array.of(3), dedupKey: Uint8Array.of(4), masterKeyId: 'mk-1' }
    steps.do({ what: 'tenant', ...keys })
    steps.do(BUCKET)
    steps.do(version('k', 'c1'))
    steps.do({ what: 'settings', ...NO_MORE })
    const quota = { maxBytes: 1, maxObjects: 1, maxBuckets: 1 }
    steps.do({ what: 'limits', quota, limits: null })
    t.match(quotaReport(world, 'acme-then').quota, quota)
    t.equal(world.get(tenantKeys.tenant('acme-then'))?.restoring, undefined)
    const again = steps.command([{ what: 'limits', quota, limits: null }])
    t.match(world.run(again), { ok: false, code: 'precondition_failed' })
  })

  t.test('fits into the quota of the tenant, or changes nothing', async (t) => {
    const { world, steps } = started()
    world.do({ type: 'setQuota', tenantId: 'acme', maxBytes: 15, maxObjects: null, maxBuckets: null })
    steps.do(BUCKET)
    steps.do(version('a', 'c1'))
    t.match(world.run(steps.command([version('b', 'c2')])), { ok: false, code: 'quota_exceeded' })
    t.equal(quotaReport(world, 'acme').usage.bytes, 10)
  })

  t.test('names what does not come back, and counts the rest of it', async (t) => {
    const { world, steps } = started()
    steps.do(BUCKET)
    const missing = Array.from({ length: 64 }, (_, n) => {
      return { bucket: 'photos', key: `k${n}`, versionId: 'null', isLatest: true, why: 'damaged' }
    })
    world.do(steps.command([], { missing, cursor: 'second' }))
    world.do(steps.command([], { missing, from: 'second' }))
    const { restore } = world.get(longOperationKeys.operation(ID)) ?? {}
    t.equal(restore?.missingCount, 128)
    t.equal(restore?.missing.length, MISSING_VERSIONS_NAMED_MAX)
  })

  t.test('is no part of another operation, and no bucket of others', async (t) => {
    const world = worldWithBucket()
    world.do({ ...startOperation('op-move') })
    const steps = new Steps(world)
    t.match(world.run({ ...steps.command([BUCKET]), operationId: 'op-move' }), {
      ok: false,
      code: 'invalid_argument',
    })
    world.do(start({ bucket: 'photos' }))
    const into = steps.command([version('k', 'c1')], { bucket: 'photos' })
    t.match(world.run(into), { ok: false, code: 'precondition_failed' })
  })
})

t.test('startOperation of a restore', async (t) => {
  t.test('not beside another one, or beside a prune', async (t) => {
    const { world } = started()
    t.match(world.run(start({}, 'op-2')), { ok: false, code: 'precondition_failed' })
    const keep = { last: 1, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 }
    const prune = { ...startOperation('op-3'), kind: 'backupPrune', prune: { target: 'nas', keep } } as const
    t.match(world.run(prune), { ok: false, code: 'precondition_failed' })
    world.do({ type: 'setOperationStatus', operationId: ID, action: 'cancel', error: null })
    world.do(prune)
    t.match(world.run(start({}, 'op-2')), { ok: false, code: 'precondition_failed' })
  })

  t.test('has a scope, and nothing else has one', async (t) => {
    const world = new MapWorld()
    world.do(createTenant('acme'))
    world.do(OPEN_SESSION)
    const { restore, ...bare } = start()
    t.match(world.run(bare), { ok: false, code: 'invalid_argument' })
    t.match(world.run({ ...startOperation('op-2'), ...(restore && { restore }) }), {
      ok: false,
      code: 'invalid_argument',
    })
  })
})
