/**
 * The CORS headers of answers to requests of pages. [Fetch 3.3]
 */
import t from 'tap'
import { APP, corsOf, filmsWithRules, VARY } from './cors-client.ts'

t.test('OPTIONS elsewhere is a request without a token [cors.preflight.elsewhere]', async (t) => {
  const films = await filmsWithRules(t)
  for (const path of ['films/objects/in/a%20b', 'films/cors', 'films', 'absent/objects/k', '']) {
    const headers = { origin: APP, 'access-control-request-method': 'GET' }
    const answer = await films.world.call({ method: 'OPTIONS', path: `/api/v1/buckets/${path}`, headers })
    t.match(answer, { status: 401, code: 'unauthorized' }, path)
    t.strictSame(corsOf(answer), {}, path)
    t.match(await films.ask({ method: 'OPTIONS', path: '/api/v1/buckets/films' }), { status: 405 })
  }
})

const fromPage = (origin: string, more = {}) => ({ headers: { origin, ...more } })

t.test(
  'an answer to a page carries the headers of its rule [cors.answer] [cors.answer.vary] [cors.answer.never-credentials]',
  async (t) => {
    const films = await filmsWithRules(t)
    const granted = {
      'access-control-allow-origin': APP,
      'access-control-expose-headers': 'ETag, X-Request-Id',
    }
    const get = await films.on('objects', 'in/a%20b', fromPage(APP))
    t.equal(get.bytes.toString(), 'hello')
    t.strictSame(corsOf(get), granted)
    const put = await films.on('objects', 'k', { method: 'PUT', body: 'x', ...fromPage(APP) })
    t.strictSame([put.status, corsOf(put)], [200, granted])
    const head = await films.on('objects', 'k', { method: 'HEAD', ...fromPage(APP) })
    t.strictSame(corsOf(head), { 'access-control-allow-origin': '*' }, 'by the rule for HEAD')
    const etag = String(get.headers.etag)
    const unchanged = await films.on('objects', 'in/a%20b', fromPage(APP, { 'if-none-match': etag }))
    t.strictSame([unchanged.status, corsOf(unchanged)], [304, granted])
    const foreign = await films.on('objects', 'k', fromPage('https://evil.example'))
    t.strictSame([foreign.status, corsOf(foreign)], [200, {}], 'served, and not to be read by its page')
    const plain = await films.get('k')
    t.strictSame(corsOf(plain), {})
    for (const answer of [get, put, head, unchanged, foreign, plain]) t.equal(answer.headers.vary, VARY)
    t.equal((await films.ask({ path: '/api/v1/buckets' })).headers.vary, undefined, 'no bucket, no rules')
  },
)

t.test('a page may read a problem [cors.answer.error] [cors.no-access]', async (t) => {
  const films = await filmsWithRules(t)
  const problems = [
    [await films.on('objects', 'absent', fromPage(APP)), 404],
    [await films.on('objects', 'in/a%20b', fromPage(APP, { range: 'bytes=100-' })), 416],
    [await films.on('objects', 'in/a%20b', fromPage(APP, { 'if-match': '"other"' })), 412],
    [await films.on('objects', '%zz', fromPage(APP)), 400],
    [
      await films.on('objects', 'k', {
        method: 'PUT',
        body: 'x',
        ...fromPage(APP, { 'x-service-tagging': '=' }),
      }),
      400,
    ],
  ] as const
  for (const [answer, status] of problems) {
    t.equal(answer.status, status)
    t.match(answer.headers, { 'access-control-allow-origin': APP, vary: VARY }, String(answer.code))
    t.notOk('access-control-allow-credentials' in answer.headers)
  }
  const writer = films.as({ token: await films.world.memory.bearer('acme', 'write') })
  const denied = await writer.on('objects', 'in/a%20b', fromPage(APP))
  t.match(denied, { status: 403, code: 'access_denied' }, 'the rule allows GET, the scope does not')
  t.equal(denied.headers['access-control-allow-origin'], APP)
})

t.test('a caller that may not see a bucket does not get its rules [cors.no-leak]', async (t) => {
  const films = await filmsWithRules(t)
  const { memory } = films.world
  const elsewhere = films.as({ token: await memory.bearer('acme', 'op=read:bucket=photos:prefix=') })
  await memory.tenant('rival')
  const rival = films.as({ token: await memory.bearer('rival') })
  const answers = [
    [await elsewhere.on('objects', 'in/a%20b', fromPage(APP)), 403],
    [await rival.on('objects', 'in/a%20b', fromPage(APP)), 404],
    [await films.as({ token: 'svctk_none' }).on('objects', 'in/a%20b', fromPage(APP)), 401],
    [await films.as({ name: 'Absent' }).on('objects', 'k', fromPage(APP)), 404],
  ] as const
  for (const [answer, status] of answers) t.strictSame([answer.status, corsOf(answer)], [status, {}])
})
