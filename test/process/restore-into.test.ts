/** A tenant and a bucket out of a backup, beside what the running cluster has now. [docs/adr/0094-restore-into-the-running-cluster.md] [deploy/runbooks/restore.md] */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { MANY_ADMIN_REQUESTS } from '../helpers/member-steps.ts'
import type { ProcessCluster } from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'
import { ended, type OperationSeen, seen, startBackedUp, startBackup } from './backup-world.ts'
import {
  bytesOf,
  fill,
  SECRET,
  type SeenVersion,
  settingsOf,
  TenantClient,
  versionsOf,
} from './restore-world.ts'

const RUNBOOK = fileURLToPath(new URL('../../deploy/runbooks/restore.md', import.meta.url))
const NODES = ['n1', 'n2', 'n3']
const BUCKETS = ['kept', 'mixed', 'plain']

interface RestoreSeen extends OperationSeen {
  readonly restore: {
    readonly missingCount: number
    readonly missing: readonly { readonly bucket: string; readonly key: string; readonly why: string }[]
  }
}

interface Asked {
  readonly tenant: string
  readonly bucket?: string
  readonly toTenant: string
  readonly toBucket?: string
  readonly maxBytesPerSecond?: number
  readonly target?: string
}

async function ask(
  cluster: ProcessCluster,
  nodeId: string,
  backupId: string,
  asked: Asked & { readonly dryRun?: true },
): Promise<{ readonly status: number; readonly answer: Record<string, unknown> }> {
  const { dryRun, ...body } = asked
  const { status, body: text } = await cluster.admin(nodeId, {
    method: 'POST',
    path: `/cluster/backups/${backupId}/restore${dryRun === true ? '?dryRun=true' : ''}`,
    body: { target: 'directory:weekly', reason: 'a test', ...body },
  })
  return { status, answer: JSON.parse(text.toString()) as Record<string, unknown> }
}

async function restored(
  cluster: ProcessCluster,
  nodeId: string,
  backupId: string,
  asked: Asked,
): Promise<RestoreSeen> {
  const { status, answer } = await ask(cluster, nodeId, backupId, asked)
  if (status !== 202) throw new Error(`restore: ${status} ${JSON.stringify(answer)}`)
  return (await ended(cluster, nodeId, String(answer['operationId']))) as RestoreSeen
}

async function recounted(cluster: ProcessCluster, nodeId: string): Promise<unknown> {
  const asked = {
    method: 'POST',
    path: '/cluster/recount?wait=60s',
    body: { reason: 'after a restore' },
  } as const
  await cluster.admin(nodeId, asked)
  const repair = await cluster.admin(nodeId, { method: 'GET', path: '/cluster/repair' })
  return (JSON.parse(repair.body.toString()) as { lastRecount: unknown }).lastRecount
}

async function usageOf(cluster: ProcessCluster, tenantId: string): Promise<Record<string, unknown>> {
  const { body } = await cluster.admin('n1', { method: 'GET', path: `/tenants/${tenantId}/usage` })
  return JSON.parse(body.toString()) as Record<string, unknown>
}

t.test('a tenant and a bucket come back beside what is there', { timeout: 1_800_000 }, async (t) => {
  const { cluster, backups } = await startBackedUp(t, 3, MANY_ADMIN_REQUESTS)
  for (const id of ['acme', 'globex'])
    await cluster.admin('n1', { method: 'POST', path: '/tenants', body: { id, name: `${id} ltd` } })
  const acme = await TenantClient.of(cluster, 'n1', 'acme')
  const globex = await TenantClient.of(cluster, 'n2', 'globex')
  await fill(acme, 'acme')
  await fill(globex, 'globex')
  const quota = { maxBytes: 500_000_000, maxObjects: 5_000 }
  await cluster.admin('n1', { method: 'PUT', path: '/tenants/acme/quota', body: quota })
  const model = new Map<string, readonly SeenVersion[]>()
  const settings = new Map<string, unknown>()
  for (const bucket of BUCKETS) {
    model.set(bucket, await versionsOf(acme, 'n3', bucket))
    const { rules, ...others } = await settingsOf(acme, 'n3', bucket)
    settings.set(bucket, { ...others, rules: rules.map((rule) => ({ ...rule, status: 'Disabled' })) })
  }
  const { operationId, backupId } = await startBackup(cluster, 'n1')
  t.match(await ended(cluster, 'n1', operationId), { status: 'succeeded', error: null })
  const before = await usageOf(cluster, 'acme')

  // What happens afterwards is in no restore.
  await acme.must('n1', { method: 'PUT', path: '/kept/objects/a', body: bytesOf('later', 90_000) })
  for (let n = 0; n < 40; n++) await acme.must('n1', { method: 'DELETE', path: `/plain/objects/s${n}` })
  await acme.must('n2', { method: 'DELETE', path: '/plain/objects/film' })
  await acme.must('n2', { method: 'DELETE', path: '/plain/objects/large' })

  type Assertions = Pick<typeof t, 'same'>
  const same = async (
    t: Assertions,
    client: TenantClient,
    [from, to]: readonly [string, string],
  ): Promise<void> => {
    t.same(await versionsOf(client, 'n2', to), model.get(from), `${to}: every version of ${from}`)
    t.same(await settingsOf(client, 'n2', to), settings.get(from), `${to}: the settings of ${from}`)
  }

  await t.test('a dry run says what would come back', async (t) => {
    const asked = {
      tenant: 'acme ltd',
      bucket: 'kept',
      toTenant: 'acme',
      toBucket: 'kept-then',
      dryRun: true,
    } as const
    const { status, answer } = await ask(cluster, 'n2', backupId, asked)
    t.equal(status, 200)
    t.match(answer, {
      plan: { tenantId: 'acme', bucket: 'kept', toBucket: 'kept-then', versions: 11, deleteMarkers: 1 },
    })
    t.equal((await acme.ask('n1', { method: 'GET', path: '/kept-then' })).status, 404)
  })

  await t.test('a bucket under another name in its tenant', async (t) => {
    for (const bucket of BUCKETS) {
      const asked = { tenant: 'acme', bucket, toTenant: 'acme', toBucket: `${bucket}-then` }
      t.match(await restored(cluster, 'n2', backupId, asked), { status: 'succeeded', error: null })
      await same(t, acme, [bucket, `${bucket}-then`])
    }
  })

  await t.test('a bucket in another tenant, whose keys seal it', async (t) => {
    const asked = { tenant: 'acme', bucket: 'plain', toTenant: 'globex', toBucket: 'of-acme' }
    const done = await restored(cluster, 'n3', backupId, asked)
    t.match(done, { status: 'succeeded', restore: { missingCount: 1 } })
    t.match(done.restore.missing, [{ key: SECRET, why: /only its client has the key/ }])
    const rest = model.get('plain')?.filter((one) => one['key'] !== SECRET)
    t.same(await versionsOf(globex, 'n1', 'of-acme'), rest)
    t.same(await settingsOf(globex, 'n1', 'of-acme'), settings.get('plain'))
  })

  await t.test('a tenant under another name, while its leader is killed', async (t) => {
    const asked = { tenant: 'acme', toTenant: 'acme-then', maxBytesPerSecond: 8_000_000 }
    const { status, answer } = await ask(cluster, 'n1', backupId, asked)
    t.equal(status, 202)
    const id = String(answer['operationId'])
    await until('some versions are there', async () => {
      const { progress } = await seen(cluster, 'n1', id)
      return progress.blobsDone > 20
    })
    const steer = (how: string) =>
      cluster.admin('n1', { method: 'POST', path: `/cluster/operations/${id}/${how}` })
    t.match(JSON.parse((await steer('pause')).body.toString()), { status: 'paused' })
    t.match(JSON.parse((await steer('resume')).body.toString()), { status: 'running' })
    const leader = (await cluster.leader()) ?? 'n1'
    await cluster.signal(leader, 'SIGKILL')
    const [other = ''] = NODES.filter((nodeId) => nodeId !== leader)
    await until(
      'another node leads',
      async () => (await cluster.leader().catch(() => undefined)) !== undefined,
    )
    t.equal((await seen(cluster, other, id)).status, 'running', 'it has not ended before')
    cluster.startNode(leader)
    await until(`${leader} serves`, () => cluster.ready(leader))
    const done = (await ended(cluster, other, id)) as RestoreSeen
    t.match(done, { status: 'succeeded', error: null, restore: { missingCount: 0 } })
    t.equal(done.progress.blobsDone, done.progress.blobsTotal)
    const client = await TenantClient.of(cluster, 'n1', 'acme-then')
    for (const bucket of BUCKETS) await same(t, client, [bucket, bucket])
    const limits = await cluster.admin('n1', { method: 'GET', path: '/tenants/acme-then/quota' })
    t.match(JSON.parse(limits.body.toString()), { quota })
    // Bodies that were removed and not released yet count there, and rules that are disabled have another length.
    const [was, is] = [before, await usageOf(cluster, 'acme-then')].map((usage) => ({
      ...usage,
      tenantId: '',
      asOf: '',
      inlineBytes: 0,
      metadataBytes: 0,
    }))
    t.same(is, was, 'the usage is that of the tenant in the backup')
  })

  await t.test('the lines of the runbook, typed', async (t) => {
    const text = readFileSync(RUNBOOK, 'utf8')
    const lines = [...text.matchAll(/holdfast (backup restore-into [^\n`]+)/g)].map(([, line = '']) => line)
    t.equal(lines.length, 2)
    process.env['HOLDFAST_ADMIN_TOKEN'] = cluster.setup.ownerToken
    const here = new Map([
      ['20261127t120000z-0123abcd', backupId],
      ['nas', 'directory:weekly'],
      ['photos', 'mixed'],
    ])
    for (const line of lines) {
      const words = (line.match(/'[^']*'|\S+/g) ?? []).map(
        (word) => here.get(word) ?? word.replaceAll("'", ''),
      )
      const admin = ['--admin-endpoint', cluster.node('n2').adminUrl, '--json']
      const planned = await runCommand(...words, ...admin)
      t.equal(planned.code, 0, planned.err)
      t.match(JSON.parse(planned.out), { allowed: true, plan: { tenantId: 'acme' } })
      const run = [...words.filter((word) => word !== '--dry-run'), '--wait']
      const done = await runCommand(...run, ...admin)
      t.equal(done.code, 0, done.err)
      t.match(JSON.parse(done.out), { status: 'succeeded', error: null, restore: { missingCount: 0 } })
    }
    await same(t, acme, ['mixed', 'photos-friday'])
    const friday = await TenantClient.of(cluster, 'n3', 'acme-friday')
    for (const bucket of BUCKETS) await same(t, friday, [bucket, bucket])
  })

  await t.test('refusals change nothing', async (t) => {
    const cases: readonly (readonly [Asked, number, string])[] = [
      [{ tenant: 'acme', toTenant: 'globex' }, 409, 'already_exists'],
      [{ tenant: 'acme', bucket: 'kept', toTenant: 'acme' }, 409, 'bucket_already_exists'],
      [{ tenant: 'acme', bucket: 'kept', toTenant: 'none-such' }, 404, 'not_found'],
      [{ tenant: 'none-such', toTenant: 'other' }, 404, 'not_found'],
      [{ tenant: 'acme', bucket: 'none-such', toTenant: 'acme' }, 404, 'not_found'],
      [{ tenant: 'acme', bucket: 'kept', toTenant: 'acme', toBucket: 'No' }, 400, 'invalid_bucket_name'],
      [{ tenant: 'acme', toTenant: 'other', toBucket: 'kept' }, 400, 'invalid_argument'],
      [{ tenant: 'acme', toTenant: 'other', target: 'directory:empty' }, 404, 'not_found'],
    ]
    for (const [asked, status, code] of cases) {
      const refused = await ask(cluster, 'n1', backupId, asked)
      t.match({ status: refused.status, ...refused.answer }, { status, code }, JSON.stringify(asked))
    }
    await cluster.admin('n1', { method: 'PUT', path: '/tenants/globex/quota', body: { maxBytes: 1 } })
    const asked = { tenant: 'acme', bucket: 'kept', toTenant: 'globex', toBucket: 'kept-then' }
    const full = await ask(cluster, 'n1', backupId, asked)
    t.match(full.answer, { code: 'quota_exceeded' })
    await cluster.admin('n1', { method: 'DELETE', path: '/tenants/globex/quota' })
  })

  await t.test('a cancelled restore leaves a bucket like any other', async (t) => {
    const asked = {
      tenant: 'acme',
      bucket: 'plain',
      toTenant: 'globex',
      toBucket: 'half',
      maxBytesPerSecond: 500_000,
    }
    const { answer } = await ask(cluster, 'n1', backupId, asked)
    const id = String(answer['operationId'])
    await until('it has started', async () => (await seen(cluster, 'n1', id)).progress.blobsDone > 0)
    const held = await globex.ask('n1', { method: 'PUT', path: '/half/objects/mine', body: Buffer.from('x') })
    t.match(
      { status: held.status, ...JSON.parse(held.body.toString()) },
      { status: 409, code: 'invalid_bucket_state' },
    )
    const second = await ask(cluster, 'n1', backupId, { ...asked, toBucket: 'other' })
    t.match(second.answer, { code: 'precondition_failed' }, 'one at a time')
    const cancelled = await cluster.admin('n1', { method: 'POST', path: `/cluster/operations/${id}/cancel` })
    t.equal(cancelled.status, 200, cancelled.body.toString())
    t.match(await ended(cluster, 'n1', id), { status: 'cancelled' })
    await globex.must('n1', { method: 'PUT', path: '/half/objects/mine', body: Buffer.from('x') })
  })

  await t.test('a node that stops does not wait for a slow step', async (t) => {
    const slow = {
      tenant: 'acme',
      bucket: 'plain',
      toTenant: 'acme',
      toBucket: 'slow',
      maxBytesPerSecond: 100,
    }
    const { answer } = await ask(cluster, 'n1', backupId, slow)
    const id = String(answer['operationId'])
    await until('it reads', async () => (await seen(cluster, 'n1', id)).phase === 'restoring versions')
    const leader = (await cluster.leader()) ?? 'n1'
    t.equal(await cluster.signal(leader, 'SIGTERM'), 0)
    cluster.startNode(leader)
    await until(`${leader} serves`, () => cluster.ready(leader))
    const [other = ''] = NODES.filter((nodeId) => nodeId !== leader)
    t.match(await seen(cluster, other, id), { status: 'running', progress: { blobsDone: 0 } })
    await cluster.admin(other, { method: 'POST', path: `/cluster/operations/${id}/cancel` })
    t.match(await ended(cluster, other, id), { status: 'cancelled' })
  })

  await t.test('a damaged chunk is named, and the rest comes back', async (t) => {
    const folder = join(backups, 'weekly', 'chunks')
    const file = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .find((name) => statSync(name).size > 1_200_000 && statSync(name).size < 1_900_000)
    if (file === undefined)
      throw new Error('no chunk is as long as the end of plain/film part 1 or plain/large')
    const bytes = readFileSync(file)
    bytes[1_000] = (bytes[1_000] ?? 0) ^ 1
    writeFileSync(file, bytes)
    for (const tenant of ['acme', 'globex'])
      await cluster.admin('n1', {
        method: 'POST',
        path: '/tenants',
        body: { id: `into-${tenant}`, name: 'x' },
      })
    const seen: RestoreSeen[] = []
    for (const tenant of ['acme', 'globex'])
      seen.push(
        await restored(cluster, 'n1', backupId, { tenant, bucket: 'plain', toTenant: `into-${tenant}` }),
      )
    const missing = seen.flatMap(({ restore }) => restore.missing)
    t.match(missing.map(({ key, why }) => `${key} ${why}`).toSorted(), [
      /is damaged/,
      /^secret only its client/,
      /^secret only its client/,
    ])
    const [hurt] = seen.filter(({ restore }) => restore.missingCount === 2)
    t.match(hurt, { status: 'succeeded', error: /2 versions did not come back/ })
    const tenant = hurt === seen[0] ? 'acme' : 'globex'
    const client = await TenantClient.of(cluster, 'n1', `into-${tenant}`)
    if (tenant === 'acme')
      t.same(
        await versionsOf(client, 'n1', 'plain'),
        model.get('plain')?.filter((one) => !missing.some(({ key }) => key === one['key'])),
      )
  })

  t.match(await recounted(cluster, 'n1'), { differences: 0 })
  for (const nodeId of NODES) await cluster.signal(nodeId, 'SIGTERM')
})
