/** Service accounts, and access keys that belong to them, through real sockets. */
import t from 'tap'
import { ACCOUNTS_PER_TENANT_MAX } from '../../src/state-machine/tenants/records.ts'
import { type Ask, ApiWorld, type ApiAnswer } from './api-world.ts'

const TENANTS = '/admin/api/v1/tenants'
const ACCOUNTS = `${TENANTS}/acme/accounts`
const KEYS = `${TENANTS}/acme/keys`

async function start(t: Parameters<typeof ApiWorld.start>[0]) {
  const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 } })
  await world.memory.tenant('acme')
  await world.memory.tenant('evil')
  const token = await world.memory.adminToken('operator')
  const call = (ask: Ask): Promise<ApiAnswer> => world.call({ admin: true, token, ...ask })
  const post = (path: string, body: object): Promise<ApiAnswer> => call({ method: 'POST', path, body })
  const accounts = async (path = ACCOUNTS) =>
    (await call({ path })).json['accounts'] as Record<string, unknown>[]
  return { world, call, post, accounts }
}

t.test(
  'an account is created and listed [admin.accounts.create] [admin.accounts.list] [admin.accounts.record]',
  async (t) => {
    const { world, call, post, accounts } = await start(t)
    const made = await post(ACCOUNTS, { name: 'ci', description: 'builds' })
    t.match(made, { status: 201, headers: { location: `${ACCOUNTS}/${String(made.json['id'])}` } })
    t.match(made.json, { id: /^acc_[0-9A-Z]{26}$/, tenantId: 'acme', name: 'ci', description: 'builds' })
    t.match(made.json, { status: 'active', createdAt: /Z$/, keyCount: 0 })
    t.same(Object.keys(made.json).sort(), [
      'createdAt',
      'description',
      'id',
      'keyCount',
      'name',
      'status',
      'tenantId',
    ])
    t.match((await post(ACCOUNTS, { name: 'nachts 🌙' })).json, { name: 'nachts 🌙', description: '' })
    t.same((await accounts())[0], made.json)
    t.equal((await accounts()).length, 2)
    t.same(await accounts(`${TENANTS}/evil/accounts`), [], 'another tenant has its own')
    const first = await call({ path: `${ACCOUNTS}?limit=1` })
    const next = String(first.json['nextContinuationToken'])
    const rest = await call({ path: `${ACCOUNTS}?continuationToken=${next}` })
    t.match([first.json, rest.json], [{ isTruncated: true }, { isTruncated: false }])
    t.match(rest.json['accounts'], [{ name: 'nachts 🌙' }])
    t.match(await call({ path: `${TENANTS}/evil/accounts?continuationToken=${next}` }), {
      status: 400,
      code: 'invalid_continuation_token',
    })
    const viewer = await world.memory.adminToken('viewer')
    t.equal((await call({ path: ACCOUNTS, token: viewer })).status, 200)
    t.match(await call({ method: 'POST', path: ACCOUNTS, token: viewer, body: { name: 'x' } }), {
      status: 403,
      code: 'access_denied',
    })
    const foreign = await world.memory.adminToken('owner', 'evil')
    for (const method of ['GET', 'POST'])
      t.match(
        await call({
          method,
          path: ACCOUNTS,
          token: foreign,
          ...(method === 'GET' ? {} : { body: { name: 'x' } }),
        }),
        { status: 403, code: 'tenant_scope_denied' },
      )
  },
)

t.test('an account is refused [admin.accounts.refused]', async (t) => {
  const { call, post, accounts } = await start(t)
  for (const body of [{}, { name: '' }, { name: 7 }, { name: 'x'.repeat(257) }, { name: 'ci', id: 'acc_1' }])
    t.match(await post(ACCOUNTS, body), { status: 400, code: 'invalid_request' }, JSON.stringify(body))
  t.match(await post(ACCOUNTS, { name: 'ci', descripton: 'x' }), {
    code: 'invalid_request',
    json: { message: /descripton.*description/ },
  })
  t.match(await post(ACCOUNTS, { name: 'a\u0000b' }), { status: 400, code: 'invalid_argument' })
  const absentTenant = `${TENANTS}/absent/accounts`
  t.match(await post(absentTenant, { name: 'ci' }), { status: 404, code: 'not_found' })
  t.match(await call({ path: absentTenant }), { status: 404, code: 'not_found' })
  await post(ACCOUNTS, { name: 'ci' })
  t.match(await post(ACCOUNTS, { name: 'ci' }), { status: 409, code: 'already_exists' })
  t.match(await post(`${ACCOUNTS}?dryRun=true`, { name: 'ci' }), {
    status: 200,
    json: {
      allowed: false,
      plan: { name: 'ci', accounts: 1, accountsMax: ACCOUNTS_PER_TENANT_MAX },
      blockers: [{ code: 'already_exists' }],
    },
  })
  t.equal((await accounts()).length, 1)
})

t.test('a disabled tenant gets no new account and no new key', async (t) => {
  const { world, post } = await start(t)
  await world.memory.change({ type: 'disableTenant', tenantId: 'acme', reason: 'left' })
  for (const [path, body] of [
    [ACCOUNTS, { name: 'ci' }],
    [KEYS, {}],
  ] as const) {
    const expected = { code: 'precondition_failed', message: /tenant "acme" is disabled/ }
    t.match(await post(path, body), { status: 412, json: expected })
    t.match((await post(`${path}?dryRun=true`, body)).json, { allowed: false, blockers: [expected] })
  }
})

t.test(
  'a key belongs to an account of its tenant [admin.keys.account] [admin.accounts.key-count]',
  async (t) => {
    const { call, post, accounts } = await start(t)
    const { json: ci } = await post(ACCOUNTS, { name: 'ci' })
    const { json: theirs } = await post(`${TENANTS}/evil/accounts`, { name: 'ci' })
    const key = await post(KEYS, { accountId: ci['id'], name: 'one' })
    t.match(key, { status: 201, json: { accountId: ci['id'], name: 'one', lastUsedAt: null } })
    await post(KEYS, { accountId: ci['id'] })
    t.match((await post(KEYS, {})).json, { accountId: null })
    t.match((await post(KEYS, { accountId: null, name: null, expiresAt: null })).json, { accountId: null })
    const path = `${KEYS}/${String(key.json['accessKeyId'])}`
    t.match((await post(`${path}/rotate`, {})).json, { accountId: ci['id'], name: 'one' })
    t.match(await accounts(), [{ keyCount: 2 }])
    const listed = (await call({ path: KEYS })).json['keys'] as Record<string, unknown>[]
    t.equal(listed.filter(({ accountId }) => accountId === ci['id']).length, 2)
    for (const query of ['', '?dryRun=true'])
      for (const accountId of [theirs['id'], 'acc_none', ''])
        t.match(
          await post(KEYS + query, { accountId }),
          { status: 404, code: 'not_found' },
          String(accountId),
        )
    t.equal(((await call({ path: KEYS })).json['keys'] as object[]).length, 4, 'and none was created')
    await post(`${path}/revoke`, { reason: 'lost' })
    t.match(await accounts(), [{ keyCount: 1 }])
  },
)

t.test('dry runs of keys show the present and the planned key', async (t) => {
  const { post } = await start(t)
  const { json: key } = await post(KEYS, { scopes: 'read', expiresAt: '2999-01-31' })
  const path = `${KEYS}/${String(key['accessKeyId'])}`
  const expiresAt = '2999-01-31T00:00:00.000Z'
  t.match((await post(`${KEYS}?dryRun=true`, { scopes: 'write' })).json, {
    tenantId: 'acme',
    plan: { key: { scopes: 'write', expiresAt: null, version: 1 }, activeKeys: 1 },
  })
  t.match((await post(`${path}/rotate?dryRun=true`, { scopes: 'write' })).json, {
    plan: {
      accessKeyId: key['accessKeyId'],
      before: { scopes: 'read', expiresAt, version: 1 },
      after: { scopes: 'write', expiresAt, version: 2 },
    },
    warnings: [/end at once/],
  })
  const revocation = (await post(`${path}/revoke?dryRun=true`, { reason: 'lost' })).json
  t.match(revocation, { plan: { statusBefore: 'active', statusAfter: 'revoked' }, warnings: [/never/] })
  await post(`${path}/revoke`, { reason: 'lost' })
  t.match((await post(`${path}/rotate?dryRun=true`, {})).json, {
    allowed: false,
    plan: { before: { version: 1 }, after: null },
    blockers: [{ code: 'precondition_failed' }],
  })
  t.match((await post(`${path}/revoke?dryRun=true`, { reason: 'again' })).json, {
    allowed: true,
    plan: { statusBefore: 'revoked', statusAfter: 'revoked' },
  })
  for (const [at, body, code] of [
    [`${path}/revoke`, {}, 'reason_required'],
    [KEYS, { scopes: 'fly' }, 'invalid_argument'],
    [KEYS, { expiresAt: '2001-01-01' }, 'invalid_request'],
  ] as const)
    t.match(await post(`${at}?dryRun=true`, body), { status: 400, code }, 'a malformed request is refused')
})

t.test('a rotation that leaves the key expired is warned of', async (t) => {
  const { world, post } = await start(t)
  const { accessKeyId } = await world.memory.accessKey('acme', 'read', 1_000)
  t.match((await post(`${KEYS}/${accessKeyId}/rotate?dryRun=true`, {})).json, {
    allowed: true,
    warnings: [/end at once/, /expired at 1970-01-01T00:00:01.000Z and would stay so/],
  })
})
