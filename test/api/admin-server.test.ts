/**
 * The admin plane through real sockets: tenants, access keys, roles, tenant scopes, metrics.
 */
import t from 'tap'
import { type Ask, ApiWorld } from './api-world.ts'

const TENANTS = '/admin/api/v1/tenants'

t.test('tenants', async (t) => {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('operator')
  const call = (ask: Ask) => world.call({ admin: true, token, ...ask })
  const create = (body: object) => call({ method: 'POST', path: TENANTS, body })
  const made = await create({ id: 'acme', name: 'Acme Inc.' })
  t.equal(made.status, 201)
  t.equal(made.headers.location, `${TENANTS}/acme`)
  t.match(made.json, { id: 'acme', name: 'Acme Inc.', status: 'active', disabledAt: null })
  t.same((await call({ path: `${TENANTS}/acme` })).json, made.json)
  t.equal((await create({ name: '  Größe & Söhne GmbH ' })).json['id'], 'gro-e-sohne-gmbh')
  t.match(await create({ id: 'acme', name: 'x' }), { status: 409, code: 'already_exists' })
  t.match(
    await create({ name: 'Acme' }),
    { status: 409, code: 'already_exists' },
    'a made id may be taken too',
  )
  for (const id of ['a', 'A-b', 'a_b', 'x'.repeat(64), '', 'a/b', 'a\u0000']) {
    t.match(await create({ id, name: 'x' }), { status: 400, code: 'invalid_request' }, JSON.stringify(id))
  }
  t.match(await create({ name: '日本' }), { status: 400, code: 'invalid_request' }, 'no id can be made')
  t.match(await create({ name: '' }), { status: 400, code: 'invalid_request' })
  t.match(await call({ path: `${TENANTS}/absent` }), { status: 404, code: 'not_found' })
  t.match(await call({ path: `${TENANTS}/%00` }), { status: 404, code: 'not_found' })

  const ids = (json: Record<string, unknown>) => (json['tenants'] as { id: string }[]).map(({ id }) => id)
  const first = await call({ path: `${TENANTS}?limit=1` })
  t.same(ids(first.json), ['acme'])
  const rest = await call({
    path: `${TENANTS}?continuationToken=${String(first.json['nextContinuationToken'])}`,
  })
  t.same(ids(rest.json), ['gro-e-sohne-gmbh'])
  t.equal(rest.json['isTruncated'], false)
  const dry = await call({ method: 'POST', path: `${TENANTS}?dryRun=true`, body: { id: 'dry', name: 'x' } })
  t.match(dry, { status: 200, json: { dryRun: true, allowed: true, plan: { id: 'dry' } } })
  t.match(await call({ path: `${TENANTS}/dry` }), { status: 404 }, 'a dry run changes nothing')
})

t.test(
  'access keys [admin.keys.create] [admin.keys.record] [admin.keys.body] [admin.keys.scopes] [admin.keys.expires-at] [admin.keys.no-store]',
  async (t) => {
    const world = await ApiWorld.start(t)
    await world.memory.tenant('acme')
    await world.memory.tenant('evil')
    const token = await world.memory.adminToken('operator')
    const call = (ask: Ask) => world.call({ admin: true, token, ...ask })
    const keys = `${TENANTS}/acme/keys`
    const create = (body?: object) => call({ method: 'POST', path: keys, ...(body ? { body } : {}) })
    const made = await create({
      name: 'ci',
      scopes: 'op=read:bucket=photos:prefix=in/',
      expiresAt: '2999-01-31',
    })
    t.equal(made.status, 201)
    t.equal(made.headers['cache-control'], 'no-store')
    t.match(made.json, {
      accessKeyId: /^AK[A-Z2-7]{18}$/,
      secretKey: /^[\w-]{40}$/,
      tenantId: 'acme',
      name: 'ci',
      scopes: 'op=read:bucket=photos:prefix=in/',
      expiresAt: '2999-01-31T00:00:00.000Z',
      version: 1,
    })
    t.equal(made.headers.location, `${keys}/${String(made.json['accessKeyId'])}`)
    const members =
      'accessKeyId accountId createdAt expiresAt lastUsedAt name revokedAt revokedReason rotatedAt scopes status tenantId version'.split(
        ' ',
      )
    t.same(Object.keys(made.json).sort(), [...members, 'secretKey'].sort())
    const plain = await create()
    t.match(
      plain.json,
      { scopes: 'read,write,delete', name: null, expiresAt: null },
      'no body means the defaults',
    )
    t.equal(
      (await create({ expiresAt: '2999-01-31T12:00:00+02:00' })).json['expiresAt'],
      '2999-01-31T10:00:00.000Z',
    )

    const verbatim = 'op=write:bucket=photos:prefix=x/,op=read:bucket=*:prefix='
    t.equal((await create({ scopes: verbatim })).json['scopes'], verbatim)
    t.equal((await create({ scopes: 'write,read' })).json['scopes'], 'write,read')
    t.match(await create({ scope: 'read' }), { code: 'invalid_request', json: { message: /scope.*scopes/ } })

    for (const scopes of ['', 'fly', 'read,', 'op=read:bucket=photos', 'read,op=write:bucket=*:prefix=']) {
      const refused = await create({ scopes })
      t.equal(refused.status, 400, `scopes ${JSON.stringify(scopes)}`)
    }
    for (const expiresAt of ['2001-01-01', 'tomorrow', '2999-02-30', '2999-01-31T12:00:00', '']) {
      t.match(await create({ expiresAt }), { status: 400, code: 'invalid_request' }, `expiresAt ${expiresAt}`)
    }

    await t.test('are listed without secrets [admin.keys.list]', async (t) => {
      const all = await call({ path: keys })
      const listed = all.json['keys'] as Record<string, unknown>[]
      t.equal(listed.length, 5)
      for (const key of listed) t.same(Object.keys(key).sort(), members)
      t.notMatch(all.bytes.toString(), String(made.json['secretKey']))
      const first = await call({ path: `${keys}?limit=3` })
      const rest = await call({
        path: `${keys}?limit=2&continuationToken=${String(first.json['nextContinuationToken'])}`,
      })
      const ids = [first, rest].flatMap(({ json }) =>
        (json['keys'] as { accessKeyId: string }[]).map((key) => key.accessKeyId),
      )
      t.same(
        ids,
        listed.map((key) => key['accessKeyId']),
      )
      t.equal((await call({ path: `${TENANTS}/evil/keys` })).json['isTruncated'], false)
    })

    await t.test(
      'are rotated: same id, new secret [admin.keys.rotate] [admin.keys.rotate.keeps] [admin.keys.other-tenant]',
      async (t) => {
        const id = String(made.json['accessKeyId'])
        const rotate = (body?: object) =>
          call({ method: 'POST', path: `${keys}/${id}/rotate`, ...(body ? { body } : {}) })
        const rotated = await rotate()
        t.equal(rotated.status, 200)
        t.equal(rotated.headers['cache-control'], 'no-store')
        t.match(rotated.json, {
          accessKeyId: id,
          version: 2,
          scopes: made.json['scopes'],
          expiresAt: made.json['expiresAt'],
        })
        t.not(rotated.json['secretKey'], made.json['secretKey'])
        const old = {
          method: 'POST',
          path: '/api/v1/auth/token',
          body: { accessKeyId: id, secretKey: made.json['secretKey'] },
        }
        t.match(await world.call(old), { status: 401, code: 'invalid_credentials' })
        t.match((await rotate({ scopes: 'read', expiresAt: null })).json, {
          scopes: 'read',
          expiresAt: null,
          version: 3,
        })
        t.equal((await rotate({ scopes: '' })).status, 400)
        t.match(await call({ method: 'POST', path: `${TENANTS}/evil/keys/${id}/rotate` }), {
          status: 404,
          code: 'not_found',
        })
        t.match(await call({ method: 'POST', path: `${keys}/AKNOBODY/rotate` }), {
          status: 404,
          code: 'not_found',
        })
      },
    )

    await t.test(
      'are revoked for a reason, once and for all [admin.keys.revoke] [admin.keys.revoke.reason] [admin.keys.revoke.again] [admin.keys.rotate.revoked]',
      async (t) => {
        const id = String(plain.json['accessKeyId'])
        const revoke = (body?: object | string) =>
          call({ method: 'POST', path: `${keys}/${id}/revoke`, ...(body === undefined ? {} : { body }) })
        for (const body of [undefined, {}, { reason: '' }, { reason: '  ' }]) {
          t.match(await revoke(body), { status: 400, code: 'reason_required' }, JSON.stringify(body))
        }
        const revoked = await revoke({ reason: 'lost' })
        t.match(revoked, { status: 200, json: { status: 'revoked', revokedReason: 'lost' } })
        t.same(Object.keys(revoked.json).sort(), members)
        t.same((await revoke({ reason: 'again' })).json, revoked.json, 'the first reason stays')
        t.match(
          await call({ method: 'POST', path: `${keys}/${id}/rotate` }),
          { status: 412, code: 'precondition_failed' },
          'a revoked key never comes back',
        )
      },
    )
  },
)

t.test('JSON bodies', async (t) => {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('operator')
  const post = (body: string | Buffer, headers: Ask['headers'] = { 'content-type': 'application/json' }) =>
    world.call({ method: 'POST', path: TENANTS, admin: true, token, body, headers })
  const cases: readonly (readonly [string | Buffer, number, string])[] = [
    ['{"name":"a","name":"b"}', 400, 'invalid_json'],
    ['{"name":"a","n\\u0061me":"b"}', 400, 'invalid_json'],
    ['{"name":{"x":1,"x":2}}', 400, 'invalid_json'],
    ['{"name":', 400, 'invalid_json'],
    ['nope', 400, 'invalid_json'],
    [Buffer.from('7b226e616d65223a22ff227d', 'hex'), 400, 'invalid_json'],
    ['[]', 400, 'invalid_request'],
    ['null', 400, 'invalid_request'],
    ['"x"', 400, 'invalid_request'],
    ['{}', 400, 'invalid_request'],
    ['{"name":5}', 400, 'invalid_request'],
    ['{"nmae":"x"}', 400, 'invalid_request'],
    ['{"name":"x","__proto__":{"a":1}}', 400, 'invalid_request'],
    ['['.repeat(200_000), 400, 'invalid_json'],
    [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, 400, 'invalid_json'],
    [`{"name":"${'x'.repeat(1024 * 1024)}"}`, 413, 'entity_too_large'],
  ]
  for (const [body, status, code] of cases)
    t.match(await post(body), { status, code }, String(body).slice(0, 40))
  t.match((await post('{"nmae":"x"}')).json['message'], /"nmae" is unknown; did you mean "name"\?/)
  t.match((await post('{"name":"a","name":"b"}')).json['message'], /"name" more than once/)
  const chunked = {
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
    'content-length': undefined,
  }
  t.match(await post('x'.repeat(1024 * 1024 + 1), chunked), { status: 413, code: 'entity_too_large' })
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    '?',
    undefined,
  ]) {
    const headers = type === undefined ? {} : { 'content-type': type }
    t.match(
      await post('{"name":"x"}', headers),
      { status: 415, code: 'unsupported_media_type' },
      String(type),
    )
  }
  t.equal(
    (await post('\ufeff{"name":"bom"}', { 'content-type': 'Application/JSON; charset="UTF-8"' })).status,
    201,
  )
  const readOnly = await world.memory.adminToken('viewer')
  const denied = { method: 'POST', path: TENANTS, admin: true, token: readOnly, body: '{"name":' }
  t.match(
    await world.call(denied),
    { status: 403, code: 'access_denied' },
    'the role is asked before the body is read',
  )
})

t.test('roles and tenant scopes [admin.roles.viewer] [admin.roles.tenant]', async (t) => {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')
  await world.memory.tenant('evil')
  const { accessKeyId } = await world.memory.accessKey('acme', 'read')
  const tokens = {
    viewer: await world.memory.adminToken('viewer'),
    operator: await world.memory.adminToken('operator'),
    scopedViewer: await world.memory.adminToken('viewer', 'evil'),
    scopedOperator: await world.memory.adminToken('operator', 'evil'),
    ofTheOtherKind: await world.memory.bearer('acme', 'read,write,delete,admin'),
    expired: await world.memory.adminToken('owner', null, world.memory.now - 1),
  }
  const key = `${TENANTS}/acme/keys/${accessKeyId}`
  const reads = [TENANTS, `${TENANTS}/acme`, `${TENANTS}/acme/keys`, `${TENANTS}/absent`]
  const writes = [TENANTS, `${TENANTS}/acme/keys`, `${key}/rotate`, `${key}/revoke`]
  for (const path of reads) {
    const { status } = await world.call({ path, admin: true, token: tokens.viewer })
    t.equal(status, path.endsWith('absent') ? 404 : 200, `viewer reads ${path}`)
    t.match(await world.call({ path, admin: true }), { status: 401, code: 'unauthorized' })
    t.match(await world.call({ path, admin: true, token: tokens.ofTheOtherKind }), {
      status: 401,
      code: 'token_invalid',
    })
    t.match(await world.call({ path, admin: true, token: tokens.expired }), {
      status: 401,
      code: 'token_expired',
    })
  }
  for (const path of writes) {
    const ask = { method: 'POST', path, admin: true, body: {} }
    t.match(
      await world.call({ ...ask, token: tokens.viewer }),
      { status: 403, code: 'access_denied' },
      `viewer writes ${path}`,
    )
    const scoped = await world.call({ ...ask, token: tokens.scopedOperator })
    t.match(scoped, { status: 403, code: 'tenant_scope_denied' }, `another tenant's operator writes ${path}`)
  }
  for (const path of reads.slice(1)) {
    const scoped = await world.call({ path, admin: true, token: tokens.scopedViewer })
    t.match(scoped, { status: 403, code: 'tenant_scope_denied' }, `${path}: 403, never 404`)
  }
  const own = await world.call({ path: TENANTS, admin: true, token: tokens.scopedViewer })
  t.same(
    (own.json['tenants'] as { id: string }[]).map(({ id }) => id),
    ['evil'],
  )
  for (const path of ['/admin/api/v1/nowhere', '/api/v1/buckets', '/']) {
    t.match(await world.call({ path, admin: true }), { status: 401 }, path)
    t.match(await world.call({ path, admin: true, token: tokens.viewer }), { status: 404 }, path)
  }
  const wrong = await world.call({ method: 'DELETE', path: TENANTS, admin: true, token: tokens.viewer })
  t.match(wrong, { status: 405, headers: { allow: 'GET, HEAD, POST' } })
})

t.test(
  'metrics and probes [admin.health.healthz] [admin.health.readyz] [admin.health.metrics]',
  async (t) => {
    const world = await ApiWorld.start(t)
    await world.memory.tenant('acme')
    const viewer = await world.memory.adminToken('viewer')
    const scoped = await world.memory.adminToken('owner', 'acme')
    const get = (path: string, token?: string) =>
      world.call({ path, admin: true, ...(token ? { token } : {}) })
    t.match(await get('/metrics'), { status: 401, code: 'unauthorized' })
    t.match(await get('/metrics', scoped), { status: 403, code: 'tenant_scope_denied' })
    world.memory.barrierFault = new Error('the cluster is in trouble')
    const page = await get('/metrics', viewer)
    t.match(
      page,
      { status: 200, headers: { 'content-type': /^text\/plain; version=0\.0\.4/ } },
      'without a quorum too',
    )
    t.equal(page.bytes.toString(), 'up 1\n')
    for (const path of ['/healthz', '/readyz', '/admin/api/v1/healthz', '/admin/api/v1/openapi.json']) {
      t.equal((await get(path)).status, 200, path)
    }
    t.equal((await world.call({ method: 'HEAD', path: '/readyz', admin: true })).status, 200)
    t.equal((await get('/admin/api/v1/readyz')).status, 401, 'at the root alone')
    world.memory.notReady = ['no leader is known', 'the log is being replayed']
    const blocked = await get('/readyz')
    t.match(blocked, { status: 503, code: 'leader_not_ready' })
    t.match(blocked.json['message'], /no leader is known; the log is being replayed/)
    t.equal((await get('/healthz')).status, 200, 'the process answers all the same')
    const open = await ApiWorld.start(t, { metricsPublic: true })
    t.equal((await open.call({ path: '/metrics', admin: true })).status, 200)
  },
)

t.test(
  'requests of one admin token are limited, and every answer carries the remaining requests [admin.rate.limited] [admin.rate.headers]',
  async (t) => {
    const world = await ApiWorld.start(t, { limits: { adminRequestsPerMinute: 60, adminRequestsBurst: 5 } })
    const token = await world.memory.adminToken('viewer')
    const other = await world.memory.adminToken('viewer')
    const get = (path: string, as?: string) =>
      world.call({ admin: true, path, ...(as === undefined ? {} : { token: as }) })
    const asks: readonly (readonly [method: string, path: string, status: number])[] = [
      ['GET', TENANTS, 200],
      ['POST', TENANTS, 403],
      ['GET', `${TENANTS}/absent`, 404],
      ['GET', '/admin/api/v1/nowhere', 404],
      ['GET', `${TENANTS}?nonsense=1`, 400],
    ]
    for (const [n, [method, path, status]] of asks.entries()) {
      const answer = await world.call({ admin: true, token, method, path })
      t.equal(answer.status, status, path)
      t.equal(answer.headers['ratelimit-policy'], '"default";q=60;w=60;burst=5')
      t.equal(answer.headers['ratelimit'], `"default";r=${4 - n};t=1`, path)
    }
    const limited = await get(TENANTS, token)
    t.match(limited, { status: 429, code: 'rate_limited' })
    t.equal(limited.headers['retry-after'], '1')
    t.equal(limited.headers['ratelimit'], '"default";r=0;t=1')
    t.equal((await get(TENANTS, other)).headers['ratelimit'], '"default";r=4;t=1', 'each token separately')
    for (const answer of [await get(TENANTS), await get(TENANTS, 'nonsense'), await get('/healthz')])
      t.notOk('ratelimit' in answer.headers, 'no request was counted')
    world.memory.now += 1_000
    t.equal((await get(TENANTS, token)).headers['ratelimit'], '"default";r=0;t=1', 'one more, and gone')
  },
)
