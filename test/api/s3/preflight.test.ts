/**
 * Pages and presigned URLs: the preflight, and the headers of the answers. [Fetch 3.3]
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { corsOf, VARY } from '../cors-client.ts'
import { type S3Ask, S3World } from './s3-world.ts'

const APP = 'https://app.example.org'
const RULES = `<CORSConfiguration><CORSRule>
<AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod><AllowedOrigin>${APP}</AllowedOrigin>
<AllowedHeader>content-type</AllowedHeader><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule></CORSConfiguration>`

async function start(t: Parameters<typeof S3World.start>[0]): Promise<S3World> {
  const s3 = await S3World.start(t)
  const set = await s3.call({ method: 'PUT', path: '/photos?cors', body: RULES })
  assert.equal(set.status, 200, set.bytes.toString())
  return s3
}

const PUT: S3Ask = { method: 'PUT', path: '/photos/up/1' }

const preflight = (s3: S3World, path: string, asked: Record<string, string | undefined> = {}) =>
  s3.sent({
    method: 'OPTIONS',
    path,
    headers: { origin: APP, 'access-control-request-method': 'PUT', ...asked },
  })

t.test('the preflight of a presigned URL', async (t) => {
  const s3 = await start(t)

  await t.test('is answered for the method that the URL is for, and then the page may upload', async (t) => {
    const path = s3.presigned(PUT)
    const asked = await preflight(s3, path, { 'access-control-request-headers': 'content-type' })
    t.match(asked, { status: 200, headers: { vary: VARY } })
    t.strictSame(corsOf(asked), {
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '60',
    })
    t.match(s3.world.memory.auditRows.at(-1), {
      api: 's3',
      operation: 'preflightPresigned',
      actor: { type: 'accessKey', id: s3.secret.accessKeyId },
    })
    const put = await s3.sent({
      method: 'PUT',
      path,
      headers: { origin: APP, 'content-type': 'text/plain' },
      body: 'x',
    })
    t.match(put, { status: 200, headers: { 'access-control-allow-origin': APP } })
    const get = await s3.sent({ path: s3.presigned({ path: '/photos/up/1' }), headers: { origin: APP } })
    t.match(get, { status: 200, headers: { 'access-control-allow-origin': APP } })
    const other = await s3.sent({
      path: s3.presigned({ path: '/photos/up/1' }),
      headers: { origin: 'https://evil.example' },
    })
    t.strictSame(corsOf(other), {})
  })

  await t.test('is refused, without a header that a browser takes for a yes', async (t) => {
    const { memory } = s3.world
    const good = s3.presigned(PUT)
    const reader = await memory.accessKey('acme', 'read')
    const wrong = { ...s3.secret, secretKey: 'x'.repeat(40) }
    await memory.tenant('rival')
    const rival = await memory.accessKey('rival', 'read,write')
    const late = { ...PUT, at: new Date(memory.now - 3_600_000) }
    const signsMore = { ...PUT, headers: { 'content-type': 'text/plain' } }
    const rows = [
      ['another method', good, { 'access-control-request-method': 'DELETE' }, 403, 'SignatureDoesNotMatch'],
      [
        'another spelling of it',
        good,
        { 'access-control-request-method': 'put' },
        403,
        'SignatureDoesNotMatch',
      ],
      ['another key', good.replace('up/1', 'up/2'), {}, 403, 'SignatureDoesNotMatch'],
      ['another origin', good, { origin: 'https://evil.example' }, 403, 'AccessDenied'],
      ['another header', good, { 'access-control-request-headers': 'x-amz-meta-a' }, 403, 'AccessDenied'],
      ['no origin', good, { origin: undefined }, 400, 'InvalidRequest'],
      ['no method', good, { 'access-control-request-method': undefined }, 403, 'SignatureDoesNotMatch'],
      ['no signature', '/photos/up/1', {}, 403, 'AccessDenied'],
      ['a wrong secret', s3.presigned({ ...PUT, secret: wrong }), {}, 403, 'SignatureDoesNotMatch'],
      ['a key without the right', s3.presigned({ ...PUT, secret: reader }), {}, 403, 'AccessDenied'],
      ['another tenant', s3.presigned({ ...PUT, secret: rival }), {}, 403, 'AccessDenied'],
      ['a URL that ended', s3.presigned(late), {}, 403, 'AccessDenied'],
      ['a URL that signs a header more', s3.presigned(signsMore), {}, 403, 'SignatureDoesNotMatch'],
      ['no bucket of that name', s3.presigned({ ...PUT, path: '/nowhere/k' }), {}, 403, 'AccessDenied'],
      [
        'an unknown sub-resource',
        s3.presigned({ ...PUT, path: '/photos/k?nonsense' }),
        {},
        501,
        'NotImplemented',
      ],
    ] as const
    for (const [name, path, asked, status, code] of rows) {
      const answer = await preflight(s3, path, asked)
      t.equal(`${answer.status} ${answer.s3Code}`, `${status} ${code}`, name)
      t.strictSame(corsOf(answer), {}, name)
    }
  })

  await t.test('costs the cluster nothing where nothing good is signed, and ends with its key', async (t) => {
    const { memory } = s3.world
    const { barriers } = memory
    await preflight(s3, '/photos/up/1')
    t.equal(memory.barriers, barriers)
    const key = await memory.accessKey('acme', 'write')
    const path = s3.presigned({ ...PUT, secret: key })
    t.equal((await preflight(s3, path)).status, 200)
    const { accessKeyId } = key
    await memory.change({ type: 'revokeAccessKey', tenantId: 'acme', accessKeyId, reason: 'test' })
    const revoked = await preflight(s3, path)
    t.match(revoked, { status: 403, s3Code: 'AccessDenied' })
    t.strictSame(corsOf(revoked), {})
  })
})
