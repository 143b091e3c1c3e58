/** Backups of one tenant of a running cluster: what is in them, which rules remove them, and a cluster that begins with one. [docs/adr/0095-parts-of-backups.md] */
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { Agent, request } from 'undici'
import { until } from '../helpers/async.ts'
import { MANY_ADMIN_REQUESTS } from '../helpers/member-steps.ts'
import { type ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'
import {
  contentOf,
  ended,
  type OperationSeen,
  restoreWith,
  startBackedUp,
  startBackup,
  startRestored,
  verifyWith,
} from './backup-world.ts'

const dispatcher = new Agent({ keepAliveTimeout: 1_000 })
t.teardown(() => dispatcher.close())

async function asked(
  url: string,
  {
    method = 'GET',
    token,
    body,
  }: { readonly method?: string; readonly token?: string; readonly body?: object | Buffer },
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const isBytes = Buffer.isBuffer(body)
  const headers: Record<string, string> = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined || isBytes ? {} : { 'content-type': 'application/json' }),
  }
  const sent = body === undefined || isBytes ? (body ?? null) : JSON.stringify(body)
  const answer = await request(url, { method: method as 'GET', headers, body: sent, dispatcher })
  const text = await answer.body.text()
  return { status: answer.statusCode, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
}

async function admin(cluster: ProcessCluster, method: 'GET' | 'POST' | 'PUT', path: string, body?: object) {
  const answer = await cluster.admin('n1', { method, path, ...(body === undefined ? {} : { body }) })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`)
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

async function put(cluster: ProcessCluster, key: string, body: Buffer): Promise<void> {
  const { status } = await cluster.ask('n1', { method: 'PUT', path: `/buckets/kept/objects/${key}`, body })
  if (status >= 300) throw new Error(`PUT ${key}: ${status}`)
}

/** A second tenant with a bucket of the same name; returns its key. */
async function addOther(cluster: ProcessCluster) {
  await admin(cluster, 'POST', '/tenants', { id: 'other', name: 'Other' })
  const key = await admin(cluster, 'POST', '/tenants/other/keys', {
    scopes: 'read,write,delete,admin',
    name: 'k',
  })
  const data = `${cluster.node('n1').dataUrl}/api/v1`
  const { accessKeyId, secretKey } = key
  const credentials = { accessKeyId, secretKey }
  const token = String(
    (await asked(`${data}/auth/token`, { method: 'POST', body: credentials })).body['token'],
  )
  await asked(`${data}/buckets`, { method: 'POST', token, body: { name: 'kept' } })
  for (let n = 0; n < 4; n++) {
    const body = randomBytes(200_000)
    const { status } = await asked(`${data}/buckets/kept/objects/o${n}`, { method: 'PUT', token, body })
    if (status >= 300) throw new Error(`PUT of the other tenant: ${status}`)
  }
  return credentials
}

t.test('backups of one tenant', { timeout: 1_200_000 }, async (t) => {
  const world = await startBackedUp(t, 3, `${MANY_ADMIN_REQUESTS}\ncluster: { collect_after: 1s }`)
  const { cluster, backups } = world
  const { configFile } = cluster.node('n1')
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"kept"}')
  await cluster.call('n1', 'PUT', '/buckets/kept/versioning', '{"status":"enabled"}')
  for (let n = 0; n < 6; n++) await put(cluster, `o${n % 4}`, randomBytes(150_000 + n))
  await put(cluster, 'small', randomBytes(100))
  await put(cluster, 'large', randomBytes(5_000_000))
  const others = await addOther(cluster)
  const made = async (tenantId?: string): Promise<OperationSeen> => {
    const asked = await startBackup(cluster, 'n1', tenantId === undefined ? {} : { tenantId })
    const done = await ended(cluster, 'n1', asked.operationId)
    t.match(done, { status: 'succeeded', error: null })
    return done
  }

  const whole = await made()
  const first = await made('demo')
  const other = await made('other')
  await t.test('share chunks with others, and hold what belongs to the tenant', async (t) => {
    t.match(first.progress, { blobsTotal: 8, blobsDone: 0, skipped: 8 })
    t.match(other.progress, { blobsTotal: 4, blobsDone: 0, skipped: 4 })
    const [all, one] = [
      await admin(cluster, 'GET', `/cluster/backups/${whole.backupId}?target=directory:weekly`),
      await admin(cluster, 'GET', `/cluster/backups/${first.backupId}?target=directory:weekly`),
    ]
    t.match(all, { tenantId: null, chunks: 12 })
    t.match(one, { tenantId: 'demo', chunks: 8, missingCount: 0 })
    t.ok((one['rows'] as number) < (all['rows'] as number))
    t.match(await verifyWith(backups, configFile, '--tenant', 'demo'), {
      code: 0,
      verified: { backupId: first.backupId, chunks: 8, damages: [] },
    })
  })

  await put(cluster, 'later', randomBytes(170_000))
  const second = await made('demo')
  const model = await contentOf(cluster, 'n1', 'kept')
  await t.test('send what is new, and are not taken for one of the cluster', async (t) => {
    t.match(second.progress, { blobsTotal: 9, blobsDone: 1 })
    t.match(await verifyWith(backups, configFile), { code: 0, verified: { backupId: whole.backupId } })
    const { backups: listed } = await admin(cluster, 'GET', '/cluster/backups?target=directory:weekly')
    const scopes = (listed as { backupId: string; backup: { tenantId: string | null } }[]).map(
      ({ backupId, backup }) => [backupId, backup.tenantId],
    )
    // Backups of one second are listed in any order.
    t.strictSame(
      Object.fromEntries(scopes),
      Object.fromEntries([
        [whole.backupId, null],
        [first.backupId, 'demo'],
        [other.backupId, 'other'],
        [second.backupId, 'demo'],
      ]),
    )
    t.match(
      await runCommand(
        'backup',
        'verify',
        '--config',
        configFile,
        '--from',
        `directory:${backups}/weekly`,
        '--tenant',
        'absent',
      ),
      { code: 3 },
    )
  })

  await t.test('are removed by rules of their own, with no chunk that another backup needs', async (t) => {
    const rules = { target: 'directory:weekly', tenantId: 'demo', keep: { last: 1 }, reason: 'a test' }
    const { plan } = await admin(cluster, 'POST', '/cluster/backups/prune?dryRun=true', rules)
    t.match(plan, {
      removed: [first.backupId],
      kept: [
        { backupId: second.backupId, reasons: ['newest', 'last'] },
        { backupId: other.backupId, reasons: ['otherScope'] },
        { backupId: whole.backupId, reasons: ['otherScope'] },
      ],
    })
    const { operationId } = await admin(cluster, 'POST', '/cluster/backups/prune', rules)
    t.match(await ended(cluster, 'n1', String(operationId)), { status: 'succeeded', error: null })
    for (const { backupId } of [whole, other, second])
      t.match(await verifyWith(backups, configFile, '--backup', backupId), {
        code: 0,
        verified: { damages: [] },
      })
  })

  await t.test('are made by schedules of the tenant, with rules of their own', async (t) => {
    await admin(cluster, 'PUT', '/cluster/backup-targets/nas', { directory: { folder: 'weekly' } })
    const when = { target: 'nas', when: '0 0 1 1 *' }
    await admin(cluster, 'PUT', '/cluster/backup-schedules/all', { ...when, keep: { last: 2 } })
    t.match(
      await admin(cluster, 'PUT', '/cluster/backup-schedules/demo', {
        ...when,
        tenantId: 'demo',
        keep: { last: 9 },
      }),
      { tenantId: 'demo' },
    )
    await t.rejects(
      admin(cluster, 'PUT', '/cluster/backup-schedules/again', {
        ...when,
        tenantId: 'demo',
        keep: { last: 3 },
      }),
      /one would remove what the other keeps/,
    )
    await t.rejects(
      admin(cluster, 'PUT', '/cluster/backup-schedules/none', { ...when, tenantId: 'absent' }),
      /does not exist/,
    )
  })

  await t.test(
    'are verified by the node on duty, which names what is damaged and who needs it',
    async (t) => {
      const path = `/cluster/backups/${second.backupId}`
      const verify = async () => {
        const asked = { target: 'directory:weekly', reason: 'a test' }
        const { operationId } = await admin(cluster, 'POST', `${path}/verify`, asked)
        return ended(cluster, 'n1', String(operationId))
      }
      t.match(await verify(), { status: 'succeeded', error: null, progress: { blobsDone: 9 } })
      const shown = () => admin(cluster, 'GET', `${path}?target=directory:weekly`)
      t.match(await shown(), { verification: { damageCount: 0, damages: [], versionCount: 0 } })
      const seen = () => cluster.metric('n2', 'holdfast_backup_verified_damages')
      await until('the other node has the result', async () => (await seen()) === 0)
      const chunks = join(backups, 'weekly', 'chunks')
      const [large = ''] = readdirSync(chunks, { recursive: true, encoding: 'utf8' }).filter(
        (name) => statSync(join(chunks, name)).size > 4_000_000,
      )
      const bytes = readFileSync(join(chunks, large))
      writeFileSync(join(chunks, large), Buffer.from(bytes).fill(0, 5_000, 5_100))
      t.match(await verify(), { status: 'failed', error: /^1 parts of the backup/ })
      t.match(await shown(), {
        verification: {
          damages: [{ name: `chunks/${large}`, what: 'damaged' }],
          versions: [{ tenantId: 'demo', bucket: 'kept', key: 'large' }],
        },
      })
      await until('the other node has the next one', async () => (await seen()) === 1)
      writeFileSync(join(chunks, large), bytes)
      t.match(await verify(), { status: 'succeeded' })
    },
  )

  for (const { nodeId } of cluster.plan) await cluster.signal(nodeId, 'SIGTERM')
  await t.test('begin a cluster with this tenant alone', async (t) => {
    const one = await startRestored(t, cluster, 1, async (file) => {
      const { code, restored, err } = await restoreWith(backups, file, '--tenant', 'demo')
      t.equal(code, 0, err)
      t.match(restored, { missing: [], damaged: [], lost: { versions: 0 } })
    })
    await one.login('n1')
    t.same(await contentOf(one, 'n1', 'kept'), model)
    await put(one, 'new', randomBytes(120_000))
    const { dataUrl, adminUrl, dataDir } = one.node('n1')
    t.equal((await asked(`${dataUrl}/api/v1/auth/token`, { method: 'POST', body: others })).status, 401)
    const token = await runCommand(
      'admin-token',
      'create',
      '--name',
      'ops',
      '--role',
      'owner',
      '--data',
      dataDir,
      '--json',
    )
    t.equal(token.code, 0, token.err)
    const owner = { token: (JSON.parse(token.out) as { readonly token: string }).token }
    const { body: tenants } = await asked(`${adminUrl}/admin/api/v1/tenants`, owner)
    t.match(tenants, { tenants: [{ id: 'demo' }] })
    t.equal((tenants['tenants'] as object[]).length, 1)
    const recount = { ...owner, method: 'POST', body: { reason: 'a test' } }
    t.match((await asked(`${adminUrl}/admin/api/v1/cluster/recount?wait=60s`, recount)).body, {
      status: 'succeeded',
    })
    const { body: repair } = await asked(`${adminUrl}/admin/api/v1/cluster/repair`, owner)
    t.match(repair, { lastRecount: { differences: 0 } })
    await one.signal('n1', 'SIGTERM')
  })

  await t.test('under another master key begin a cluster that has no other', async (t) => {
    const folder = temporaryFolder(t)
    const key = join(folder, 'other.key')
    const text = `holdfast-master-key-1:mk-other:${randomBytes(32).toString('base64url')}\n`
    writeFileSync(key, text, { mode: 0o600 })
    const to = join(folder, 'weekly')
    mkdirSync(to)
    const words = [
      '--config',
      configFile,
      '--from',
      `directory:${join(backups, 'weekly')}`,
      '--tenant',
      'demo',
    ]
    const made = await runCommand(
      'backup',
      'reseal',
      ...words,
      '--to',
      `directory:${to}`,
      '--under-key',
      key,
      '--json',
    )
    t.equal(made.code, 0, made.err)
    t.match(JSON.parse(made.out), { of: second.backupId, under: 'mk-other', sentChunks: 9, missingCount: 0 })
    t.match(
      await runCommand(
        'backup',
        'reseal',
        ...words.with(3, `directory:${to}`),
        '--to',
        `directory:${to}`,
        '--under-key',
        key,
      ),
      { code: 1 },
      'the former key alone opens nothing of it',
    )
    const one = await startRestored(t, cluster, 1, async (file) => {
      copyFileSync(key, join(dirname(file), 'master.key'))
      const { code, restored, err } = await restoreWith(folder, file, '--tenant', 'demo')
      t.equal(code, 0, err)
      t.match(restored, { missing: [], damaged: [], lost: { versions: 0 } })
      t.match(await verifyWith(folder, file, '--tenant', 'demo'), { code: 0, verified: { damages: [] } })
    })
    await one.login('n1')
    t.same(await contentOf(one, 'n1', 'kept'), model)
    await put(one, 'new', randomBytes(120_000))
    await one.signal('n1', 'SIGTERM')
  })
})
