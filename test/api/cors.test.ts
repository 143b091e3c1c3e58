/**
 * The configuration of CORS: set, read, removed, and refused. [native: CORS configuration] [decisions 2]
 */
import t from 'tap'
import { BucketClient } from './bucket-client.ts'

const CORS = '/api/v1/buckets/films/cors'
const RULE = { allowedOrigins: ['https://app.example.com'], allowedMethods: ['GET'] }
const FULL = {
  id: 'web',
  allowedOrigins: ['https://app.example.com', 'https://*.example.org'],
  allowedMethods: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'],
  allowedHeaders: ['Content-Type', 'x-service-*'],
  exposeHeaders: ['ETag', 'X-Service-Version-Id'],
  maxAgeSeconds: 600,
}

const put = (films: BucketClient, body: object) => films.ask({ method: 'PUT', path: CORS, body })
const remove = (films: BucketClient) => films.ask({ method: 'DELETE', path: CORS })

t.test(
  'set, read, replace and remove [cors.get] [cors.get.unset] [cors.set] [cors.set.replace] [cors.delete] [cors.has-cors]',
  async (t) => {
    const films = await (await BucketClient.start(t)).asAdmin()
    const hasCors = async () => (await films.ask({ path: '/api/v1/buckets/films' })).json['hasCors']
    const unset = { status: 404, code: 'not_found', json: { message: 'Bucket "films" has no CORS rules' } }
    t.match(await films.ask({ path: CORS }), unset)
    t.equal(await hasCors(), false)
    for (const rules of [[FULL], [RULE, FULL], [{ ...RULE, allowedHeaders: [], maxAgeSeconds: 0 }]]) {
      const set = await put(films, { rules })
      t.equal(set.status, 200)
      t.strictSame(set.json, { rules }, 'the answer is the given configuration')
      t.strictSame((await films.ask({ path: CORS })).json, { rules }, 'and it is read back')
      t.equal(await hasCors(), true)
    }
    const { buckets } = (await films.ask({ path: '/api/v1/buckets' })).json as { buckets: object[] }
    t.match(buckets, [
      { name: 'films', hasCors: true },
      { name: 'photos', hasCors: false },
    ])
    for (const again of ['first', 'again']) t.equal((await remove(films)).status, 204, again)
    t.match(await films.ask({ path: CORS }), unset)
    t.equal(await hasCors(), false)
  },
)

t.test('a bucket of the same name created again has no rules [cors.with-bucket]', async (t) => {
  const films = await (await BucketClient.start(t)).asAdmin()
  await put(films, { rules: [FULL] })
  t.equal((await films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' })).status, 204)
  t.equal((await films.ask({ path: CORS })).status, 404)
  await films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'films' } })
  t.match(await films.ask({ path: CORS }), { status: 404, json: { message: /has no CORS rules/ } })
})

t.test(
  'access_denied: changes need an admin scope without prefix, reading a read scope [cors.set.admin] [cors.delete.admin]',
  async (t) => {
    const films = await (await BucketClient.start(t)).asAdmin()
    await put(films, { rules: [RULE] })
    const as = async (scopes: string) => films.as({ token: await films.world.memory.bearer('acme', scopes) })
    const weak = ['read,write,delete', 'op=admin:bucket=photos:prefix=', 'op=admin:bucket=films:prefix=in/']
    for (const scopes of weak) {
      const client = await as(scopes)
      t.match(await put(client, { rules: [FULL] }), { status: 403, code: 'access_denied' }, scopes)
      t.match(await put(client, { nonsense: 1 }), { status: 403 }, 'and learns nothing of the fields')
      t.match(await remove(client), { status: 403, code: 'access_denied' }, scopes)
    }
    t.strictSame((await films.ask({ path: CORS })).json, { rules: [RULE] }, 'nothing of this changed them')
    const admin = await as('op=admin:bucket=films:prefix=')
    t.match(await admin.ask({ path: CORS }), { status: 403 }, 'admin is not read')
    t.equal((await put(admin, { rules: [FULL] })).status, 200)
    t.equal((await (await as('read')).ask({ path: CORS })).status, 200)
    t.equal((await remove(admin)).status, 204)
  },
)

t.test(
  'not_found: no bucket, or that of another tenant, with the same message [cors.other-tenant]',
  async (t) => {
    const films = await (await BucketClient.start(t)).asAdmin()
    await put(films, { rules: [RULE] })
    await films.world.memory.tenant('rival')
    const rival = films.as({ token: await films.world.memory.bearer('rival', 'read,admin') })
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { body: { rules: [RULE] } } : {}
      const expected = { status: 404, code: 'not_found', json: { message: 'Bucket "films" does not exist' } }
      t.match(await rival.ask({ method, path: CORS, ...body }), expected, method)
      const path = CORS.replace('films', 'Absent')
      t.match(await films.ask({ method, path, ...body }), {
        status: 404,
        json: { message: /does not exist/ },
      })
    }
  },
)

t.test(
  'invalid_request: every error is named [cors.rules.fields] [cors.rules.count] [cors.rules.origins] [cors.rules.methods] [cors.rules.headers] [cors.rules.max-age] [cors.rules.id]',
  async (t) => {
    const films = await (await BucketClient.start(t)).asAdmin()
    const table: readonly [object, RegExp][] = [
      [{}, /"rules" is missing/],
      [{ rules: {} }, /"rules" must be array/],
      [{ rules: [] }, /"rules" is empty: give at least one rule/],
      [{ rules: Array(101).fill(RULE) }, /"rules" has 101 rules/],
      [{ rules: [RULE], version: 1 }, /"version" is unknown, known are rules/],
      [{ rules: [RULE, 'x'] }, /"rules.1" must be object/],
      [
        { rules: [{ ...RULE, allowedOrigin: 'x' }] },
        /"rules.0.allowedOrigin" is unknown; did you mean "allowedOrigins"\?/,
      ],
      [{ rules: [RULE, { allowedMethods: ['GET'] }] }, /"rules.1.allowedOrigins" is missing/],
      [{ rules: [{ ...RULE, allowedMethods: 'GET' }] }, /"rules.0.allowedMethods" must be array/],
      [{ rules: [{ ...RULE, allowedHeaders: [1] }] }, /"rules.0.allowedHeaders.0" must be string/],
      [{ rules: [{ ...RULE, exposeHeaders: null }] }, /"rules.0.exposeHeaders" must be array/],
      [{ rules: [{ ...RULE, id: 5 }] }, /"rules.0.id" must be string/],
      [{ rules: [{ ...RULE, id: '' }] }, /"rules.0.id" must have 1 to 255 characters/],
      [{ rules: [{ ...RULE, maxAgeSeconds: '600' }] }, /"rules.0.maxAgeSeconds" must be integer/],
      [{ rules: [{ ...RULE, maxAgeSeconds: -1 }] }, /"rules.0.maxAgeSeconds" is -1/],
      [{ rules: [{ ...RULE, allowedMethods: ['PATCH'] }] }, /"rules.0.allowedMethods.0" is "PATCH"/],
      [{ rules: [{ ...RULE, allowedOrigins: ['https://*.*'] }] }, /"rules.0.allowedOrigins.0" .* one "\*"/],
      [{ rules: [{ ...RULE, allowedHeaders: ['**'] }] }, /"rules.0.allowedHeaders.0" .* one "\*"/],
      [{ rules: [{ ...RULE, exposeHeaders: ['x-*'] }] }, /"rules.0.exposeHeaders.0" .* in full/],
    ]
    for (const [body, message] of table) {
      const answer = await put(films, body)
      t.match(
        answer,
        { status: 400, code: 'invalid_request', json: { message } },
        JSON.stringify(body).slice(0, 80),
      )
    }
    t.equal((await films.ask({ path: CORS })).status, 404, 'nothing of this was stored')
    t.equal((await put(films, { rules: Array(100).fill(RULE) })).status, 200)
  },
)

t.test('entity_too_large: 64 KiB in all [cors.rules.bytes]', async (t) => {
  const films = await (await BucketClient.start(t)).asAdmin()
  const origins = Array.from({ length: 3000 }, (_, n) => `https://app-${n}.example.com`)
  t.match(await put(films, { rules: [{ ...RULE, allowedOrigins: origins }] }), {
    status: 413,
    code: 'entity_too_large',
  })
  t.equal((await put(films, { rules: [{ ...RULE, allowedOrigins: origins.slice(0, 1500) }] })).status, 200)
})
