/**
 * The access that a signed URL grants, and its end. [native: Signed-URL access] [decisions 8]
 */
import fc from 'fast-check'
import t from 'tap'
import { decodeSignedUrl, encodeSignedUrl } from '../../src/access/signed-url-token.ts'
import { signedAddress } from '../../src/api/native/signed-address.ts'
import { decodeObjectKey, restOfPath } from '../../src/api/request-target.ts'
import { CORPUS } from './key-corpus.ts'
import { idOf } from './bucket-client.ts'
import { SignedClient, urlKeys } from './signed-client.ts'
import type { RowKey } from '../../src/state-machine/base/row-key.ts'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'

const mismatch = { status: 403, code: 'signed_url_mismatch' }
const invalid = { status: 401, code: 'invalid_signed_url' }

t.test('a GET URL', async (t) => {
  const signed = await SignedClient.start(t, { versioning: 'Enabled' })
  const { films } = signed
  await films.put('in/a.txt', 'hello, world', {
    'content-type': 'text/html',
    'x-service-meta-camera': 'x100',
  })
  const url = await signed.link({ method: 'GET', key: 'in/a.txt' })

  await t.test('gives the body, ranges and conditions as any read does [signed-urls.get]', async (t) => {
    const got = await signed.get(url)
    t.equal(got.bytes.toString(), 'hello, world')
    const plain = await films.get('in/a.txt')
    for (const name of [
      'etag',
      'content-type',
      'content-length',
      'x-service-meta-camera',
      'x-service-version-id',
    ])
      t.equal(got.headers[name], plain.headers[name], name)
    const part = await signed.get(url, { range: 'bytes=0-4' })
    t.match(part, { status: 206, headers: { 'content-range': 'bytes 0-4/12' } })
    t.equal(part.bytes.toString(), 'hello')
    t.equal((await signed.get(url, { 'if-none-match': got.headers.etag })).status, 304)
    t.equal((await signed.get(url, { 'if-match': '"x"' })).status, 412)
  })

  await t.test('gives HEAD the headers of GET, and no range [signed-urls.head]', async (t) => {
    const got = await signed.get(url)
    const head = await signed.world.call({ method: 'HEAD', path: url, headers: { range: 'bytes=0-4' } })
    t.equal(head.status, 200)
    t.equal(head.bytes.length, 0)
    const { date: _a, 'x-request-id': _b, ...same } = got.headers
    t.match(head.headers, same)
  })

  await t.test(
    'answers with the type and disposition it names [signed-urls.get.type] [signed-urls.get.disposition]',
    async (t) => {
      const disposition = 'attachment; filename="caf\u00e9 \'1\'.txt"'
      const own = {
        responseContentType: 'text/plain; charset=utf-8',
        responseContentDisposition: disposition,
      }
      const link = await signed.link({ method: 'GET', key: 'in/a.txt', ...own })
      for (const headers of [{}, { range: 'bytes=0-4' }]) {
        const got = await signed.get(link, headers)
        t.equal(got.headers['content-type'], 'text/plain; charset=utf-8')
        t.equal(got.headers['content-disposition'], disposition)
      }
      t.notOk('content-disposition' in (await signed.get(url)).headers)
    },
  )

  await t.test(
    'is answered so that a browser runs no script, caches nothing and sends no referrer',
    async (t) => {
      const expected = {
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; frame-ancestors 'none'",
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'private, no-cache',
        'referrer-policy': 'no-referrer',
      }
      t.match((await signed.get(url)).headers, expected)
      const as = async (responseContentType: string) =>
        (await signed.get(await signed.link({ method: 'GET', key: 'in/a.txt', responseContentType }))).headers
      for (const type of ['image/svg+xml', 'application/pdf, text/html', 'application/pdf;x=y'])
        t.match((await as(type))['content-security-policy'], /^sandbox;/, type)
      const pdf = (await as('application/pdf'))['content-security-policy']
      t.equal(pdf, "frame-ancestors 'none'", 'a viewer of its own')
    },
  )

  await t.test('opens only the newest version', async (t) => {
    const answer = await signed.get(`${url}&token=x`)
    t.match(answer, { status: 400, code: 'invalid_argument' }, 'two tokens')
    t.notMatch(answer.bytes.toString(), /svcurl_/)
    const old = idOf(await films.put('in/v.txt', 'older'))
    await films.put('in/v.txt', 'newer')
    const link = await signed.link({ method: 'GET', key: 'in/v.txt' })
    t.equal((await signed.get(`${link}&versionId=${old}`)).bytes.toString(), 'newer')
    t.match(await signed.get(await signed.link({ method: 'GET', key: 'absent' })), {
      status: 404,
      code: 'not_found',
    })
  })

  await t.test(
    'signed_url_mismatch: is for its method, bucket and key [signed-urls.method] [signed-urls.resource] [errors.signed_url_mismatch]',
    async (t) => {
      t.match(await signed.put(url), mismatch)
      t.equal(
        (
          await signed.world.call({
            method: 'HEAD',
            path: await signed.link({ method: 'PUT', key: 'in/a.txt' }),
          })
        ).status,
        403,
      )
      t.match(await signed.get(await signed.link({ method: 'PUT', key: 'in/a.txt' })), mismatch)
      for (const other of ['in/b.txt', 'in/a.tx', 'in/a.txt/', 'in//a.txt', 'IN/a.txt', 'in/%61.txt.', ''])
        t.match(await signed.get(url.replace('in/a.txt', other)), mismatch, other)
      t.match(await signed.get(url.replace('/films/', '/photos/')), mismatch)
      t.match(await signed.get(url.replace('/films/', '/absent/')), mismatch, 'without revealing what exists')
      t.equal(
        (await signed.get(url.replace('in/a.txt', 'in%2f%61.txt'))).status,
        200,
        'however it is spelled',
      )
      t.equal((await films.get('in/a.txt')).bytes.toString(), 'hello, world', 'nothing was touched')
    },
  )
})

t.test('only the token', async (t) => {
  const signed = await SignedClient.start(t)
  const { films, world } = signed
  await films.put('k')
  const url = await signed.link({ method: 'GET', key: 'k' })
  const bare = '/api/v1/signed/films/k'

  await t.test('authorizes, with any Authorization header [signed-urls.alone]', async (t) => {
    t.equal((await world.call({ path: url, token: 'svctk_x.y' })).status, 200)
    t.equal((await world.call({ path: url, headers: { authorization: 'Basic eDp5' } })).status, 200)
    t.match(
      await world.call({ path: bare, token: films.token }),
      invalid,
      'a good bearer token opens nothing',
    )
    const before = world.memory.barriers
    t.match(await world.call({ path: bare }), invalid)
    t.equal(world.memory.barriers, before, 'an unauthenticated request causes no work in the cluster')
  })

  await t.test(
    'invalid_signed_url: must be unchanged [signed-urls.token] [signed-urls.token.kind] [errors.invalid_signed_url]',
    async (t) => {
      const token = url.slice(url.indexOf('svcurl_'))
      const others = [
        '',
        'x',
        films.token,
        films.token.replace('svctk_', 'svcurl_'),
        token.replace('svcurl_', 'svctk_'),
      ]
      others.push(
        `${token}=`,
        `${token}%20`,
        `%20${token}`,
        token.slice(1),
        `${token}.x`,
        'svcurl_'.repeat(2000),
      )
      for (const other of others)
        t.match(await signed.get(`${bare}?token=${other}`), invalid, other.slice(0, 30))
      t.match(await signed.get(`${bare}?token=%ff`), { status: 400, code: 'invalid_argument' })
      const { signing } = world.memory.services
      const keys = urlKeys(signing)
      const claims = decodeSignedUrl(token, [keys])
      if (claims === null) return t.fail('it is signed under the key of signed URLs')
      const foreign = { ...keys, signing: signing.signingKey('native-api-token') }
      const forged = encodeSignedUrl(claims, foreign)
      t.match(await signed.get(`${bare}?token=${forged}`), invalid, 'the key of bearer tokens signs no URLs')
      const encoded = token.replace('.', '%2E')
      t.equal(
        (await signed.get(`${bare}?token=${encoded}`)).status,
        200,
        'percent-encoding is none of its bytes',
      )
      t.match(await world.call({ path: '/api/v1/buckets', token }), { status: 401, code: 'token_invalid' })
    },
  )

  await t.test('is in no log line and in no error [signed-urls.secret]', async (t) => {
    const token = url.slice(url.indexOf('svcurl_'))
    const asks = [
      `${bare}?token=${token}`,
      `${bare}x?token=${token}`,
      `${bare}?token=${token}&token=${token}`,
    ]
    asks.push(`${bare}?token=${token}%zz`, `${bare}?token=${token}x`, `/api/v1/signed?token=${token}`)
    asks.push(
      `/api/v1/signed/%zz/k?token=${token}`,
      `/api/v1/nowhere?token=${token}`,
      `${bare}?x=1&token=${token}`,
    )
    for (const path of asks) {
      for (const method of ['GET', 'PUT', 'POST']) {
        const answer = await world.call({ method, path, ...(method === 'GET' ? {} : { body: 'x' }) })
        t.notOk(answer.bytes.toString().includes(token.slice(7, 60)), `${method} ${path.slice(0, 30)}`)
      }
    }
    world.memory.barrierFault = new Error(`a bug`)
    t.equal((await world.call({ path: url })).status, 500)
    world.memory.barrierFault = null
    t.ok(world.memory.lines.length > 20)
    t.notOk(JSON.stringify(world.memory.lines).includes(token.slice(7, 60)))
  })
})

t.test('paths below /signed that lead nowhere [signed-urls.paths]', async (t) => {
  const signed = await SignedClient.start(t)
  const { world } = signed
  for (const path of ['/api/v1/signed', '/api/v1/signed/', '/api/v1/signed/films', '/api/v1/signed?token=x'])
    t.match(await world.call({ path }), { status: 404, code: 'not_found' }, path)
  for (const method of ['POST', 'DELETE', 'PATCH']) {
    const answer = await world.call({ method, path: '/api/v1/signed/films/k?token=x' })
    t.match(answer, { status: 405, code: 'method_not_allowed' }, method)
    t.match(answer.headers.allow, /^GET, HEAD,( OPTIONS,)? PUT$/)
  }
  t.match(await world.call({ path: '/api/v1/signed/%zz/k' }), { status: 400, code: 'invalid_request' })
  for (const path of ['/api/v1/signedx', '/api/v1/signed.', '/api/v1/sign-url/x'])
    t.match(await world.call({ path }), { status: 401, code: 'unauthorized' }, `${path} is not below it`)
  t.equal(
    world.memory.barriers,
    2,
    'no unauthenticated request caused work; two requests created the buckets',
  )
})

t.test('a URL ends by', async (t) => {
  const signed = await SignedClient.start(t)
  const { memory } = signed.world
  const { access } = memory.services
  await signed.films.put('k')
  const live = async () => {
    const key = await memory.accessKey('acme', 'read')
    const { token } = access.exchange({ ...key, clientAddress: 'test' })
    const url = await signed.link({ method: 'GET', key: 'k' }, { token })
    t.equal((await signed.get(url)).status, 200)
    return { url, accessKeyId: key.accessKeyId, token }
  }
  const rotate = (accessKeyId: string, scopes: string | null) => {
    const { sealed: secret } = access.newSecret(accessKeyId)
    const change = { accessKeyId, tenantId: 'acme', secret, scopes, expiresAt: null }
    return memory.services.propose({ type: 'rotateAccessKey', ...change })
  }

  await t.test(
    'signed_url_expired: its time [signed-urls.expired] [errors.signed_url_expired]',
    async (t) => {
      const made = await signed.mint({ method: 'GET', key: 'k', ttlSeconds: 10 })
      const url = String(made.json['url']).slice('http://127.0.0.1:0'.length)
      memory.now += 9_999
      t.equal((await signed.get(url)).status, 200, 'the last millisecond')
      memory.now += 1
      t.match(await signed.get(url), { status: 401, code: 'signed_url_expired' })
    },
  )

  await t.test('the revocation of its key [signed-urls.revoked]', async (t) => {
    const { url, accessKeyId } = await live()
    await memory.services.propose({ type: 'revokeAccessKey', accessKeyId, tenantId: 'acme', reason: 'lost' })
    t.match(await signed.get(url), { status: 401, code: 'key_revoked' })
  })

  await t.test('the rotation of its key [signed-urls.rotated]', async (t) => {
    const { url, accessKeyId } = await live()
    t.ok((await rotate(accessKeyId, null)).ok)
    t.match(await signed.get(url), invalid)
  })

  await t.test('the end of the bearer token that made it does not', async (t) => {
    const { token } = await live()
    const url = await signed.link({ method: 'GET', key: 'k', ttlSeconds: 7200 }, { token })
    memory.now += 3_700_000
    t.match(await signed.films.as({ token }).get('k'), { status: 401, code: 'token_expired' })
    t.equal((await signed.get(url)).status, 200)
  })

  /** No operation changes a key without a rotation, which ends the URL by itself. */
  const withKey = async (change: object, url: string, accessKeyId: string) => {
    const { state } = memory.services
    const get = state.get.bind(state)
    state.get = <R extends object>(key: RowKey<R>): R | undefined => {
      const record = get(key)
      return record === undefined || key !== tenantKeys.accessKey(accessKeyId)
        ? record
        : { ...record, ...change }
    }
    const answer = await signed.get(url)
    state.get = get
    return answer
  }

  await t.test('a scope that its key has lost [signed-urls.scopes]', async (t) => {
    const { url, accessKeyId } = await live()
    const lost = ['write,delete,admin', 'op=read:bucket=films:prefix=in/', 'op=read:bucket=photos:prefix=']
    for (const scopes of lost)
      t.match(await withKey({ scopes }, url, accessKeyId), { status: 403, code: 'access_denied' }, scopes)
    t.equal((await withKey({ scopes: 'op=read:bucket=films:prefix=k' }, url, accessKeyId)).status, 200)
  })

  await t.test('the expiry of its key, and the move of the key to another tenant', async (t) => {
    const { url, accessKeyId } = await live()
    const expired = await withKey({ expiresAt: memory.now }, url, accessKeyId)
    t.match(expired, { status: 401, code: 'key_revoked' })
    t.match(await withKey({ tenantId: 'rival' }, url, accessKeyId), invalid)
  })

  await t.test('is looked for in the state behind a read barrier', async (t) => {
    const { url } = await live()
    const before = memory.barriers
    await signed.get(url)
    t.equal(memory.barriers, before + 1)
  })

  await t.test('the end of its tenant [signed-urls.disabled]', async (t) => {
    const { url } = await live()
    await memory.services.propose({
      type: 'disableTenant',
      tenantId: 'acme',
      reason: 'gone',
    })
    t.match(await signed.get(url), { status: 401, code: 'tenant_disabled' })
  })
})

t.test('any object key passes through a URL unchanged [signed-urls.key]', async (t) => {
  const signed = await SignedClient.start(t)
  const keys = [...new Set(CORPUS.map(([, key]) => key))]
  for (const [n, key] of keys.entries()) {
    const label = encodeURIComponent(key).slice(0, 60)
    const put = await signed.put(await signed.link({ method: 'PUT', key }), `${n}`)
    t.match(put, { status: 200, json: { key } }, `PUT ${label}`)
  }
  for (const [n, key] of keys.entries()) {
    const url = await signed.link({ method: 'GET', key })
    t.equal((await signed.get(url)).bytes.toString(), `${n}`, encodeURIComponent(key).slice(0, 60))
    // The URL after the parser of browsers and fetch; the keys "." and ".." cannot survive it.
    const { pathname, search } = new URL(url, 'http://x')
    if (key !== '.' && key !== '..') t.equal(`${pathname}${search}`, url)
  }
  t.equal((await signed.films.list()).json['keyCount'], keys.length)
})

t.test('signedAddress', async (t) => {
  const address = (key: string) => signedAddress('', { bucket: 'b', key, keyPrefix: null }, 't').url
  t.equal(address("it's (a) *star*!"), '/api/v1/signed/b/it%27s%20%28a%29%20%2Astar%2A%21?token=t')
  t.equal(address('a/../b'), '/api/v1/signed/b/a%2F..%2Fb?token=t')
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (key) => {
      const url = address(key)
      const parsed = new URL(url, 'http://x')
      const isKept = /^\.\.?$/.test(key) || `${parsed.pathname}${parsed.search}` === url
      return isKept && decodeObjectKey(restOfPath(url, 4)) === key
    }),
    { seed: 9 },
  )
})
