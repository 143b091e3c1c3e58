/**
 * Profiles and the tokens that commands share: what is kept, what counts first, and what is refused.
 */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { dataAccess, tenantOf } from '../../src/cli/base/cluster-access.ts'
import { tokenCache } from '../../src/cli/base/token-cache.ts'
import { CliWorld } from '../helpers/cli-world.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const folderOf = (cli: CliWorld): string => join(cli.file('config'), 'holdfast')
const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8)

/** A world whose key is only in a file. */
async function loggedOut(t: Test) {
  const cli = await CliWorld.start(t)
  const secret = process.env['HOLDFAST_SECRET_KEY'] ?? ''
  const id = process.env['HOLDFAST_ACCESS_KEY_ID'] ?? ''
  writeFileSync(cli.file('secret'), `${secret}\n`)
  cli.set({
    HOLDFAST_ENDPOINT: undefined,
    HOLDFAST_ACCESS_KEY_ID: undefined,
    HOLDFAST_SECRET_KEY: undefined,
  })
  const as = (endpoint = cli.endpoint) =>
    `--endpoint ${endpoint} --access-key-id ${id} --secret-file ${cli.file('secret')}`
  return { cli, id, secret, as }
}

t.test('holdfast login', async (t) => {
  const { cli, id, secret, as } = await loggedOut(t)
  const file = join(folderOf(cli), 'profiles.json')

  await t.test('saves what the service has accepted, for its owner alone, and uses it', async (t) => {
    t.match(await cli.run('ls'), { code: 2, err: /No endpoint is configured\n.*holdfast login/ })
    t.match(
      await cli.run('login'),
      { code: 2, err: /--endpoint is missing/ },
      'without a terminal nothing is asked',
    )
    const done = await cli.run(`login work ${as()}`)
    t.match(done, { code: 0, out: '', err: /the tenant acme\.[^]*Logged in/ })
    t.equal(modeOf(file), '600')
    t.equal(modeOf(folderOf(cli)), '700')
    t.same(readdirSync(folderOf(cli)), ['profiles.json'], 'no temporary file stays')
    t.match(await cli.run('ls'), { code: 0, out: /photos/ })
    const listed = await cli.json('profiles')
    t.match(listed, [{ name: 'work', isUsed: true, accessKeyId: id, hasAdminToken: false }])
    t.notMatch(JSON.stringify([done, listed, await cli.run('profiles')]), secret)
  })

  await t.test('saves nothing that is refused', async (t) => {
    writeFileSync(cli.file('wrong'), 'wrong')
    const refused = await cli.run(`login home ${as()} --secret-file ${cli.file('wrong')}`)
    t.match(refused, { code: 1, err: /401 invalid_credentials/ })
    t.match(
      await cli.run('login home --admin-endpoint http://127.0.0.1:1', ...as('http://127.0.0.1:1').split(' ')),
      {
        code: 4,
      },
    )
    t.match(await cli.json('profiles'), [{ name: 'work' }])
  })

  await t.test('has several, also for the admin API, and changes between them', async (t) => {
    const admin = `http://127.0.0.1:${cli.world.adminPort}`
    writeFileSync(cli.file('token'), await cli.world.memory.adminToken('owner'))
    const more = ['--admin-endpoint', admin, '--token-file', cli.file('token'), '--tenant', 'acme']
    t.match(await cli.json(`login admin ${as()}`, ...more), [
      { name: 'admin', isUsed: true, hasAdminToken: true },
    ])
    t.match(await cli.run('usage'), { code: 0, out: /^tenant +acme\n/ })
    t.match(await cli.run('use work'), { code: 0 })
    t.match(await cli.run('usage'), { code: 2 }, 'that one has no admin API')
    t.match(await cli.run('usage --profile admin'), { code: 0 })
    t.match(await cli.run('--profile admin usage'), { code: 0 }, 'before the command too')
    t.match(await cli.run('use none'), {
      code: 2,
      err: /There is no profile 'none'\n {2}There are: work, admin\./,
    })
  })

  await t.test('is refused while others can read the file, and says the chmod', async (t) => {
    chmodSync(file, 0o640)
    t.match(await cli.run('ls'), { code: 2, err: `chmod 600 ${file}` })
    t.match(await cli.run(`login more ${as()}`), { code: 2, err: /chmod 600/ })
    chmodSync(file, 0o600)
    t.match(await cli.run('ls'), { code: 0 })
  })

  await t.test('logout removes the profile and its token', async (t) => {
    t.match(readFileSync(join(folderOf(cli), 'tokens.json'), 'utf8'), /svctk_/)
    t.match(await cli.run('logout admin'), { code: 0 })
    t.match(await cli.run('logout'), { code: 0 })
    t.notMatch(readFileSync(join(folderOf(cli), 'tokens.json'), 'utf8'), /svctk_/)
    t.same(await cli.json('profiles'), [])
    t.match(await cli.run('ls'), { code: 2 })
  })
})

t.test('which source counts', async (t) => {
  const profile = { endpoint: 'http://a:1,http://b:1', accessKeyId: 'AKA', secretKey: 'a', tenant: 'ta' }
  const stored = JSON.stringify({
    current: 'a',
    profiles: { a: profile, b: { ...profile, endpoint: 'http://c:1' } },
  })
  const around = (env: Readonly<Record<string, string>> = {}) => ({
    env: { XDG_CONFIG_HOME: '/config', ...env },
    read: (file: string) => (file === '/config/holdfast/profiles.json' ? stored : null),
  })
  const own = { HOLDFAST_ACCESS_KEY_ID: 'AKE', HOLDFAST_SECRET_KEY: 'e', HOLDFAST_TENANT: 'te' }
  t.same(dataAccess({}, around()), {
    endpoints: ['http://a:1', 'http://b:1'],
    accessKeyId: 'AKA',
    secretKey: 'a',
  })
  t.match(dataAccess({}, around(own)), { accessKeyId: 'AKE' }, 'the environment before the profile in use')
  t.match(dataAccess({ profile: 'b' }, around(own)), { endpoints: ['http://c:1'], accessKeyId: 'AKA' })
  const elsewhere = { ...own, HOLDFAST_ENDPOINT: 'http://e:1', HOLDFAST_TOKEN: 'svctk_e' }
  t.match(dataAccess({ profile: 'b' }, around(elsewhere)), { endpoints: ['http://c:1'], accessKeyId: 'AKA' })
  t.match(dataAccess({}, around({ HOLDFAST_PROFILE: 'b' })), { endpoints: ['http://c:1'] })
  t.throws(
    () => dataAccess({ endpoint: 'http://e:1' }, around()),
    { code: 'invalid_argument' },
    'no secret is sent to nodes that the profile does not name',
  )
  t.throws(() => dataAccess({ profile: 'constructor' }, around()), /There is no profile/)
  t.equal(tenantOf({}, around()), 'ta')
  t.equal(tenantOf({}, around(own)), 'te')
  t.equal(tenantOf({ profile: 'b' }, around(own)), 'ta')
  t.match(
    dataAccess({}, around({ HOLDFAST_CA_FILE: '' })),
    { accessKeyId: 'AKA' },
    'an empty variable is none',
  )
})

t.test('commands share a token', async (t) => {
  const cli = await CliWorld.start(t)
  const exchanges = () =>
    cli.world.memory.auditRows.filter(({ operation }) => operation === 'createToken').length
  const file = join(folderOf(cli), 'tokens.json')

  await t.test('as long as it is good', async (t) => {
    for (let n = 0; n < 5; n++) t.match(await cli.run('ls'), { code: 0 })
    t.equal(exchanges(), 1)
    t.equal(modeOf(file), '600')
    t.notMatch(readFileSync(file, 'utf8'), process.env['HOLDFAST_SECRET_KEY'] ?? '')
  })

  await t.test('and replace one that is refused, once', async (t) => {
    const spoiled = readFileSync(file, 'utf8').replace(/svctk_[^"]+/, 'svctk_spoiled')
    writeFileSync(file, spoiled)
    const before = exchanges()
    t.match(await cli.run('ls'), { code: 0 })
    t.match(await cli.run('ls'), { code: 0 })
    t.equal(exchanges(), before + 1)
    t.notMatch(readFileSync(file, 'utf8'), 'svctk_spoiled')
  })

  await t.test(
    'but none that others can read, none of another secret, and none when it is off',
    async (t) => {
      chmodSync(file, 0o644)
      const before = exchanges()
      t.match(await cli.run('ls'), { code: 0 })
      t.equal(exchanges(), before + 1)
      t.equal(modeOf(file), '600')
      process.env['HOLDFAST_TOKEN_CACHE'] = 'off'
      t.match(await cli.run('ls'), { code: 0 })
      delete process.env['HOLDFAST_TOKEN_CACHE']
      t.equal(exchanges(), before + 2)
      cli.set({ HOLDFAST_SECRET_KEY: 'wrong' })
      t.match(await cli.run('ls'), { code: 1, err: /401/ })
    },
  )
})

t.test('a token is kept for its owner and until its end, and the file stays small', async (t) => {
  const env = { XDG_CONFIG_HOME: temporaryFolder(t) }
  let now = 1000
  const of = (accessKeyId: string) =>
    tokenCache({ endpoints: ['http://a'], accessKeyId, secretKey: 's' }, env, () => now)
  await of('a')?.save({ token: 't', renewAt: 2000 })
  t.same(await of('a')?.load(), { token: 't', renewAt: 2000 })
  t.equal(await of('b')?.load(), null)
  await of('a')?.drop('another')
  t.match(await of('a')?.load(), { token: 't' })
  now = 2000
  for (let n = 0; n < 100; n++) await of(`k${n}`)?.save({ token: 'x', renewAt: 3000 })
  t.equal(await of('a')?.load(), null, 'the write after its end removes it')
  t.equal(await of('k0')?.load(), null)
  t.match(await of('k99')?.load(), { token: 'x' })
  writeFileSync(join(env.XDG_CONFIG_HOME, 'holdfast', 'tokens.json'), '{"', { mode: 0o600 })
  t.equal(await of('k99')?.load(), null, 'a damaged file is none')
  t.equal(tokenCache({ endpoints: [], accessKeyId: 'a', secretKey: 's' }, {}), null)
})
