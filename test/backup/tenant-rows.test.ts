/** Which rows of a cut are in the backup of one tenant. [docs/adr/0095-parts-of-backups.md] */
import t from 'tap'
import { RestoredRows } from '../../src/backup/restore/restored-rows.ts'
import { BUCKET_KINDS, bucketIn, TenantRows } from '../../src/backup/run/tenant-rows.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { kindOf, type RowKey } from '../../src/state-machine/base/row-key.ts'
import { eventKeys } from '../../src/state-machine/events/keys.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { requested, setNotifications } from '../state-machine/hook-commands.ts'
import {
  createBucket,
  createTenant,
  deleteTenant,
  disableTenant,
  found,
  fresh,
  MapWorld,
  OPEN_SESSION,
  putChunks,
  recounted,
  remove,
  rowsOf,
  startOperation,
} from '../state-machine/map-world.ts'
import { setReplication } from '../state-machine/site-commands.ts'
import { createUpload, putPart } from '../state-machine/upload-commands.ts'

const MEMBER = {
  nodeId: 'n1',
  peerAddress: 'h:1',
  zone: 'z',
  weight: 1,
  dataAddress: null,
  adminAddress: null,
}
const TENANTS = ['acme', 'beta']
type Rows = Pick<MapWorld, 'rows' | 'get'>

/** Two tenants with the same names of everything, the same chunk ids, and a bucket that is gone while its bytes are still released. */
function world(): MapWorld {
  const world = new MapWorld()
  world.do({ type: 'setClusterKey', masterKeyFingerprint: 'fp' })
  world.do({ type: 'foundMembers', members: [MEMBER] })
  world.do(OPEN_SESSION)
  for (const tenantId of TENANTS) {
    const own = { tenantId }
    world.do(createTenant(tenantId))
    for (const name of ['photos', 'gone']) world.do({ ...createBucket(name), ...own })
    world.do({ ...setNotifications([requested('all')]), ...own })
    const photos = world.get(bucketKeys.bucket(tenantId, 'photos'))?.id ?? ''
    world.do({ ...setReplication(world), ...own, bucketId: photos })
    const birth = (id: string) => ({ birth: `birth-${id}${tenantId}` })
    world.do({ ...putChunks('a', [fresh('c1', birth('c1')), fresh('c2', birth('c2'))]), ...own })
    world.do({ ...putChunks('b', [found('c1', birth('c1'))]), ...own })
    world.do({
      ...putChunks('c', [fresh('c3', { ...birth('c3'), missing: ['n3'] })]),
      ...own,
      bucket: 'gone',
    })
    world.do({ ...remove('c', null, 'gone'), ...own })
    world.do({ type: 'deleteBucket', tenantId, name: 'gone', abortUploads: false })
    world.do({ ...remove('b'), ...own })
    const { uploadId } = world.do({ ...createUpload('u'), ...own })
    world.do({ ...putPart({ key: 'u', uploadId, partNumber: 1 }, [fresh('c4', birth('c4'))]), ...own })
  }
  world.do(startOperation('op-move'))
  return world
}

function sorted(rows: ReadonlyMap<string, object>): readonly (readonly [string, object])[] {
  return [...rows].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}

function withGet(rows: Map<string, object>): Rows {
  return { rows, get: <R extends object>(key: RowKey<R>): R | undefined => rows.get(key) as R | undefined }
}

/** The rows of the backup of this tenant. */
function cutOf(before: MapWorld, tenantId: string): Rows {
  const buckets = new Set<string>()
  for (const [key, row] of before.rows)
    if ((BUCKET_KINDS as readonly string[]).includes(kindOf(key))) {
      const bucket = bucketIn(tenantId, row)
      if (bucket !== null) buckets.add(bucket)
    }
  const scope = new TenantRows(tenantId, buckets)
  const rows = new Map<string, object>()
  for (const [key, row] of sorted(before.rows)) {
    const made = scope.take(key, () => row)
    if (made !== null) rows.set(key, made === 'same' ? row : made)
  }
  return withGet(rows)
}

function restored({ rows: before }: Rows): Rows {
  const rows = new Map<string, object>()
  const parts = { placement: () => ['m1'], missing: new Set<string>(), index: 70, time: 99 }
  const made = new RestoredRows({ ...parts, founders: [{ ...MEMBER, nodeId: 'm1' }] })
  for (const [key, row] of sorted(before)) {
    const inserted = made.before(key)
    if (inserted !== null) rows.set(inserted.key, inserted.row)
    const becomes = made.take(key, () => row)
    if (becomes !== null) rows.set(key, becomes === 'same' ? row : becomes)
  }
  return withGet(rows)
}

t.test('the rows of a tenant', async (t) => {
  const before = world()
  t.same(recounted(before), [])

  for (const [tenantId, other] of [TENANTS, TENANTS.toReversed()] as [string, string][])
    t.test(`are whole without those of others: ${tenantId}`, async (t) => {
      const cut = cutOf(before, tenantId)
      const text = JSON.stringify([...cut.rows])
      t.notMatch(text, new RegExp(`\\b${other}\\b`), 'no row speaks of another tenant')
      t.match(text, new RegExp(`\\b${tenantId}\\b`))
      for (const kind of ['object', 'hook', 'delivery', 'siteChange', 'uploadPage', 'manifestPage'] as const)
        t.equal(rowsOf(cut, kind).length * 2, rowsOf(before, kind).length, kind)
      t.ok(rowsOf(cut, 'discarded').length > 0, 'also of a bucket that is gone')
      t.same(recounted(restored(cut)), [], 'what is restored adds up')
    })

  t.test('have the sums of the tenant, and no operator, operation or audit row', async (t) => {
    const { rows, get } = cutOf(before, 'acme')
    const all = before.get(eventKeys.outboxTotal())
    t.equal((get(eventKeys.outboxTotal())?.pending ?? 0) * 2, all?.pending)
    t.same(get(longOperationKeys.operationList()), { unfinished: [], finished: [] })
    t.same(get(tenantKeys.clusterKey()), { masterKeyFingerprint: 'fp' })
    t.equal(get(chunkKeys.session('birth')), before.get(chunkKeys.session('birth')))
    const kinds = new Set([...rows.keys()].map(kindOf))
    for (const kind of ['auditLink', 'auditHead', 'adminToken', 'operation', 'repair', 'backupTarget'])
      t.notOk(kinds.has(kind), kind)
  })

  t.test('keep the deletion of the tenant, which continues', async (t) => {
    const before = world()
    disableTenant(before, 'acme')
    before.do(deleteTenant('acme', 'op-end'))
    const { get } = cutOf(before, 'acme')
    t.same(get(longOperationKeys.operationList())?.unfinished, ['op-end'])
    t.match(get(longOperationKeys.operation('op-end')), { kind: 'tenantDeletion' })
    t.same(cutOf(before, 'beta').get(longOperationKeys.operationList())?.unfinished, [])
  })

  t.test('of a kind that is not decided are an error, and no silent loss', async (t) => {
    t.throws(() => new TenantRows('acme', new Set()).take('novelty\u0000acme', () => ({})), /novelty/)
  })
})

t.test('a tenant that is deleted', async (t) => {
  t.test('has no backup of its own any more', async (t) => {
    const before = world()
    disableTenant(before, 'acme')
    before.do(deleteTenant('acme', 'op-end'))
    const backup = { backupId: 'b-1', target: 'nas' }
    const asked = { ...startOperation('op-b'), kind: 'backup', tenantId: 'acme', backup } as const
    t.match(before.run(asked), { ok: false, code: 'not_found' })
    t.match(before.run({ ...asked, tenantId: 'absent' }), { ok: false, code: 'not_found' })
    t.match(before.run({ ...asked, tenantId: 'beta' }), { ok: true, value: { tenantId: 'beta' } })
  })
})
