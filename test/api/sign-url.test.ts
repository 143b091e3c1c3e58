/**
 * The making of signed URLs: rights, requests, answers. [native: Signed-URL mint request body]
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { SETTINGS } from '../../src/config/settings.ts'
import { pathOf, SignedClient } from './signed-client.ts'

const SHA256 = createHash('sha256').update('hello').digest('base64')
const bad = { status: 400, code: 'invalid_request' }
const denied = { status: 403, code: 'access_denied' }

t.test('POST /sign-url answers', async (t) => {
  const signed = await SignedClient.start(t)
  const { memory } = signed.world

  await t.test('the URL and its attributes [signed-urls.mint] [signed-urls.mint.headers]', async (t) => {
    const made = await signed.mint({
      method: 'PUT',
      key: 'up/1.jpg',
      ttlSeconds: 60,
      contentType: 'image/jpeg',
      contentLengthMax: 1000,
      checksumAlg: 'sha256',
      checksumVal: SHA256,
      idempotencyKey: 'once',
      reason: 'a form',
    })
    t.equal(made.status, 200)
    t.equal(made.headers['cache-control'], 'no-store')
    const { url, token, expiresAt, ...rest } = made.json
    t.match(token, /^svcurl_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/)
    t.equal(url, `http://127.0.0.1:0/api/v1/signed/films/up/1.jpg?token=${String(token)}`)
    t.equal(expiresAt, new Date(memory.now + 60_000).toISOString())
    t.strictSame(rest, {
      method: 'PUT',
      bucket: 'films',
      key: 'up/1.jpg',
      keyPrefix: null,
      urlTemplate: null,
      ttlSeconds: 60,
      requiredHeaders: { 'Content-Type': 'image/jpeg', 'X-Service-Checksum-SHA256': SHA256 },
      contentLengthMax: 1000,
    })
    const plain = await signed.mint({ method: 'GET', key: 'k' })
    t.match(plain.json, { requiredHeaders: {}, contentLengthMax: null })
    t.not(
      (await signed.mint({ method: 'GET', key: 'k' })).json['token'],
      plain.json['token'],
      'each is its own',
    )
  })

  await t.test('for a prefix the URL ends at it, and a template [signed-urls.mint.template]', async (t) => {
    const made = await signed.mint({ method: 'PUT', keyPrefix: 'in box/{x}/' })
    const base = 'http://127.0.0.1:0/api/v1/signed/films/in%20box/%7Bx%7D/'
    const query = `?token=${String(made.json['token'])}`
    t.match(made.json, { key: null, keyPrefix: 'in box/{x}/' })
    t.equal(made.json['url'], `${base}${query}`)
    t.equal(made.json['urlTemplate'], `${base}{+suffix}${query}`)
  })

  await t.test('900 seconds when none are given [signed-urls.mint.ttl]', async (t) => {
    const made = await signed.mint({ method: 'GET', key: 'k' })
    t.match(made.json, { ttlSeconds: 900, expiresAt: new Date(memory.now + 900_000).toISOString() })
  })

  await t.test('at most the maximum of the deployment [signed-urls.mint.clamp]', async (t) => {
    t.equal(SETTINGS.find(({ name }) => name === 'security.max_presign_ttl')?.fallback, '7d')
    for (const ttlSeconds of [604_801, 1e15, 1e300])
      t.match((await signed.mint({ method: 'GET', key: 'k', ttlSeconds })).json, { ttlSeconds: 604_800 })
    t.match((await signed.mint({ method: 'GET', key: 'k', ttlSeconds: 604_800 })).json, {
      ttlSeconds: 604_800,
    })
    const key = await memory.accessKey('acme', 'read', memory.now + 30_000)
    const { token } = memory.services.access.exchange({ ...key, clientAddress: 'test' })
    t.match(
      (await signed.mint({ method: 'GET', key: 'k' }, { token })).json,
      { ttlSeconds: 30 },
      'nor longer than the key',
    )
  })

  await t.test('400 for a ttlSeconds that is none [signed-urls.mint.ttl-bad]', async (t) => {
    for (const ttlSeconds of [0, -1, 1.5, '60', null, true])
      t.match(await signed.mint({ method: 'GET', key: 'k', ttlSeconds }), bad, String(ttlSeconds))
    t.match((await signed.mint({ method: 'GET', key: 'k', ttlSeconds: 1 })).json, { ttlSeconds: 1 })
  })
})

t.test('POST /sign-url takes', async (t) => {
  const signed = await SignedClient.start(t)
  const refused = async (body: object, named: RegExp, code = 'invalid_request'): Promise<void> => {
    const answer = await signed.mint(body)
    t.match(answer, { status: 400, code }, JSON.stringify(body))
    t.match(answer.json['message'], named)
  }

  await t.test('the methods GET and PUT [signed-urls.mint.method]', async () => {
    for (const method of ['HEAD', 'POST', 'DELETE', 'get', '', null, 5])
      await refused({ method, key: 'k' }, /"method"/)
    await refused({ key: 'k' }, /"method" is missing/)
  })

  await t.test('one of key and keyPrefix [signed-urls.mint.target]', async () => {
    await refused({ method: 'GET' }, /"key" is missing/)
    await refused({ method: 'PUT' }, /"key" or "keyPrefix"/)
    await refused({ method: 'PUT', key: 'k', keyPrefix: 'k' }, /"key" or "keyPrefix"/)
    await refused({ method: 'PUT', keyPrefix: '' }, /whole bucket/)
    await refused({ method: 'GET', key: '' }, /empty/, 'invalid_key')
    for (const wrong of ['a\u0000b', '\ud800', 'k'.repeat(1025)]) {
      await refused({ method: 'GET', key: wrong }, /object key/, 'invalid_key')
      await refused({ method: 'PUT', keyPrefix: wrong }, /object key/, 'invalid_key')
    }
  })

  await t.test(
    'the fields of the method, and names others [signed-urls.mint.foreign] [signed-urls.mint.prefix]',
    async (t) => {
      const ofPut: object = {
        contentType: 'a/b',
        contentLengthMax: 1,
        checksumAlg: 'SHA256',
        checksumVal: SHA256,
        idempotencyKey: 'i',
      }
      const ofGet: object = { responseContentType: 'a/b', responseContentDisposition: 'inline' }
      for (const [name, value] of Object.entries(ofPut))
        await refused({ method: 'GET', key: 'k', [name]: value }, new RegExp(`"${name}"`))
      for (const [name, value] of Object.entries(ofGet))
        await refused({ method: 'PUT', key: 'k', [name]: value }, new RegExp(`"${name}"`))
      await refused({ method: 'GET', keyPrefix: 'in/' }, /"keyPrefix"/)
      t.equal((await signed.mint({ method: 'PUT', key: 'k', ...ofPut })).status, 200)
      t.equal((await signed.mint({ method: 'GET', key: 'k', ...ofGet })).status, 200)
    },
  )

  await t.test('fields that it knows [signed-urls.mint.unknown]', async () => {
    await refused(
      { method: 'GET', key: 'k', ttlSecond: 5 },
      /"ttlSecond" is unknown; did you mean "ttlSeconds"/,
    )
    await refused({ method: 'GET', key: 'k', reason: '' }, /"reason"/)
    await refused({ method: 'GET', key: 'k', reason: 'x'.repeat(513) }, /"reason"/)
  })

  await t.test('both halves of a checksum, and a good one [signed-urls.mint.checksum]', async () => {
    await refused(
      { method: 'PUT', key: 'k', checksumAlg: 'SHA256' },
      /"checksumAlg" is given without "checksumVal"/,
    )
    await refused(
      { method: 'PUT', key: 'k', checksumVal: SHA256 },
      /"checksumVal" is given without "checksumAlg"/,
    )
    const put = { method: 'PUT', key: 'k' }
    await refused({ ...put, checksumAlg: 'MD5', checksumVal: SHA256 }, /MD5/, 'checksum_unsupported')
    for (const checksumVal of ['', 'x', SHA256.slice(1), `${SHA256}=`, SHA256.replace('=', '')])
      await refused({ ...put, checksumAlg: 'SHA256', checksumVal }, /base64/, 'checksum_malformed')
  })

  await t.test('an idempotency key without a checksum [signed-urls.mint.idempotency]', async (t) => {
    t.equal((await signed.mint({ method: 'PUT', key: 'k', idempotencyKey: 'i' })).status, 200)
    for (const idempotencyKey of ['', 'x'.repeat(256), 'é', 'a\nb'])
      await refused({ method: 'PUT', key: 'k', idempotencyKey }, /idempotencyKey/)
  })

  await t.test('overrides that fit into a header [signed-urls.mint.disposition]', async (t) => {
    const get = { method: 'GET', key: 'k' }
    for (const wrong of [
      'a\r\nX: y',
      'a\nb',
      'a\rb',
      '',
      ' a',
      '\u0000',
      '\u007f',
      '€.txt',
      '\u0085',
      'x'.repeat(1025),
    ])
      await refused({ ...get, responseContentDisposition: wrong }, /"responseContentDisposition"/)
    for (const wrong of ['text/html\r\nX: y', '', 'é/x', 'x'.repeat(257)])
      await refused({ ...get, responseContentType: wrong }, /content type/)
    for (const wrong of ['text/html\r\nX: y', '', 'é/x'])
      await refused({ method: 'PUT', key: 'k', contentType: wrong }, /content type/)
    const fine = 'attachment; filename="caf\u00e9.txt"; filename*=UTF-8\'\'%E2%82%AC.txt'
    t.equal((await signed.mint({ ...get, responseContentDisposition: fine })).status, 200)
    for (const contentLengthMax of [0, -1, 1.5, 1e300, '5'])
      await refused({ method: 'PUT', key: 'k', contentLengthMax }, /"contentLengthMax"/)
  })

  await t.test('terms that fit into a URL', async () => {
    t.equal(
      (await signed.mint({ method: 'GET', key: 'k'.repeat(1024), reason: '\u20ac'.repeat(512) })).status,
      200,
    )
    await refused({ method: 'GET', key: '\u0001'.repeat(1024) }, /at most 8192/)
  })
})

t.test('the right to sign a URL', async (t) => {
  const signed = await SignedClient.start(t)
  const { memory } = signed.world
  const as = async (scopes: string) => ({ token: await memory.bearer('acme', scopes) })
  const [get, put] = [
    { method: 'GET', key: 'in/k' },
    { method: 'PUT', key: 'in/k' },
  ]

  await t.test('no caller without a bearer token [signed-urls.mint.bearer]', async (t) => {
    const ask = { method: 'POST', path: '/api/v1/sign-url', body: { bucket: 'films', ...get } }
    t.match(await signed.world.call(ask), { status: 401, code: 'unauthorized' })
    const url = await signed.link(get)
    const token = url.slice(url.indexOf('svcurl_'))
    t.match(
      await signed.world.call({ ...ask, token }),
      { status: 401, code: 'token_invalid' },
      'a URL makes no URLs',
    )
  })

  await t.test('for GET a key with read [signed-urls.mint.read]', async (t) => {
    for (const scopes of ['read', 'op=read:bucket=films:prefix=in/', 'op=read:bucket=*:prefix='])
      t.equal((await signed.mint(get, await as(scopes))).status, 200, scopes)
    for (const scopes of [
      'write,delete,admin',
      'op=read:bucket=films2:prefix=',
      'op=read:bucket=films:prefix=out/',
    ])
      t.match(await signed.mint(get, await as(scopes)), denied, scopes)
  })

  await t.test('for PUT a key with write [signed-urls.mint.write]', async (t) => {
    for (const scopes of ['write', 'op=write:bucket=films:prefix=in/'])
      t.equal((await signed.mint(put, await as(scopes))).status, 200, scopes)
    for (const scopes of [
      'read,delete,admin',
      'op=write:bucket=films2:prefix=',
      'op=write:bucket=films:prefix=in/x',
    ])
      t.match(await signed.mint(put, await as(scopes)), denied, scopes)
  })

  await t.test('for a prefix whose scope reaches all of it [signed-urls.mint.prefix-scope]', async (t) => {
    const inBox = await as('op=write:bucket=films:prefix=in/')
    for (const keyPrefix of ['in/', 'in/a'])
      t.equal((await signed.mint({ method: 'PUT', keyPrefix }, inBox)).status, 200, keyPrefix)
    for (const keyPrefix of ['i', 'in', 'out/', '/in/'])
      t.match(await signed.mint({ method: 'PUT', keyPrefix }, inBox), denied, keyPrefix)
  })

  await t.test('no caller for a bucket of another tenant [signed-urls.mint.tenant]', async (t) => {
    await memory.tenant('evil')
    const evil = { token: await memory.bearer('evil') }
    t.match(await signed.mint(get, evil), { status: 404, code: 'not_found' })
    t.match(await signed.mint({ ...put, bucket: 'absent' }), { status: 404, code: 'not_found' })
    t.match(await signed.mint({ ...get, bucket: '../films' }), { status: 404, code: 'not_found' })
  })

  await t.test('not a key that was rotated while the request was running', async (t) => {
    const { access } = memory.services
    const key = await memory.accessKey('acme', 'read')
    const principal = access.openBearer(`Bearer ${access.exchange({ ...key, clientAddress: 'x' }).token}`)({
      address: 'x',
      isSecure: false,
    })
    const { accessKeyId, sealed: secret } = access.newSecret(key.accessKeyId)
    const change = { accessKeyId, tenantId: 'acme', secret, scopes: null, expiresAt: null }
    t.ok((await memory.services.propose({ type: 'rotateAccessKey', ...change })).ok)
    const made = await signed.mint(get)
    t.equal(made.status, 200, 'others may')
    const { signUrl } = await import('../../src/operations/signed/sign-url.ts')
    const requested = { method: 'GET', bucket: 'films', key: 'k' } as const
    await t.rejects(signUrl(memory.services, principal, requested), { code: 'token_invalid' })
  })
})

t.test('the base of a URL comes only from the configuration [signed-urls.mint.base]', async (t) => {
  const signed = await SignedClient.start(t, {}, { publicUrl: 'https://files.example.org/store' })
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' }
  const made = await signed.mint({ method: 'GET', key: 'k' }, { headers })
  t.match(made.json['url'], /^https:\/\/files\.example\.org\/store\/api\/v1\/signed\/films\/k\?token=svcurl_/)
  t.notMatch(made.bytes.toString(), /evil/)
  t.equal(pathOf(made).indexOf('/store/api/v1/signed/'), 0)
})
