/**
 * The data plane through real sockets: tokens, buckets, and the order of refusals.
 */
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { deferred } from '../helpers/async.ts'
import { ApiWorld } from './api-world.ts'

const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

t.test('happy path [objects.put] [objects.etag] [objects.get] [objects.head] [objects.delete]', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const path = '/api/v1/buckets/photos/objects/a/b.txt'
  const put = await world.call({
    method: 'PUT',
    path,
    token,
    body: 'hello',
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-service-meta-Camera': 'x100' },
  })
  t.equal(put.status, 200)
  t.match(put.json, {
    bucket: 'photos',
    key: 'a/b.txt',
    versionId: 'null',
    size: 5,
    metadata: { camera: 'x100' },
  })
  t.equal(put.headers.etag, `"${String(put.json['etag'])}"`)
  t.match(put.json['etag'], /^[0-9a-f]{32}-1$/)
  const got = await world.call({ path, token })
  t.equal(got.status, 200)
  t.equal(got.bytes.toString(), 'hello')
  t.equal(got.headers['content-type'], 'text/plain; charset=utf-8', 'is returned as given')
  t.equal(got.headers['content-length'], '5')
  t.equal(got.headers['x-service-meta-camera'], 'x100')
  t.equal(got.headers['x-service-object-length'], '5')
  t.equal(got.headers['accept-ranges'], 'bytes')
  const head = await world.call({ method: 'HEAD', path, token })
  t.equal(head.status, 200)
  t.equal(head.bytes.length, 0)
  for (const name of [
    'etag',
    'last-modified',
    'content-type',
    'content-length',
    'x-service-checksum-crc64nvme',
  ]) {
    t.equal(head.headers[name], got.headers[name], `HEAD gives the ${name} of GET`)
  }
  t.equal((await world.call({ method: 'DELETE', path, token })).status, 204)
  t.equal((await world.call({ method: 'DELETE', path, token })).status, 204, 'deleting again is no error')
  t.match(await world.call({ path, token }), { status: 404, code: 'not_found' })
})

t.test('createToken', async (t) => {
  const world = await ApiWorld.start(t, { limits: { tokenMintPerMinute: 60, tokenMintBurst: 3 } })
  await world.memory.tenant('acme')
  const key = await world.memory.accessKey('acme', 'read,write')
  const ask = { method: 'POST', path: '/api/v1/auth/token' }
  const json = await world.call({ ...ask, body: key })
  t.equal(json.status, 200)
  t.equal(json.headers['cache-control'], 'no-store')
  t.match(json.json, { tokenType: 'Bearer', expiresIn: 3600, accessKeyId: key.accessKeyId, tenantId: 'acme' })
  const viaBasic = await world.call({
    ...ask,
    headers: { authorization: basic(key.accessKeyId, key.secretKey) },
  })
  t.equal(viaBasic.status, 200)
  const token = String(viaBasic.json['token'])
  t.equal((await world.call({ path: '/api/v1/buckets', token })).status, 200, 'the token opens the plane')

  const wrong = await world.call({ ...ask, body: { ...key, secretKey: 'nope' } })
  t.match(wrong, { status: 401, code: 'invalid_credentials' })
  t.match(wrong.headers['www-authenticate'], /^Basic realm="svc", Bearer/)
  t.match(await world.call({ ...ask, body: {} }), { status: 401, code: 'invalid_credentials' })
  t.match(await world.call(ask), { status: 401, code: 'invalid_credentials' }, 'no credentials at all')
  const noColon = { authorization: `Basic ${Buffer.from('nocolon').toString('base64')}` }
  t.match(await world.call({ ...ask, headers: noColon }), { status: 401, code: 'invalid_credentials' })
  const both = { authorization: basic(key.accessKeyId, key.secretKey) }
  t.match(await world.call({ ...ask, headers: both, body: key }), { status: 400, code: 'invalid_request' })

  await world.call({ ...ask, body: key })
  const limited = await world.call({ ...ask, body: key })
  t.match(limited, { status: 429, code: 'rate_limited' })
  t.match(limited.headers['retry-after'], /^\d+$/)
  t.ok(limited.headers['ratelimit-policy'])
})

t.test(
  'authentication comes first [errors.unauthorized] [errors.unknown-route] [errors.method_not_allowed]',
  async (t) => {
    const { world, token } = await ApiWorld.withBucket(t)
    const admin = await world.memory.adminToken('owner')
    const path = '/api/v1/buckets/photos'
    t.match(await world.call({ path }), { status: 401, code: 'unauthorized' })
    const before = world.memory.barriers
    await world.call({ path })
    t.equal(world.memory.barriers, before, 'an unauthenticated request causes no work in the cluster')
    t.match(await world.call({ path, token: 'svctk_x.y' }), { status: 401, code: 'token_invalid' })
    t.match(
      await world.call({ path, token: admin }),
      { status: 401, code: 'token_invalid' },
      'the other kind of token',
    )
    t.match(await world.call({ path, headers: { authorization: basic('a', 'b') } }), { status: 401 })
    for (const strange of ['/api/v1/nowhere', '/api/v1', '/api/v1/buckets/', '/api/v1/buckets/%zz']) {
      t.match(
        await world.call({ path: strange }),
        { status: 401, code: 'unauthorized' },
        `${strange} without a token`,
      )
    }
    t.match(await world.call({ method: 'PATCH', path, headers: { 'content-type': '?' } }), { status: 401 })
    t.match(await world.call({ path: '/api/v1/nowhere', token }), { status: 404, code: 'not_found' })
    t.match(await world.call({ path: '/api/v1/buckets/%zz', token }), {
      status: 400,
      code: 'invalid_request',
    })
    const patch = await world.call({ method: 'PATCH', path, token, body: '{}' })
    t.match(patch, { status: 405, code: 'method_not_allowed' })
    // Found by the fuzz: the router decodes a colon that the list of methods did not, and the answer was 405 with this very method.
    const colon = { method: 'POST', path: '/api/v1/buckets/photos/notifications/a%3Ab:test', token }
    t.match(await world.call(colon), { status: 404, code: 'not_found' })
    t.equal(patch.headers.allow, 'DELETE, GET, HEAD')
    const post = await world.call({ method: 'POST', path: `${path}/objects/k`, token })
    t.equal(post.headers.allow, 'DELETE, GET, HEAD, PUT')
    for (const method of ['PROPFIND', 'OPTIONS', 'TRACE', 'QUERY']) {
      t.match(await world.call({ method, path, token }), { status: 405 }, method)
    }
    t.match(
      await world.raw('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
      /^HTTP\/1\.1 40[14] /,
    )
  },
)

t.test('a removed key or tenant ends its tokens', async (t) => {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')
  const owner = await world.memory.adminToken('owner')
  const key = await world.memory.accessKey('acme', 'read')
  const mint = () => world.memory.services.access.exchange({ ...key, clientAddress: 'test' }).token
  const path = '/api/v1/buckets'
  const first = mint()
  t.equal((await world.call({ path, token: first })).status, 200)
  const keyPath = `/admin/api/v1/tenants/acme/keys/${key.accessKeyId}`
  const rotated = await world.call({ method: 'POST', path: `${keyPath}/rotate`, token: owner, admin: true })
  t.equal(rotated.status, 200)
  t.match(await world.call({ path, token: first }), { status: 401, code: 'token_invalid' }, 'rotation')
  const secretKey = String(rotated.json['secretKey'])
  const second = world.memory.services.access.exchange({ ...key, secretKey, clientAddress: 'test' }).token
  t.equal((await world.call({ path, token: second })).status, 200)
  world.memory.now += 3_601_000
  t.match(await world.call({ path, token: second }), { status: 401, code: 'token_expired' }, 'time')
  const third = world.memory.services.access.exchange({ ...key, secretKey, clientAddress: 'test' }).token
  const revoke = {
    method: 'POST',
    path: `${keyPath}/revoke`,
    token: owner,
    admin: true,
    body: { reason: 'lost' },
  }
  t.equal((await world.call(revoke)).status, 200)
  t.match(await world.call({ path, token: third }), { status: 401, code: 'key_revoked' }, 'revocation')
})

t.test(
  'buckets [buckets.create] [buckets.create.duplicate] [buckets.create.name] [buckets.get] [buckets.delete] [buckets.delete.object] [limits.buckets]',
  async (t) => {
    const { world, token } = await ApiWorld.withBucket(t, { limits: { bucketsPerTenantMax: 4 } })
    const create = (body: object) => world.call({ method: 'POST', path: '/api/v1/buckets', token, body })
    const made = await create({ name: 'films', versioning: 'Unversioned', objectLockEnabled: false })
    t.equal(made.status, 201)
    t.equal(made.headers.location, '/api/v1/buckets/films')
    t.match(made.json, { name: 'films', tenantId: 'acme', versioning: 'Unversioned', visibility: 'private' })
    t.same((await world.call({ path: '/api/v1/buckets/films', token })).json, made.json)
    t.match(await create({ name: 'films' }), { status: 409, code: 'bucket_already_exists' })
    for (const name of [
      'ab',
      'A-b',
      'a..b',
      '-ab',
      'ab-',
      '10.0.0.1',
      'xn--a',
      'a/b',
      '',
      'x'.repeat(64),
      'a\u0000b',
    ]) {
      t.match(await create({ name }), { status: 400, code: 'invalid_bucket_name' }, JSON.stringify(name))
    }
    t.match(await create({ name: 'v', versioning: 'Enabled' }), { status: 400 }, 'the name first')

    await t.test(
      'lists by name, page by page [buckets.list] [buckets.list.pages] [buckets.list.scope]',
      async (t) => {
        await create({ name: 'fonts' })
        const all = await world.call({ path: '/api/v1/buckets', token })
        t.same(names(all.json), ['films', 'fonts', 'photos'])
        t.equal(all.json['isTruncated'], false)
        t.notOk('nextContinuationToken' in all.json)
        const first = await world.call({ path: '/api/v1/buckets?prefix=f&maxBuckets=1', token })
        t.same(names(first.json), ['films'])
        const next = encodeURIComponent(String(first.json['nextContinuationToken']))
        const second = await world.call({
          path: `/api/v1/buckets?prefix=f&maxBuckets=1&continuationToken=${next}`,
          token,
        })
        t.same(names(second.json), ['fonts'])
        t.match(
          await world.call({ path: `/api/v1/buckets?continuationToken=${next}`, token }),
          { status: 400, code: 'invalid_continuation_token' },
          'a token belongs to its query',
        )
        const narrow = await world.memory.bearer('acme', 'op=read:bucket=photos:prefix=')
        t.same(names((await world.call({ path: '/api/v1/buckets?maxBuckets=1', token: narrow })).json), [
          'photos',
        ])
      },
    )

    await create({ name: 'last' })
    t.match(
      await create({ name: 'more' }),
      { status: 400, code: 'invalid_request' },
      'the limit of the tenant',
    )
    await world.call({ method: 'PUT', path: '/api/v1/buckets/last/objects/k', token, body: 'x' })
    const remove = { method: 'DELETE', path: '/api/v1/buckets/last', token }
    t.match(await world.call(remove), { status: 409, code: 'bucket_not_empty' })
    await world.call({ method: 'DELETE', path: '/api/v1/buckets/last/objects/k', token })
    t.equal((await world.call(remove)).status, 204)
    t.match(await world.call(remove), { status: 404, code: 'not_found' })
    t.match(
      await world.call({ ...remove, body: '{}' }),
      { status: 400, code: 'invalid_request' },
      'takes no body',
    )
  },
)

t.test(
  'a machine that cannot serve [errors.no_leader] [errors.no_quorum] [errors.leader_not_ready] [errors.commit_unknown] [errors.not_enough_replicas] [errors.slow_down] [errors.disk_full] [errors.internal_error]',
  async (t) => {
    const { world, token } = await ApiWorld.withBucket(t)
    world.memory.barrierFault = new Condition('no_quorum', 'No majority of voters answers', {
      retryAfterMs: 2500,
    })
    const refused = await world.call({ path: '/api/v1/buckets', token })
    t.match(refused, { status: 503, code: 'no_quorum' })
    t.equal(refused.headers['retry-after'], '3')
    t.equal((await world.call({ path: '/api/v1/healthz' })).status, 200, 'a probe needs no quorum')
    const credentials = { accessKeyId: 'AKX', secretKey: 'x' }
    t.match(await world.call({ method: 'POST', path: '/api/v1/auth/token', body: credentials }), {
      status: 503,
    })
    world.memory.barrierFault = null

    world.memory.notReady = ['no leader is known', 'the log is being replayed']
    const probe = await world.call({ path: '/readyz' })
    t.equal(probe.status, 503)
    t.match(probe.json['message'], /no leader is known; the log is being replayed/)
    world.memory.notReady = []
    t.equal((await world.call({ path: '/readyz?verbose' })).status, 200)
    t.match(await world.call({ path: '/api/v1/readyz' }), { status: 401 }, 'at the root alone')

    const put = { method: 'PUT', path: '/api/v1/buckets/photos/objects/k', token, body: 'x' }
    for (const code of [
      'commit_unknown',
      'not_enough_replicas',
      'slow_down',
      'disk_full',
      'no_leader',
      'leader_not_ready',
    ] as const) {
      world.memory.proposeFault = new Condition(code, 'No')
      t.match(await world.call(put), { status: 503, code })
    }
    world.memory.proposeFault = new Error('secret detail of the inside')
    const failed = await world.call(put)
    t.match(failed, { status: 500, code: 'internal_error' })
    t.notMatch(failed.bytes.toString(), /secret detail/)
    const line = world.memory.lines.find(({ level }) => level === 'error')
    t.match(line?.fields, { requestId: failed.headers['x-request-id'], err: { message: /secret detail/ } })
    world.memory.proposeFault = null
    t.match(await world.call({ path: put.path, token }), { status: 404 }, 'no refused write is stored')
  },
)

t.test(
  'a closing server finishes running requests and refuses new ones [errors.shutting_down]',
  async (t) => {
    const { world, token } = await ApiWorld.withBucket(t)
    const inApply = deferred()
    const mayApply = deferred()
    world.memory.beforeApply = () => {
      inApply.resolve()
      return mayApply.promise
    }
    const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
    const late = net.connect(world.dataPort, '127.0.0.1')
    t.teardown(() => late.destroy())
    await once(late, 'connect')
    late.write(`GET /api/v1/buckets HTTP/1.1\r\n${auth}`)
    // Its bytes left before those of the next request, so they have been read when that one is being applied.
    const running = world.raw(
      `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\n${auth}Content-Length: 1\r\n\r\nx` +
        `GET /api/v1/buckets HTTP/1.1\r\n${auth}\r\n`,
    )
    await inApply.promise
    const closed = world.dataServer.close()
    const refusal = once(late, 'data')
    late.write('\r\n')
    t.match(String((await refusal)[0]), /^HTTP\/1\.1 503 [^]*"code":"shutting_down"/)
    mayApply.resolve()
    const answered = await running
    t.match(answered, /^HTTP\/1\.1 200 OK\r\n[^]*connection: close/)
    t.equal(answered.split('HTTP/1.1 ').length, 2, 'the connection ends with the answer that was due')
    await closed
  },
)

t.test('a connection that never asked anything does not keep a server from closing', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const silent = net.connect(world.dataPort, '127.0.0.1')
  t.teardown(() => silent.destroy())
  await once(silent, 'connect')
  // The server has accepted it once it answers a connection that came later.
  t.match(await world.call({ path: '/api/v1/buckets', token }), { status: 200 })
  const gone = once(silent, 'close')
  await world.dataServer.close()
  await gone
})

function names(json: Record<string, unknown>): unknown {
  return (json['buckets'] as { name: string }[]).map(({ name }) => name)
}
