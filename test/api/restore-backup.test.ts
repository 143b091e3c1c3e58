/** The route of a restore into the running cluster: planned, started, refused. [docs/adr/0094-restore-into-the-running-cluster.md] */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { BACKUP } from '../../src/api/examples/names.ts'
import { keepBackup } from '../helpers/kept-backup.ts'
import { type ApiAnswer, ApiWorld } from './api-world.ts'

const { backupId } = BACKUP
const OTHER = '20261128t120000z-00000001'

async function start(t: Parameters<typeof ApiWorld.withBucket>[0]) {
  const { world } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('owner')
  const post = (path: string, body: object): Promise<ApiAnswer> =>
    world.call({ admin: true, token, method: 'POST', path: `/admin/api/v1/cluster/${path}`, body })
  const ask = (more: object, { id = backupId, query = '' } = {}): Promise<ApiAnswer> =>
    post(`backups/${id}/restore${query}`, {
      target: 'directory:weekly',
      reason: 'a test',
      tenant: 'acme',
      ...more,
    })
  const { directory } = world.memory.services.config.backup
  const masterKey = world.memory.services.backups.masterKey as MasterKey
  return { world, ask, post, masterKey, directory: directory ?? '' }
}

t.test('restoreBackup', async (t) => {
  t.test('is a long operation that says what comes from where [backups.restore-into]', async (t) => {
    const { ask } = await start(t)
    const started = await ask({ bucket: 'photos', toTenant: 'acme', toBucket: 'then', maxBytesPerSecond: 9 })
    t.match(started, {
      status: 202,
      json: { type: 'backupRestore', status: 'queued', maxBytesPerSecond: 9, backupId },
    })
    t.match(started.json['restore'], {
      tenantId: 'acme',
      bucket: 'photos',
      toTenantId: 'acme',
      toBucket: 'then',
    })
  })

  t.test('takes a tenant by a name that only one has, and gives it a new id', async (t) => {
    const { ask } = await start(t)
    t.match((await ask({ tenant: 'Acme Inc.', toTenant: 'acme-then' })).json['restore'], {
      tenantId: 'acme',
      bucket: null,
      toTenantId: 'acme-then',
    })
  })

  t.test('says in a dry run what would come back, and starts nothing', async (t) => {
    const { ask } = await start(t)
    const query = '?dryRun=true'
    for (const again of [1, 2])
      t.match(
        await ask({ bucket: 'photos', toTenant: 'acme', toBucket: 'then' }, { query }),
        { status: 200, json: { allowed: true, plan: { buckets: 1, versions: 0, toBucket: 'then' } } },
        `${again}`,
      )
    t.match(await ask({ bucket: 'photos', toTenant: 'acme' }, { query }), {
      status: 409,
      code: 'bucket_already_exists',
    })
  })

  t.test('takes a backup of another cluster, whose key is here', async (t) => {
    const { ask, masterKey, directory } = await start(t)
    keepBackup(directory, { masterKey, clusterId: 'another-cluster', backupId: OTHER })
    const to = { bucket: 'photos', toTenant: 'acme', toBucket: 'then' }
    t.match(await ask(to, { id: OTHER }), { status: 404, code: 'not_found' })
    t.match(await ask({ ...to, clusterId: 'another-cluster' }, { id: OTHER }), {
      status: 202,
      json: { restore: { clusterId: 'another-cluster' } },
    })
  })

  t.test('precondition_failed: its master key is not here', async (t) => {
    const { ask, directory } = await start(t)
    const masterKey = MasterKey.fromBytes('mk-other', Buffer.alloc(32, 5))
    keepBackup(directory, { masterKey, clusterId: 'memory-cluster', backupId: OTHER })
    t.match(await ask({ toTenant: 'then' }, { id: OTHER }), {
      status: 412,
      code: 'precondition_failed',
      json: { message: /does not open under any master key/ },
    })
  })

  t.test('precondition_failed: a later version made it', async (t) => {
    const { ask, masterKey, directory } = await start(t)
    keepBackup(directory, { masterKey, clusterId: 'memory-cluster', backupId: OTHER, featureLevel: 99 })
    t.match(await ask({ toTenant: 'then' }, { id: OTHER }), {
      status: 412,
      code: 'precondition_failed',
      json: { message: /at feature level 99/ },
    })
  })

  for (const [what, find] of [
    ['manifest', /manifest\.json$/],
    ['file of rows', /state-000000$/],
  ] as const)
    t.test(`precondition_failed: its ${what} is damaged`, async (t) => {
      const { ask, directory } = await start(t)
      const [file = ''] = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
        find.test(name),
      )
      const bytes = readFileSync(join(directory, file))
      bytes[40] = (bytes[40] ?? 0) ^ 1
      writeFileSync(join(directory, file), bytes)
      t.match(await ask({ toTenant: 'then' }), { status: 412, code: 'precondition_failed' })
    })

  t.test('precondition_failed: another one is unfinished, or a prune is', async (t) => {
    const { ask, post } = await start(t)
    t.equal((await ask({ toTenant: 'then' })).status, 202)
    t.match(await ask({ toTenant: 'again' }), { status: 412, code: 'precondition_failed' })
    const prune = { target: 'directory:weekly', keep: { last: 1 }, reason: 'a test' }
    t.match(await post('backups/prune', prune), { status: 412, code: 'precondition_failed' })
  })

  const refused: readonly (readonly [string, object, number])[] = [
    ['already_exists', { toTenant: 'acme' }, 409],
    ['bucket_already_exists', { bucket: 'photos', toTenant: 'acme' }, 409],
    ['not_found', { tenant: 'none', toTenant: 'then' }, 404],
    ['not_found', { bucket: 'none', toTenant: 'acme' }, 404],
    ['not_found', { bucket: 'photos', toTenant: 'none' }, 404],
    ['invalid_bucket_name', { bucket: 'photos', toTenant: 'acme', toBucket: 'No' }, 400],
    ['invalid_argument', { toTenant: 'No such' }, 400],
    ['invalid_argument', { toTenant: 'then', toBucket: 'photos' }, 400],
    ['invalid_argument', { bucket: 'photos', toTenant: 'acme', toBucket: 'then', toTenantName: 'x' }, 400],
    ['invalid_argument', { toTenant: 'then', target: 'nowhere:x' }, 400],
  ]
  for (const [code, body, status] of refused)
    t.test(`${code} for ${JSON.stringify(body)} [backups.restore-into.refused]`, async (t) => {
      const { ask } = await start(t)
      t.match(await ask(body), { status, code })
    })

  t.test('reason_required', async (t) => {
    const { ask } = await start(t)
    t.match(await ask({ toTenant: 'then', reason: ' ' }), { code: 'reason_required' })
  })
})
