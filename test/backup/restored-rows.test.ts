/** What becomes of the rows of a cluster in a cluster that is restored from its backup. [docs/adr/0086-backups.md] */
import t from 'tap'
import { NOWHERE, RestoredRows } from '../../src/backup/restore/restored-rows.ts'
import { backupKeys } from '../../src/state-machine/backup-plans/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { unsafeChunks } from '../../src/state-machine/chunks/chunks.ts'
import { memberKeys } from '../../src/state-machine/members/keys.ts'
import { mayHold } from '../../src/state-machine/members/members.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import type { RowKey } from '../../src/state-machine/base/row-key.ts'
import {
  dropCopy,
  fresh,
  type MapWorld,
  putChunks,
  recounted,
  rowsOf,
  startOperation,
  worldAtLevel2,
} from '../state-machine/map-world.ts'

const PLACES = ['m1', 'm2']
const FOUNDERS = PLACES.map((nodeId) => ({
  nodeId,
  peerAddress: `${nodeId}:1`,
  zone: 'z',
  weight: 1,
  dataAddress: null,
  adminAddress: null,
}))

/** The rows of a world as they are in a cluster of the founders m1 and m2. */
function restored(world: MapWorld, missing: readonly string[] = []) {
  const rows = new Map<string, object>()
  const made = new RestoredRows({
    placement: () => PLACES,
    missing: new Set(missing),
    founders: FOUNDERS,
    index: 70,
    time: 99,
  })
  const sorted = [...world.rows].sort(([one], [other]) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  )
  for (const [key, row] of sorted) {
    const inserted = made.before(key)
    if (inserted !== null) rows.set(inserted.key, inserted.row)
    const becomes = made.take(key, () => row)
    if (becomes !== null) rows.set(key, becomes === 'same' ? row : becomes)
  }
  const get = <R extends object>(key: RowKey<R>): R | undefined => rows.get(key) as R | undefined
  return { rows, get }
}

function world(): MapWorld {
  const world = worldAtLevel2()
  world.do({ type: 'setClusterKey', masterKeyFingerprint: 'fp' })
  world.do({
    type: 'foundMembers',
    members: [
      { nodeId: 'n1', peerAddress: 'h:1', zone: 'z', weight: 1, dataAddress: null, adminAddress: null },
    ],
  })
  world.do(putChunks('a', [fresh('c1', { missing: ['n3'] })]))
  world.do(putChunks('b', [fresh('c1', { birth: 'birth-9' }), fresh('c2')]))
  world.do(putChunks('c', [fresh('c3')]))
  world.do({
    type: 'deleteObject',
    tenantId: 'acme',
    bucket: 'photos',
    key: 'c',
    versionId: null,
    ifMatch: null,
  })
  world.do(dropCopy('c2', 'n1'))
  return world
}

t.test('restored rows', async (t) => {
  t.test('name no node of the old cluster, and counts follow from them', async (t) => {
    const before = world()
    t.same(recounted(before), [])
    const after = restored(before)
    t.same(recounted(after), [])
    for (const kind of ['repair'] as const) {
      t.ok(rowsOf(before, kind).length > 0, `there was ${kind}`)
      t.equal(rowsOf(after, kind).length, 0, kind)
    }
    t.match(after.get(memberKeys.members()), {
      members: [
        { nodeId: 'm1', incarnation: null },
        { nodeId: 'm2', phase: 'active' },
      ],
      departed: [{ nodeId: NOWHERE }],
      configIndex: 70,
    })
    t.same(after.get(chunkKeys.chunk('acme', 'c3'))?.replicas, [NOWHERE], 'no reference, no bytes')
    t.match(after.get(chunkKeys.chunk('acme', 'c1')), { replicas: PLACES, owed: [], references: 2 })
    t.same(after.get(chunkKeys.session('birth')), { ...before.get(chunkKeys.session('birth')), closed: true })
    t.same(after.get(tenantKeys.clusterKey()), { masterKeyFingerprint: 'fp' })
  })

  t.test('name a lost member for a chunk that is missing, so no upload counts on it', async (t) => {
    const before = world()
    const missing = `c2.${before.get(chunkKeys.chunk('acme', 'c2'))?.checksum ?? ''}`
    const after = restored(before, [missing])
    t.same(recounted(after), [])
    t.same(after.get(chunkKeys.chunk('acme', 'c2'))?.replicas, [NOWHERE])
    t.notOk(mayHold(after, NOWHERE))
    t.match(after.get(memberKeys.members())?.departed, [{ nodeId: NOWHERE, how: 'lost' }])
    const link = fresh('c2', { birth: 'birth-50' })
    const body = { kind: 'chunks', chunks: [{ ...link, existing: true }], copiesMin: 1 } as const
    t.same(unsafeChunks(after, 'acme', body), ['c2'])
  })

  t.test('have no session of a person, and every other admin token', async (t) => {
    const before = world()
    const common = { role: 'owner', tenantId: null } as const
    before.do({
      ...common,
      type: 'createAdminToken',
      tokenId: 'kept',
      name: 'kept',
      sha256: 'h1',
      expiresAt: null,
    })
    const user = { id: 'ada', issuer: 'https://id.example', subject: 'ada' }
    const times = { idleMs: 60_000, endsAt: before.time + 60_000 }
    const session = { ...common, tokenId: 'session', name: 'Ada', user } as const
    before.do({ ...session, ...times, type: 'openAdminSession', sha256: 'h2' })
    before.do({ type: 'renewAdminSession', tokenId: 'session', formerSha256: 'h2', sha256: 'h3' })
    t.equal(rowsOf(before, 'adminTokenHash').length, 3)
    const after = restored(before)
    t.match(rowsOf(after, 'adminToken'), [{ tokenId: 'kept' }])
    t.match(rowsOf(after, 'adminTokenHash'), [{ tokenId: 'kept' }])
    t.same(rowsOf(after, 'adminSessions'), [])
  })

  t.test('have no operation under way but deletions of tenants', async (t) => {
    const before = world()
    before.do(startOperation('op-move'))
    before.do({ ...startOperation('op-recount'), kind: 'recount' })
    before.do({ type: 'setOperationStatus', operationId: 'op-recount', action: 'finish', error: null })
    const after = restored(before)
    t.match(after.get(longOperationKeys.operation('op-move')), {
      status: 'cancelled',
      finishedAt: 99,
      progress: { tasksOpen: 0 },
    })
    const { unfinished = [], finished = [] } = after.get(longOperationKeys.operationList()) ?? {}
    t.same(unfinished, [])
    t.same(finished, ['op-recount', 'op-move'])
  })

  t.test('carry no mark of a restore into the old cluster', async (t) => {
    const before = world()
    const [bucket, tenant] = [bucketKeys.bucket('acme', 'photos'), tenantKeys.tenant('acme')]
    const plain = { bucket: before.get(bucket), tenant: before.get(tenantKeys.tenant('acme')) }
    before.rows.set(bucket, { ...plain.bucket, restoring: 'op-1' })
    before.rows.set(tenant, { ...plain.tenant, restoring: 'op-1' })
    const after = restored(before)
    t.same({ bucket: after.get(bucket), tenant: after.get(tenantKeys.tenant('acme')) }, plain)
  })

  t.test('start no backup by a schedule of the old cluster', async (t) => {
    const before = world()
    const run = { operationId: 'op-1', backupId: 'b-1', slotAt: 1, startedAt: 2 }
    const plan = { target: 'nas', when: '0 3 * * *', keep: null, isPaused: false, maxBytesPerSecond: null }
    const counts = { updatedAt: 1, revision: 1, markAt: 1, last: null, lastGood: null, failures: 0 }
    const schedule = { name: 'nightly', ...plan, ...counts, run }
    before.rows.set(backupKeys.backupSchedule('nightly'), schedule)
    const after = restored(before)
    t.same(after.get(backupKeys.backupSchedule('nightly')), { ...schedule, isPaused: true, run: null })
  })

  t.test('of clients are the same bytes', async (t) => {
    const before = world()
    const after = restored(before)
    for (const [key, row] of before.rows) if (key.startsWith('in\u0000')) t.equal(after.get(key), row, key)
  })
})
