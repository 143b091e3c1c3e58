/** Routes of backups, through real sockets: started, planned, listed, shown, refused. [docs/adr/0086-backups.md] */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { BACKUP } from '../../src/api/examples/names.ts'
import { manifestName } from '../../src/backup/format/names.ts'
import { BackupReader } from '../../src/backup/read/backup-reader.ts'
import { writeReport } from '../../src/backup/checks/check-report.ts'
import { DirectoryTarget } from '../../src/backup/targets/directory-target.ts'
import { keepBackup } from '../helpers/kept-backup.ts'
import { type ApiAnswer, ApiWorld } from './api-world.ts'

const WEEKLY = 'directory:weekly'
const LATER = ['20261128t120000z-00000001', '20261129t120000z-00000002']

async function start(t: Parameters<typeof ApiWorld.withBucket>[0]) {
  const { world, token: bearer } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('operator')
  const ask = (path: string, body?: object): Promise<ApiAnswer> => {
    const call = { admin: true, token, path: `/admin/api/v1/cluster/backups${path}` }
    return world.call(body === undefined ? call : { ...call, method: 'POST', body })
  }
  const { directory } = world.memory.services.config.backup
  const keep = (backupId: string, masterKey = world.memory.services.backups.masterKey as MasterKey): void =>
    keepBackup(directory ?? '', { masterKey, clusterId: 'memory-cluster', backupId })
  return { world, bearer, ask, keep, directory: directory ?? '' }
}

const order = { target: WEEKLY, reason: 'a test' }

t.test('a backup is a long operation, one at a time [backups.create]', async (t) => {
  const { ask } = await start(t)
  const started = await ask('', { ...order, maxBytesPerSecond: 1_000 })
  t.match(started, {
    status: 202,
    json: { type: 'backup', status: 'queued', target: WEEKLY, maxBytesPerSecond: 1_000, reason: 'a test' },
  })
  t.match(started.json['backupId'], /^\d{8}t\d{6}z-[0-9a-f]{8}$/)
  t.match(await ask('', order), {
    status: 412,
    code: 'precondition_failed',
    json: { message: new RegExp(String(started.json['operationId'])) },
  })
})

t.test('a backup of one tenant says so [backups.tenant]', async (t) => {
  const { ask } = await start(t)
  for (const tenantId of ['absent', 'acme/../b'])
    t.match(await ask('', { ...order, tenantId }), { status: 404, code: 'not_found' }, tenantId)
  t.match(await ask('', { ...order, tenantId: 'acme' }), {
    status: 202,
    json: { tenantId: 'acme', type: 'backup' },
  })
})

t.test('a verification is a long operation, one at a time [backups.verify]', async (t) => {
  const { ask } = await start(t)
  const path = `/${BACKUP.backupId}/verify`
  t.match(await ask(`${path}?dryRun=true`, order), {
    status: 200,
    json: { allowed: true, plan: { backupId: BACKUP.backupId, chunks: 0, chunkBytes: 0 } },
  })
  t.match(await ask(`/${LATER[0]}/verify`, order), { status: 404, code: 'not_found' })
  t.match(await ask('/none/verify', order), { status: 404, code: 'not_found' })
  const started = await ask(path, { ...order, maxBytesPerSecond: 1_000 })
  t.match(started, {
    status: 202,
    json: { type: 'backupVerify', backupId: BACKUP.backupId, target: WEEKLY, maxBytesPerSecond: 1_000 },
  })
  t.match(await ask(path, order), { status: 412, code: 'precondition_failed' })
})

t.test('a backup shows what its last verification found [backups.verification]', async (t) => {
  const { world, ask, directory } = await start(t)
  const show = () => ask(`/${BACKUP.backupId}?target=${WEEKLY}`)
  t.match(await show(), { status: 200, json: { verification: null } })
  const at = { cluster: 'memory-cluster', backupId: BACKUP.backupId }
  const target = new DirectoryTarget(join(directory, 'weekly'))
  const reader = await BackupReader.open(target, at, world.memory.services.backups.masterKey)
  const damages = [{ name: 'chunks/memory-cluster/ab/x', what: 'missing', why: 'it is not there' }] as const
  const versions = [{ tenantId: 'acme', bucket: 'photos', key: 'k', versionId: 'null' }]
  const counts = { rows: 3, chunks: 2, damageCount: 1, versionCount: 1, auditRows: 0 }
  const times = { operationId: 'op-1', startedAt: 1_000, finishedAt: 2_000 }
  await writeReport(reader, { ...times, ...counts, damages, versions })
  t.match(await show(), {
    json: { verification: { ...counts, damages, versions, finishedAt: '1970-01-01T00:00:02.000Z' } },
  })
})

t.test('a dry run of one tenant counts what is its own [backups.tenant.plan]', async (t) => {
  const { world, bearer, ask } = await start(t)
  const put = { method: 'PUT', path: '/api/v1/buckets/photos/objects/k', token: bearer }
  t.equal((await world.call({ ...put, body: Buffer.alloc(9_000, 'x') })).status, 200)
  t.match(await ask('?dryRun=true', { ...order, tenantId: 'acme' }), {
    json: { allowed: true, plan: { tenantId: 'acme', chunks: 1 } },
  })
  t.match(await ask('?dryRun=true', { ...order, tenantId: 'absent' }), { status: 404 })
})

t.test('a dry run says how much there is, and starts nothing [backups.plan]', async (t) => {
  const { world, bearer, ask } = await start(t)
  const put = { method: 'PUT', path: '/api/v1/buckets/photos/objects/k', token: bearer }
  t.equal((await world.call({ ...put, body: Buffer.alloc(9_000, 'x') })).status, 200)
  const plan = { target: WEEKLY, backups: 1, chunks: 1 }
  for (const again of [1, 2])
    t.match(await ask('?dryRun=true', order), { status: 200, json: { allowed: true, plan } }, `${again}`)
})

t.test('finished backups are listed in pages, oldest first [backups.list]', async (t) => {
  const { ask, keep, directory } = await start(t)
  for (const backupId of LATER) keep(backupId)
  const first = await ask(`?target=${WEEKLY}&limit=2`)
  t.match(first.json['backups'], [{ backupId: BACKUP.backupId }, { backupId: LATER[0] }])
  const rest = await ask(
    `?target=${WEEKLY}&limit=2&continuationToken=${String(first.json['nextContinuationToken'])}`,
  )
  t.match(rest.json, { backups: [{ backupId: LATER[1] }], isTruncated: false })
  writeFileSync(join(directory, 'weekly', manifestName('memory-cluster', LATER[0] ?? '')), '{"format":1}\n')
  keep(LATER[1] ?? '', MasterKey.fromBytes('mk-another', Buffer.alloc(32, 9)))
  t.match((await ask(`?target=${WEEKLY}`)).json['backups'], [
    { problem: null, backup: { index: 7 } },
    { problem: /is no manifest/, backup: null },
    { problem: /does not open under any master key/, backup: null },
  ])
})

t.test('one backup is shown, another is not found [backups.get]', async (t) => {
  const { ask } = await start(t)
  t.match(await ask(`/${BACKUP.backupId}?target=${WEEKLY}`), {
    status: 200,
    json: { index: 7, missingCount: 0 },
  })
  for (const id of [LATER[0], 'nonsense', '..%2f..%2fetc'])
    t.match(await ask(`/${id}?target=${WEEKLY}`), { status: 404, code: 'not_found' }, `${id}`)
})

t.test('a target that is none is refused, before anything starts [backups.target]', async (t) => {
  const { ask, directory } = await start(t)
  for (const target of [
    'weekly',
    'ftp:weekly',
    'directory:../up',
    'directory:/etc',
    'directory:a//b',
    'directory:A',
  ])
    for (const answer of [
      await ask('', { ...order, target }),
      await ask(`?target=${encodeURIComponent(target)}`),
    ])
      t.match(answer, { status: 400, code: 'invalid_argument' }, target)
  rmSync(directory, { recursive: true })
  for (const answer of [await ask('', order), await ask(`?target=${WEEKLY}`)])
    t.match(answer, { status: 412, code: 'precondition_failed', json: { message: /is not there: mount it/ } })
})

t.test('precondition_failed while a member does not know backups [backups.level]', async (t) => {
  const { world, ask } = await start(t)
  world.memory.featureLevel = 6
  t.match(await ask('', order), { status: 412, code: 'precondition_failed', json: { message: /level/ } })
})
