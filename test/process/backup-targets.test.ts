/** A scheduled backup into the bucket of another cluster, by the commands that an operator types; then a prune. [docs/adr/0087-backup-targets-and-schedules.md] */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { runCommand } from '../helpers/run-command.ts'

interface Schedule {
  readonly run: object | null
  readonly failures: number
  readonly lastGood: { readonly backupId: string } | null
}
interface Listed {
  readonly backupId: string
  readonly backup: { readonly missingCount: number } | null
}

t.test('a cluster backs itself up into another one', { timeout: 600_000 }, async (t) => {
  const store = await ProcessCluster.start(t, 1)
  await store.login('n1')
  await store.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'backups' }))
  const cluster = await ProcessCluster.start(t, 1)
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
  const { status } = await cluster.call(
    'n1',
    'PUT',
    '/buckets/kept/objects/a',
    Buffer.alloc(9_000_000, 'kept '),
  )
  t.ok(status < 300)
  const folder = temporaryFolder(t)
  const keyFile = join(folder, 'far.env')
  const { accessKeyId, secretKey, ownerToken } = { ...store.setup, ownerToken: cluster.setup.ownerToken }
  writeFileSync(keyFile, `AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretKey}\n`)
  process.env['HOLDFAST_ADMIN_TOKEN'] = ownerToken
  const admin = ['--admin-endpoint', cluster.node('n1').adminUrl, '--json']
  const run = async (...words: readonly string[]) => {
    const { code, out, err } = await runCommand('backup', ...words, ...admin)
    t.equal(code, 0, `${words.join(' ')}: ${err}${out}`)
    return out
  }
  const parsed = async <T>(...words: readonly string[]): Promise<T> => JSON.parse(await run(...words)) as T
  const listed = async (): Promise<readonly Listed[]> =>
    (await run('list', '--from', 'far'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Listed)

  const to = [
    '--s3',
    store.node('n1').dataUrl,
    '--bucket',
    'backups',
    '--prefix',
    'of/first',
    '--key-file',
    keyFile,
  ]
  await run('target', 'set', 'far', ...to, '--dry-run')
  await run('target', 'set', 'far', ...to)
  await run('schedule', 'set', 'minutely', '--to', 'far', '--when', '* * * * *', '--keep-last', '2')
  const schedule = () => parsed<Schedule>('schedule', 'show', 'minutely')
  await until('a scheduled backup is good', async () => (await schedule()).lastGood !== null)
  await run(
    'schedule',
    'set',
    'minutely',
    '--to',
    'far',
    '--when',
    '* * * * *',
    '--keep-last',
    '2',
    '--paused',
  )
  await until('none is under way', async () => (await schedule()).run === null)
  t.match(await schedule(), { failures: 0 })
  t.match((await listed()).at(-1), { backup: { missingCount: 0 } })

  await t.test('its start is audited, and the doctor says that the schedule is paused', async (t) => {
    const asked = ['--operation', 'startScheduledBackup', ...admin]
    const { out } = await runCommand('audit', 'query', ...asked)
    const rows = out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as object)
    t.match(rows.at(-1), { api: 'internal', method: 'WORK', status: 202, details: { name: 'minutely' } })
    const examined = await runCommand('doctor', '--config', cluster.node('n1').configFile, '--json')
    const { findings } = JSON.parse(examined.out) as { findings: readonly { check: string; found: string }[] }
    t.match(
      findings.filter(({ check }) => check === 'backups'),
      [{ severity: 'warning', found: /"minutely" is paused; its last good backup is that of 20/ }],
    )
  })

  // A good backup is followed by a prune.
  await until('no operation is under way', async () => {
    const { body } = await cluster.admin('n1', { method: 'GET', path: '/cluster/operations' })
    const { operations } = JSON.parse(body.toString()) as {
      readonly operations: readonly { readonly status: string }[]
    }
    return operations.every((one) => !['queued', 'running'].includes(one.status))
  })
  await run('create', '--to', 'far', '--reason', 'a test', '--wait')
  const before = await listed()
  t.ok(before.length > 1)
  await run('prune', '--from', 'far', '--keep-last', '1', '--reason', 'a test', '--dry-run')
  t.same(await listed(), before, 'a dry run removes nothing')
  await run('prune', '--from', 'far', '--keep-last', '1', '--reason', 'a test', '--wait')
  t.same(await listed(), before.slice(-1))

  await t.test('and the bucket is read without the cluster', async (t) => {
    process.env['AWS_ACCESS_KEY_ID'] = accessKeyId ?? ''
    process.env['AWS_SECRET_ACCESS_KEY'] = secretKey ?? ''
    const from = `s3:${store.node('n1').dataUrl}/backups/of/first`
    const { code, err, out } = await runCommand(
      'backup',
      'verify',
      '--config',
      cluster.node('n1').configFile,
      '--from',
      from,
    )
    t.equal(code, 0, err + out)
    process.env['AWS_SECRET_ACCESS_KEY'] = 'wrong'
    const refused = await runCommand(
      'backup',
      'verify',
      '--config',
      cluster.node('n1').configFile,
      '--from',
      from,
    )
    t.not(refused.code, 0)
    t.match(refused.err, /the secret is wrong/)
  })
})
