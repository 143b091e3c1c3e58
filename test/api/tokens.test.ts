/**
 * Bearer tokens through real sockets: how one is issued, and when it is refused.
 */
import t from 'tap'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { pathsOf } from '../../src/api/plane.ts'
import { encodeToken } from '../../src/access/token.ts'
import { newAdminToken } from '../../src/access/admin-token.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { testMasterKey } from '../helpers/content-world.ts'
import { ApiWorld, METRICS } from './api-world.ts'

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
const ASK = { method: 'POST', path: '/api/v1/auth/token' }
const WRONG = { status: 401, code: 'invalid_credentials' }

async function office(
  t: Parameters<typeof ApiWorld.start>[0],
  options: Parameters<typeof ApiWorld.start>[1] = {},
) {
  const world = await ApiWorld.start(t, options)
  await world.memory.tenant('acme')
  const key = await world.memory.accessKey('acme', 'read,write')
  const viaBasic = (authorization: string, body?: object) =>
    world.call({ ...ASK, headers: { authorization }, ...(body === undefined ? {} : { body }) })
  const viaJson = (body: object) => world.call({ ...ASK, body })
  const token = async () => String((await viaJson(key)).json['token'])
  const list = (bearer: string) => world.call({ path: '/api/v1/buckets', token: bearer })
  return { world, key, viaBasic, viaJson, token, list }
}

t.test(
  'both forms of credentials give a token [tokens.create] [tokens.create.basic] [tokens.create.json] [tokens.create.record] [tokens.create.no-store]',
  async (t) => {
    const { key, viaBasic, viaJson, list } = await office(t)
    for (const scheme of ['Basic', 'basic', 'BASIC']) {
      const authorization = basic(`${key.accessKeyId}:${key.secretKey}`).replace('Basic', scheme)
      t.equal((await viaBasic(authorization)).status, 200, scheme)
    }
    const { status, headers, json } = await viaJson(key)
    t.equal(status, 200)
    t.equal(headers['cache-control'], 'no-store')
    const { token, expiresAt, ...rest } = json
    t.same(rest, { tokenType: 'Bearer', expiresIn: 3600, accessKeyId: key.accessKeyId, tenantId: 'acme' })
    t.match(expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    t.equal((await list(String(token))).status, 200)
    const empty = { headers: { authorization: basic(`${key.accessKeyId}:${key.secretKey}`) }, body: {} }
    t.equal(
      (await viaBasic(empty.headers.authorization, empty.body)).status,
      200,
      'an empty body carries none',
    )
  },
)

t.test('credentials in both forms are none [tokens.create.both]', async (t) => {
  const { key, viaBasic } = await office(t)
  const good = basic(`${key.accessKeyId}:${key.secretKey}`)
  const half = { accessKeyId: key.accessKeyId }
  for (const [authorization, body] of [
    [good, key],
    [good, half],
    ['Basic', key],
    ['Basic ???', key],
    ['Basic a b', key],
  ] as const)
    t.match(await viaBasic(authorization, body), { status: 400, code: 'invalid_request' }, authorization)
  t.equal(
    (await viaBasic('Bearer svctk_old.x', key)).status,
    200,
    'an old token in the header is no access key',
  )
})

t.test('malformed credentials [tokens.create.malformed] [errors.invalid_credentials]', async (t) => {
  const { world, key, viaBasic, viaJson } = await office(t)
  const good = Buffer.from(`${key.accessKeyId}:${key.secretKey}`).toString('base64')
  for (const authorization of [
    'Basic',
    'Basic ',
    'Basic ????',
    `Basic ${good}!`,
    `Basic ${good} x`,
    basic('nocolon'),
    basic(':'),
    basic(''),
  ])
    t.match(await viaBasic(authorization), WRONG, authorization)
  for (const body of [{}, { accessKeyId: key.accessKeyId }, { secretKey: key.secretKey }])
    t.match(await viaJson(body), WRONG, JSON.stringify(Object.keys(body)))
  const nothing = await world.call(ASK)
  t.match(nothing, WRONG)
  t.equal(nothing.headers['www-authenticate'], 'Basic realm="svc", Bearer realm="svc"')
  const strange = [
    [{ ...key, scope: 'read' }, /"scope" is unknown/],
    [{ accessKeyId: 7, secretKey: 'x' }, /"accessKeyId"/],
    [[], /it must be/],
  ] as const
  for (const [body, message] of strange)
    t.match(await viaJson(body), { status: 400, code: 'invalid_request', json: { message } })
  const headers = { 'content-type': 'text/plain' }
  t.match(await world.call({ ...ASK, body: 'x', headers }), { status: 415, code: 'unsupported_media_type' })
})

t.test('a caller that does not know the secret learns nothing [tokens.create.wrong]', async (t) => {
  const { key, viaBasic, viaJson } = await office(t)
  const answer = [
    await viaJson({ ...key, secretKey: 'x' }),
    await viaJson({ ...key, accessKeyId: `AK${'A'.repeat(18)}` }),
    await viaJson({ ...key, accessKeyId: '../x' }),
    await viaBasic(basic(`${key.accessKeyId}:x`)),
    await viaBasic(basic(`absent:${key.secretKey}`)),
  ]
  for (const { status, code, headers } of answer) {
    t.same([status, code], [401, 'invalid_credentials'])
    t.match(headers['www-authenticate'], /^Basic realm="svc", Bearer/)
  }
  t.equal(new Set(answer.map(({ json }) => json['message'])).size, 1)
})

t.test(
  'an ended key or tenant issues no token and ends the issued ones [tokens.create.ended] [tokens.recheck.key] [tokens.recheck.tenant] [errors.key_revoked] [errors.tenant_disabled]',
  async (t) => {
    const { world, key, token, viaJson, list } = await office(t)
    const { services } = world.memory
    const before = await token()
    const expiring = await world.memory.accessKey('acme', 'read', world.memory.now + 10_000)
    const short = String((await viaJson(expiring)).json['token'])
    world.memory.now += 10_001
    const revoked = { status: 401, code: 'key_revoked' }
    t.match(await viaJson(expiring), { ...revoked, json: { message: /expired at/ } })
    t.match(await list(short), { status: 401 })
    t.equal((await list(before)).status, 200)
    await services.propose({
      type: 'revokeAccessKey',
      tenantId: 'acme',
      accessKeyId: key.accessKeyId,
      reason: 'lost',
    })
    t.match(await viaJson(key), { ...revoked, json: { message: /was revoked/ } })
    t.match(await list(before), revoked)
    t.match(await viaJson({ ...key, secretKey: 'x' }), WRONG, 'answered to a caller that knows the secret')
    const other = await world.memory.bearer('acme')
    t.equal((await list(other)).status, 200)
    await services.propose({ type: 'disableTenant', tenantId: 'acme', reason: 'gone' })
    const disabled = { status: 401, code: 'tenant_disabled' }
    t.match(await list(other), disabled)
    t.match(await viaJson(key), disabled)
  },
)

t.test(
  'mints are limited per key, guesses per id and address, known and unknown alike [tokens.rate.key] [tokens.rate.unknown] [errors.rate_limited]',
  async (t) => {
    const { world, key, viaJson } = await office(t, { limits: { tokenMintPerMinute: 30, tokenMintBurst: 3 } })
    const limited429 = { status: 429, code: 'rate_limited', headers: { 'retry-after': '2' } }
    const other = await world.memory.accessKey('acme', 'read')
    for (let n = 0; n < 3; n += 1) t.equal((await viaJson(key)).status, 200)
    const limited = await viaJson(key)
    t.match(limited, { status: 429, code: 'rate_limited' })
    t.equal(limited.headers['retry-after'], '2')
    t.equal(limited.headers['ratelimit-policy'], '"default";q=30;w=60;burst=3')
    t.equal(limited.headers['ratelimit'], '"default";r=0;t=2')
    t.match(await viaJson({ ...key, secretKey: 'x' }), WRONG, 'a guess learns nothing of it')
    t.equal((await viaJson(other)).status, 200, 'of another key nothing is taken')
    for (const accessKeyId of ['AKUNKNOWN', other.accessKeyId]) {
      for (let n = 0; n < 3; n += 1) t.match(await viaJson({ accessKeyId, secretKey: 'x' }), WRONG)
      t.match(await viaJson({ accessKeyId, secretKey: 'x' }), limited429, 'guesses are limited')
    }
    t.equal((await viaJson(other)).status, 200, 'and take nothing from the holder')
    world.memory.now += 2000
    t.equal((await viaJson(key)).status, 200, 'at the announced time')
  },
)

t.test('the defaults apply without configuration [tokens.rate.defaults] [tokens.lifetime]', async (t) => {
  const fallback = (name: string) => SETTINGS.find((setting) => setting.name === name)?.fallback
  t.equal(fallback('limits.token_mint_per_minute'), '30')
  t.equal(fallback('limits.token_mint_burst'), '10')
  t.equal(fallback('security.native_api_token_ttl'), '1h')
})

t.test('every route but three asks for a token [tokens.required] [tokens.scheme]', async (t) => {
  const { world, token } = await office(t)
  const bearer = await token()
  const open = new Set(['healthz', 'getOpenAPI', 'createToken'])
  for (const route of dataPlane.routes) {
    if (route.operation.id === 'readyz') {
      t.same(pathsOf(dataPlane, route), ['/readyz'], 'outside of the prefix')
      continue
    }
    const path = `/api/v1${route.path.replace(/\{[^}]+\}/g, 'xyz')}`
    const { status } = await world.call({ method: route.method, path })
    if (!open.has(route.operation.id)) t.equal(status, 401, route.operation.id)
  }
  const path = '/api/v1/buckets'
  for (const authorization of [
    '',
    'Bearer',
    `Bearer ${bearer} ${bearer}`,
    bearer,
    `Basic ${bearer}`,
    `Bearer  `,
    `Token ${bearer}`,
  ])
    t.match(
      await world.call({ path, headers: { authorization } }),
      { status: 401, code: 'unauthorized' },
      authorization.slice(0, 12),
    )
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer '])
    t.equal((await world.call({ path, headers: { authorization: `${scheme} ${bearer}` } })).status, 200)
  t.match(await world.call({ path: `${path}?token=${bearer}` }), { status: 401 }, 'not in the query')
})

t.test(
  'no kind of token passes for another [tokens.kinds] [tokens.keys-apart] [errors.token_invalid]',
  async (t) => {
    const { world, key, token } = await office(t)
    const bearer = await token()
    const owner = await world.memory.adminToken('owner')
    const claims = {
      v: 1,
      typ: 'api',
      ak: key.accessKeyId,
      kv: 1,
      tid: 'acme',
      iat: 1,
      exp: 9_999_999_999,
      jti: 'x',
    } as const
    const signed = (label: Parameters<typeof testMasterKey.signingKey>[0]) =>
      encodeToken(claims, testMasterKey.signingKey(label))
    const refused = { status: 401, code: 'token_invalid' }
    t.equal((await world.call({ path: '/api/v1/buckets', token: signed('native-api-token') })).status, 200)
    for (const other of [
      owner,
      newAdminToken().token,
      bearer.replace('svctk_', 'svcurl_'),
      bearer.replace('svctk_', 'svcadm_'),
      signed('signed-url'),
      signed('continuation-token'),
    ])
      t.match(await world.call({ path: '/api/v1/buckets', token: other }), refused, other.slice(0, 7))
    for (const route of adminPlane(METRICS).routes.filter(({ auth }) => auth === 'admin')) {
      const path = `/admin/api/v1${route.path.replace(/\{[^}]+\}/g, 'xyz')}`
      t.match(
        await world.call({ admin: true, method: route.method, path, token: bearer }),
        refused,
        route.operation.id,
      )
    }
  },
)
