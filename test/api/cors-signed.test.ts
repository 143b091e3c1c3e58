/**
 * Pages and signed URLs: the preflight, and the headers of the answers. [native: Signed-URL access] [Fetch 3.3]
 */
import t from 'tap'
import type { MadeKey } from '../helpers/memory-services.ts'
import type { ApiAnswer } from './api-world.ts'
import { APP, corsOf, filmsWithRules, VARY } from './cors-client.ts'
import { SignedClient } from './signed-client.ts'

interface Preflight {
  readonly origin?: string | undefined
  readonly method?: string | undefined
  readonly headers?: string
}

async function start(t: Parameters<typeof filmsWithRules>[0]): Promise<SignedClient> {
  return new SignedClient(await filmsWithRules(t))
}

function preflight({ world }: SignedClient, path: string, ask: Preflight = {}): Promise<ApiAnswer> {
  const preflightHeaders = {
    origin: 'origin' in ask ? ask.origin : APP,
    'access-control-request-method': 'method' in ask ? ask.method : 'GET',
    'access-control-request-headers': ask.headers,
  }
  return world.call({ method: 'OPTIONS', path, headers: preflightHeaders })
}

const tokenOf = ({ world }: SignedClient, key: MadeKey): string =>
  world.memory.services.access.exchange({ ...key, clientAddress: 'test' }).token

const GET = { method: 'GET', key: 'in/a b' }
const GRANTED = { 'access-control-allow-origin': APP, 'access-control-expose-headers': 'ETag, X-Request-Id' }

t.test('preflightSigned [cors.preflight] [cors.answer.never-credentials]', async (t) => {
  const signed = await start(t)
  const url = await signed.link(GET)
  const plain = await preflight(signed, url)
  t.equal(plain.status, 204)
  t.equal(plain.bytes.length, 0)
  t.strictSame(corsOf(plain), {
    'access-control-allow-origin': APP,
    'access-control-allow-methods': 'GET, PUT',
    'access-control-max-age': '600',
  })
  t.equal(plain.headers.vary, VARY)
  const asked = await preflight(signed, url, { headers: 'Content-Type,x-service-meta-a , ' })
  t.equal(asked.headers['access-control-allow-headers'], 'Content-Type, x-service-meta-a')
  const other = await preflight(signed, url, { origin: 'https://b.example.org' })
  t.equal(other.headers['access-control-allow-origin'], 'https://b.example.org')
  const head = await preflight(signed, url, { method: 'HEAD' })
  t.equal(head.headers['access-control-allow-origin'], '*', 'a URL for GET is one for HEAD')
  const prefixed = await signed.link({ method: 'PUT', keyPrefix: 'in/' })
  const below = prefixed.replace('/in/', '/in/new')
  t.equal((await preflight(signed, below, { method: 'PUT' })).status, 204)
})

t.test('a preflight allows only what the token allows [cors.preflight.token]', async (t) => {
  const signed = await start(t)
  const url = await signed.link(GET)
  const [path = '', query = ''] = url.split('?')
  const refused = [
    [await preflight(signed, path), 401, 'invalid_signed_url'],
    [await preflight(signed, `${path}?token=`), 401, 'invalid_signed_url'],
    [await preflight(signed, `${url}x`), 401, 'invalid_signed_url'],
    [await preflight(signed, url.replace('a%20b', 'a')), 403, 'signed_url_mismatch'],
    [await preflight(signed, url.replace('films', 'photos')), 403, 'signed_url_mismatch'],
    [await preflight(signed, url, { method: 'PUT' }), 403, 'signed_url_mismatch'],
    [await preflight(signed, url, { method: 'DELETE' }), 403, 'signed_url_mismatch'],
    [await preflight(signed, url, { method: 'get' }), 403, 'signed_url_mismatch'],
    [await preflight(signed, url, { method: undefined }), 400, 'invalid_request'],
    [await preflight(signed, url, { origin: undefined }), 400, 'invalid_request'],
    [await preflight(signed, `${url}&token=x`), 400, 'invalid_argument'],
  ] as const
  for (const [answer, status, code] of refused) {
    t.match(answer, { status, code })
    t.strictSame(corsOf(answer), {}, code)
  }
  t.equal((await preflight(signed, `${path}?${query}`)).status, 204, 'the same without a change')
})

t.test('the present state of the key behind the token counts [cors.preflight.token]', async (t) => {
  const signed = await start(t)
  const { memory } = signed.world
  const minter = await memory.accessKey('acme', 'read')
  const url = await signed.link(GET, { token: tokenOf(signed, minter) })
  t.equal((await preflight(signed, url)).status, 204)
  const before = memory.barriers
  await preflight(signed, url)
  t.equal(memory.barriers, before + 1, 'after the barrier of the request')
  await memory.services.propose({
    type: 'revokeAccessKey',
    accessKeyId: minter.accessKeyId,
    tenantId: 'acme',
    reason: 'lost',
  })
  const revoked = await preflight(signed, url)
  t.match(revoked, { status: 401, code: 'key_revoked' })
  t.strictSame(corsOf(revoked), {})
})

t.test('a preflight without a matching rule is refused [cors.preflight.rules]', async (t) => {
  const signed = await start(t)
  const url = await signed.link(GET)
  const refused = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${APP}.evil.example` },
    { headers: 'authorization' },
    { headers: 'content-type, x-other' },
  ]
  for (const ask of refused) {
    const answer = await preflight(signed, url, ask)
    const message = /No CORS rule of bucket "films"/
    t.match(answer, { status: 403, code: 'access_denied', json: { message } })
    t.strictSame(corsOf(answer), {}, JSON.stringify(ask))
  }
  await signed.films.ask({ method: 'DELETE', path: '/api/v1/buckets/films/cors' })
  t.match(await preflight(signed, url), { status: 403, code: 'access_denied' }, 'no rules at all')
})

t.test(
  'answers to pages, problems too [cors.answer.signed] [cors.answer.vary] [cors.no-access]',
  async (t) => {
    const signed = await start(t)
    const [get, put] = [await signed.link(GET), await signed.link({ method: 'PUT', keyPrefix: 'up/' })]
    const fromApp = { origin: APP }
    const read = await signed.get(get, fromApp)
    t.strictSame([read.status, read.bytes.toString(), corsOf(read)], [200, 'hello', GRANTED])
    const stored = await signed.put(put.replace('/up/', '/up/1'), 'new', fromApp)
    t.strictSame([stored.status, corsOf(stored)], [200, GRANTED])
    const absent = await signed.get(await signed.link({ method: 'GET', key: 'absent' }), fromApp)
    t.strictSame([absent.status, corsOf(absent)], [404, GRANTED])
    const misused = await signed.get(put.replace('/up/', '/up/1'), fromApp)
    t.strictSame([misused.status, corsOf(misused)], [403, GRANTED], 'the rule allows GET, the URL does not')
    const foreign = await signed.get(get, { origin: 'https://evil.example' })
    t.strictSame([foreign.status, corsOf(foreign)], [200, {}])
    const plain = await signed.get(get)
    for (const answer of [read, stored, absent, misused, foreign, plain]) t.equal(answer.headers.vary, VARY)
  },
)

t.test('signed_url_expired can be read by its page [cors.answer.expired]', async (t) => {
  const signed = await start(t)
  const { memory } = signed.world
  const minter = await memory.accessKey('acme', 'read')
  const url = await signed.link({ ...GET, ttlSeconds: 60 }, { token: tokenOf(signed, minter) })
  memory.now += 60_000
  const late = await signed.get(url, { origin: APP })
  t.match(late, { status: 401, code: 'signed_url_expired' })
  t.strictSame(corsOf(late), GRANTED)
  const asked = await preflight(signed, url)
  t.match(asked, { status: 401, code: 'signed_url_expired' })
  t.strictSame(corsOf(asked), {}, 'a preflight is no answer')
  const { accessKeyId } = minter
  await memory.services.propose({ type: 'revokeAccessKey', accessKeyId, tenantId: 'acme', reason: 'lost' })
  const revoked = await signed.get(url, { origin: APP })
  t.match(revoked, { status: 401, code: 'signed_url_expired' }, 'as before')
  t.strictSame(corsOf(revoked), {}, 'and not readable by its page: the key behind it is invalid')
})

t.test('a URL reveals nothing about other buckets of its key [cors.no-leak]', async (t) => {
  const signed = await start(t)
  const elsewhere = await signed.link({ method: 'GET', bucket: 'photos', key: 'in/a b' })
  const answer = await signed.get(elsewhere.replace('photos', 'films'), { origin: APP })
  t.match(answer, { status: 403, code: 'signed_url_mismatch' })
  t.strictSame(corsOf(answer), {}, 'films has a rule for this page, which this URL must not reveal')
})
