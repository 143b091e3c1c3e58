/** The routes of backup targets and schedules, through real sockets: answers, refusals, and what lies in the target. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MasterKey } from '../../src/access/master-key.ts'
import { SealedSecrets } from '../../src/access/sealed-secrets.ts'
import { TargetRefused } from '../../src/backup/targets/target.ts'
import { backupKeys } from '../../src/state-machine/backup-plans/keys.ts'
import { FakeS3, refuse } from '../backup/fake-s3.ts'
import { piecesOf } from '../backup/target-suite.ts'
import { ApiWorld, type Ask } from './api-world.ts'

const TARGETS = '/admin/api/v1/cluster/backup-targets'
const SCHEDULES = '/admin/api/v1/cluster/backup-schedules'
const NIGHTLY = { target: 'nas', when: '30 2 * * *', keep: { daily: 7, weekly: 4 } }

async function start(t: Parameters<typeof ApiWorld.withBucket>[0]) {
  const { world } = await ApiWorld.withBucket(t)
  const owner = await world.memory.adminToken('owner')
  const folder = world.memory.services.config.backup.directory ?? ''
  mkdirSync(folder, { recursive: true })
  const ask = (path: string, more: Partial<Ask> = {}) =>
    world.call({ admin: true, token: owner, path, ...more })
  const put = (path: string, body: object) => ask(path, { method: 'PUT', body })
  const putS3 = (fake: FakeS3, more: object = {}) =>
    put(`${TARGETS}/far`, {
      s3: { endpoint: fake.endpoint, bucket: 'backups', accessKeyId: 'AKID', secretKey: 'hidden', ...more },
    })
  return { world, folder, ask, put, putS3, memory: world.memory }
}

t.test('backup targets', async (t) => {
  t.test('a directory is tried, gets a marker, and is shown', async (t) => {
    const { ask, put, folder } = await start(t)
    const made = await put(`${TARGETS}/nas`, { directory: { folder: 'own' } })
    t.match(made, { status: 200, json: { name: 'nas', directory: { folder: 'own' }, s3: null } })
    t.match(
      readdirSync(join(folder, 'own')).filter((name) => !name.startsWith('.')),
      [/^target-[0-9a-f]{24}$/],
    )
    t.same((await ask(`${TARGETS}/nas`)).json, made.json)
    t.same((await ask(TARGETS)).json, { targets: [made.json] })
    t.equal((await ask(`${TARGETS}/nas`, { method: 'DELETE' })).status, 204)
    t.match(await ask(`${TARGETS}/nas`), { status: 404, json: { code: 'not_found' } })
  })

  t.test('a dry run tries the place, and leaves no marker and no target', async (t) => {
    const { ask, put, folder } = await start(t)
    const planned = await put(`${TARGETS}/nas?dryRun=true`, { directory: { folder: 'own' } })
    t.match(planned, {
      status: 200,
      json: { allowed: true, plan: { before: null, after: { name: 'nas' } }, warnings: [/every node/] },
    })
    t.same(
      readdirSync(join(folder, 'own')).filter((name) => !name.startsWith('.')),
      [],
    )
    t.same((await ask(TARGETS)).json, { targets: [] })
  })

  t.test('the same place keeps its marker when it is set again, another place gets a new one', async (t) => {
    const { put, memory } = await start(t)
    const markerOf = () => memory.services.state.get(backupKeys.backupTarget('nas'))?.markerId
    await put(`${TARGETS}/nas`, { directory: { folder: 'own' } })
    const marker = markerOf()
    await put(`${TARGETS}/nas`, { directory: { folder: 'own' } })
    t.equal(markerOf(), marker)
    await put(`${TARGETS}/nas`, { directory: { folder: 'daily' } })
    t.not(markerOf(), marker)
  })

  t.test(
    'a directory without the marker is refused: it may be what lies below a file system that is not mounted',
    async (t) => {
      const { put, folder, memory } = await start(t)
      await put(`${TARGETS}/nas`, { directory: { folder: 'own' } })
      const open = () => memory.services.backups.openTarget('nas')
      await open().put('a', piecesOf('x'), 1)
      rmSync(join(folder, 'own'), { recursive: true })
      mkdirSync(join(folder, 'own'))
      await t.rejects(open().put('b', piecesOf('x'), 1), TargetRefused)
      t.same(readdirSync(join(folder, 'own')), [])
    },
  )

  t.test('a bucket of an S3 store is tried; its secret is sealed, and in no answer', async (t) => {
    const { put, ask, putS3, memory } = await start(t)
    const fake = await FakeS3.start(t)
    const made = await putS3(fake, { prefix: 'of/acme' })
    t.match(made, {
      status: 200,
      json: { s3: { bucket: 'backups', prefix: 'of/acme', region: 'us-east-1' } },
    })
    t.match([...fake.objects.keys()], [/^of\/acme\/target-/])
    t.notMatch(JSON.stringify([made, await ask(TARGETS)]), 'hidden')
    t.notMatch(JSON.stringify(memory.lines), 'hidden')
    const row = memory.services.state.get(backupKeys.backupTarget('far'))
    t.notMatch(Buffer.from(row?.place.kind === 's3' ? row.place.secret : '').toString('latin1'), 'hidden')
    await memory.services.backups.openTarget('far').put('a', piecesOf('x'), 1)
    t.ok(fake.objects.has('of/acme/a'))
    t.equal((await put(`${TARGETS}/far`, { directory: {} })).status, 200)
  })

  t.test('a secret that is not given is kept, for the same endpoint and key alone', async (t) => {
    const { putS3 } = await start(t)
    const fake = await FakeS3.start(t)
    await putS3(fake)
    t.equal((await putS3(fake, { secretKey: undefined, prefix: 'b' })).status, 200)
    const elsewhere = await FakeS3.start(t)
    t.match(await putS3(elsewhere, { secretKey: undefined }), {
      status: 400,
      json: { code: 'invalid_request' },
    })
    t.equal(elsewhere.asked.length, 0)
    t.match(await putS3(fake, { secretKey: undefined, accessKeyId: 'OTHER' }), {
      json: { code: 'invalid_request' },
    })
  })

  t.test('precondition_failed: a place that refuses, lies or is not there, and nothing is set', async (t) => {
    const { ask, putS3 } = await start(t)
    const fake = await FakeS3.start(t)
    const refusals: readonly (readonly [FakeS3['intercept'], RegExp])[] = [
      [({ response }) => (refuse(response, 403, 'InvalidAccessKeyId'), true), /does not know the access key/],
      [({ response }) => (refuse(response, 404, 'NoSuchBucket'), true), /bucket does not exist/],
      [
        ({ method, response }) => method === 'PUT' && (refuse(response, 507, 'XMinioStorageFull'), true),
        /it is full/,
      ],
      [
        ({ method, response }) =>
          method === 'GET' &&
          (response.writeHead(200, { 'content-length': '64', etag: '"x"' }).end('x'.repeat(64)), true),
        /other bytes/,
      ],
      [
        ({ method, response }) => method === 'DELETE' && (response.writeHead(204).end(), true),
        /keeps what was removed/,
      ],
    ]
    for (const [intercept, message] of refusals) {
      fake.intercept = intercept
      t.match(await putS3(fake), { status: 412, json: { code: 'precondition_failed', detail: message } })
    }
    fake.intercept = ({ response }) => (refuse(response, 403, 'SignatureDoesNotMatch'), true)
    const planned = await putS3(fake, {})
    t.notMatch(JSON.stringify(planned.json), 'hidden')
    t.same((await ask(TARGETS)).json, { targets: [] })
  })

  t.test('precondition_failed: an address that no store has is not connected to', async (t) => {
    const { put } = await start(t)
    for (const endpoint of [
      'http://169.254.169.254',
      'http://[fe80::1]:9000',
      'http://0.0.0.0:9000',
      'http://[::ffff:169.254.169.254]',
    ]) {
      const s3 = { endpoint, bucket: 'backups', accessKeyId: 'AKID', secretKey: 's' }
      t.match(
        await put(`${TARGETS}/far`, { s3 }),
        { status: 412, json: { detail: /are not made/ } },
        endpoint,
      )
    }
  })

  t.test('invalid_argument, invalid_request: values that no target has', async (t) => {
    const { put } = await start(t)
    const s3 = { endpoint: 'http://127.0.0.1:1', bucket: 'backups', accessKeyId: 'AKID', secretKey: 's' }
    const bodies = [
      { directory: { folder: '../a' } },
      { directory: { folder: '/mnt' } },
      { s3: { ...s3, endpoint: 'ftp://127.0.0.1' } },
      { s3: { ...s3, endpoint: 'http://u:p@127.0.0.1' } },
      { s3: { ...s3, endpoint: 'http://127.0.0.1/?a=b' } },
      { s3: { ...s3, bucket: 'A' } },
      { s3: { ...s3, prefix: 'a//b' } },
      { s3: { ...s3, region: 'EU 1' } },
      { s3: { ...s3, ca: 'no certificate' } },
    ]
    for (const body of bodies)
      t.match(
        await put(`${TARGETS}/far`, body),
        { status: 400, json: { code: 'invalid_argument' } },
        JSON.stringify(body),
      )
    for (const body of [{}, { directory: {}, s3 }])
      t.match(await put(`${TARGETS}/far`, body), { status: 400, json: { code: 'invalid_request' } })
    t.match(await put(`${TARGETS}/Far`, { directory: {} }), { json: { code: 'invalid_argument' } })
  })

  t.test('a rotation of the master key seals the secret of a target again', async (t) => {
    const { putS3, memory } = await start(t)
    const fake = await FakeS3.start(t)
    await putS3(fake)
    const key = { id: 'mk-new', secret: Buffer.alloc(32, 9) }
    const both = MasterKey.of([key, { id: 'mk-test', secret: Buffer.alloc(32, 7) }])
    const alone = new SealedSecrets(MasterKey.of([key]), memory.services.state)
    for await (const { command, lost } of new SealedSecrets(both, memory.services.state).rewraps()) {
      t.same(lost, [])
      if (command.type !== 'rewrapBackupSecrets') await memory.services.propose(command)
    }
    t.match(await alone.missing(), { owner: "backup target 'far'" })
    for await (const { command } of new SealedSecrets(both, memory.services.state).rewraps())
      if (command.items.length > 0)
        t.same(await memory.services.propose(command), { ok: true, value: { rewrapped: 1 } })
    t.equal(await alone.missing(), null)
  })
})

t.test('backup schedules', async (t) => {
  const withTarget = async (t: Parameters<typeof start>[0]) => {
    const world = await start(t)
    await world.put(`${TARGETS}/nas`, { directory: {} })
    return world
  }

  t.test('are set, shown with their next run, and removed', async (t) => {
    const { ask, put } = await withTarget(t)
    const made = await put(`${SCHEDULES}/nightly`, NIGHTLY)
    t.match(made, {
      status: 200,
      json: {
        name: 'nightly',
        target: 'nas',
        keep: { last: 0, hourly: 0, daily: 7, weekly: 4, monthly: 0, yearly: 0 },
        nextRunAt: /T02:30:00\.000Z$/,
        run: null,
        last: null,
        failures: 0,
      },
    })
    t.match((await ask(SCHEDULES)).json, { schedules: [{ name: 'nightly' }] })
    t.match((await put(`${SCHEDULES}/nightly`, { ...NIGHTLY, paused: true })).json, {
      paused: true,
      nextRunAt: null,
    })
    t.equal((await ask(`${SCHEDULES}/nightly`, { method: 'DELETE' })).status, 204)
    t.match(await ask(`${SCHEDULES}/nightly`), { status: 404 })
  })

  t.test('a dry run shows the next three times, and sets nothing', async (t) => {
    const { ask, put } = await withTarget(t)
    const { json } = await put(`${SCHEDULES}/nightly?dryRun=true`, NIGHTLY)
    t.match(json, { allowed: true, plan: { before: null, nextRuns: { length: 3 } } })
    t.same((await ask(SCHEDULES)).json, { schedules: [] })
  })

  t.test('invalid_argument: a schedule that never fits, is none, or keeps nothing', async (t) => {
    const { put } = await withTarget(t)
    const bodies = [
      { when: '0 2 30 2 *' },
      { when: 'daily' },
      { when: '0 2 1 * mon' },
      { keep: {} },
      { keep: { daily: 0 } },
    ]
    for (const body of bodies)
      t.match(
        await put(`${SCHEDULES}/nightly`, { ...NIGHTLY, ...body }),
        { status: 400, json: { code: 'invalid_argument' } },
        JSON.stringify(body),
      )
  })

  t.test(
    'precondition_failed: no such target; rules that contradict those of another schedule; a target in use',
    async (t) => {
      const { ask, put } = await withTarget(t)
      t.match(await put(`${SCHEDULES}/nightly`, { ...NIGHTLY, target: 'other' }), {
        status: 412,
        json: { detail: /no backup target "other"/ },
      })
      await put(`${SCHEDULES}/nightly`, NIGHTLY)
      t.match(await put(`${SCHEDULES}/hourly`, { ...NIGHTLY, keep: { hourly: 24 } }), {
        status: 412,
        json: { detail: /"nightly" keeps other numbers/ },
      })
      t.match(await ask(`${TARGETS}/nas`, { method: 'DELETE' }), {
        status: 412,
        json: { detail: /schedule "nightly"/ },
      })
    },
  )
})
