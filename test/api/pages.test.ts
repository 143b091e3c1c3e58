/**
 * Pages for browsers on both listeners: the documentation, the fronts, the icon; and that clients of the APIs meet none of them.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { adminPlane } from '../../src/api/admin/routes.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { adminPages } from '../../src/api/pages/admin-pages.ts'
import { Documentation } from '../../src/api/pages/documentation.ts'
import { packSite, SiteArchive } from '../../src/api/pages/site-archive.ts'
import type { AuditTrail } from '../../src/audit/audit-trail.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { until } from '../helpers/async.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { METRICS } from './api-world.ts'

const HTML = 'text/html; charset=utf-8'
const INDEX = `<!doctype html><title>x</title>${'documentation '.repeat(200)}`
const FILES = new Map(
  [
    ['index.html', HTML, INDEX],
    ['guide/index.html', HTML, '<!doctype html><title>guide</title>'],
    ['assets/style.0123456789ab.css', 'text/css; charset=utf-8', 'body { color: red }'],
    ['diagrams/a-1.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ].map(([path = '', type = '', text = '']) => [path, { type, bytes: Buffer.from(text) }] as const),
)

interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
}

type Send = (path: string, headers?: http.OutgoingHttpHeaders, method?: string) => Promise<Answer>

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** Sends the path as it is spelled. */
function sender(port: number): Send {
  return async (path, headers = {}, method = 'GET') => {
    const request = http.request({ port, path, method, headers, agent: false })
    request.end()
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.once('response', resolve)
      request.once('error', reject)
    })
    const bytes = Buffer.concat(await answer.toArray())
    return { status: answer.statusCode ?? 0, headers: answer.headers, bytes, text: bytes.toString() }
  }
}

async function admin(
  t: Test,
  load = async () => new SiteArchive(packSite(FILES)),
  options: Parameters<typeof MemoryServices.start>[1] = {},
) {
  const memory = await MemoryServices.start(t, options)
  const pages = adminPages(new Documentation(load))
  const kept: string[] = []
  const audit: AuditTrail = {
    ...memory.services.audit,
    append: ({ operation, path, status }, how) =>
      void kept.push(`${operation} ${path} ${status}: ${how?.kept}`),
  }
  const server = createHttpServer({ ...memory.services, audit }, { ...adminPlane(METRICS), pages }, METRICS)
  await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  return { kept, send: sender((server.server.address() as AddressInfo).port) }
}

t.test('the documentation of the admin listener', async (t) => {
  const { kept, send } = await admin(t)

  t.test('needs no credential, and comes with its type, its policy and a tag', async (t) => {
    const page = await send('/docs/')
    t.match(page, { status: 200, text: INDEX })
    t.match(page.headers, {
      'content-type': HTML,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      vary: 'Accept-Encoding',
      'content-length': `${INDEX.length}`,
    })
    const policy = String(page.headers['content-security-policy'])
    t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.notMatch(policy, /unsafe|https?:|\*/)
    t.equal((await send('/docs/guide/')).text, '<!doctype html><title>guide</title>')
    t.equal((await send('/docs/?a=b')).status, 200)
    t.match(await send('/docs'), { status: 308, headers: { location: '/docs/' } })
  })

  t.test('is sent compressed to clients that take it, with a tag of its own', async (t) => {
    const plain = await send('/docs/')
    const zipped = await send('/docs/', { 'accept-encoding': 'gzip, deflate, br' })
    t.match(zipped.headers, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    t.equal(gunzipSync(zipped.bytes).toString(), INDEX)
    t.not(zipped.headers.etag, plain.headers.etag)
    t.equal((await send('/docs/', { 'accept-encoding': 'gzip;q=0' })).text, INDEX)
    const held = { 'accept-encoding': 'gzip', 'if-none-match': zipped.headers.etag }
    t.match(await send('/docs/', held), { status: 304, text: '', headers: { etag: zipped.headers.etag } })
    t.equal((await send('/docs/', { 'if-none-match': '"other"' })).status, 200)
  })

  t.test('HEAD says what GET would', async (t) => {
    const { headers } = await send('/docs/')
    const head = await send('/docs/', {}, 'HEAD')
    t.match(head, { status: 200, text: '' })
    for (const name of ['etag', 'content-length', 'content-type'])
      t.equal(head.headers[name], headers[name], name)
  })

  t.test('files whose names change with their bytes are kept for good', async (t) => {
    const style = await send('/docs/assets/style.0123456789ab.css')
    t.equal(style.headers['cache-control'], 'public, max-age=31536000, immutable')
    const image = await send('/docs/diagrams/a-1.svg')
    t.match(image.headers, { 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' })
    t.notMatch(image.headers['content-security-policy'], /script-src|img-src/)
  })

  t.test('a path outside of it, however it is spelled, is no page', async (t) => {
    for (const path of [
      '/docs/absent.html',
      '/docs/guide',
      '/docs//',
      '/docs/../package.json',
      '/docs/..%2f..%2fpackage.json',
      '/docs/%2e%2e/%2e%2e/etc/passwd',
      '/docs/....//etc/passwd',
      '/docs/assets/../index.html',
      '/docs/index.html%00',
      '/docs/\\..\\package.json',
      '/docs//etc/passwd',
      '/docs/__proto__',
      '/docs/constructor',
    ]) {
      const missing = await send(path)
      t.equal(missing.status, 404, path)
      t.match(missing.headers['content-type'], /^text\/html/, path)
      t.match(missing.text, /no such page/, path)
      t.notMatch(missing.text, /holdfast"|root:/, path)
    }
    t.equal((await send('/docs/%zz')).status, 401, 'what is no path is refused as ever')
    t.equal((await send('/docs/', {}, 'POST')).status, 401, 'and so is another method')
  })

  t.test('is counted in the audit log as a probe is, without a row of its own', async (t) => {
    kept.length = 0
    await send('/docs/')
    await send('/docs/absent')
    await send('/', BROWSER)
    await send('/')
    await until('all are judged', async () => kept.length === 4)
    t.same(kept.toSorted(), [
      'getDocumentation / 200: none',
      'getDocumentation /docs/ 200: none',
      'getDocumentation /docs/absent 404: none',
      'unknown / 401: first',
    ])
  })
})

t.test('a build without documentation says how to make it, and shows it once it is made', async (t) => {
  let archive: SiteArchive | null = null
  const { send } = await admin(t, async () => {
    if (archive === null) throw Object.assign(new Error('none'), { code: 'ENOENT' })
    return archive
  })
  const page = await send('/docs/')
  t.match(page, { status: 404, text: /npm run docs/ })
  archive = new SiteArchive(packSite(FILES))
  t.equal((await send('/docs/')).status, 200)
})

t.test('documentation is limited like other requests of clients that have proved nothing', async (t) => {
  const limits = { unprovedRequestsPerMinute: 60, unprovedBurst: 3 }
  const { send } = await admin(t, undefined, { limits })
  const statuses: number[] = []
  for (let n = 0; n < 4; n++) statuses.push((await send('/docs/', {}, 'HEAD')).status)
  t.same(statuses, [200, 200, 200, 429])
})

t.test('the root of the admin listener', async (t) => {
  const { send } = await admin(t)
  const page = await send('/', BROWSER)
  t.match(page, { status: 200, text: /href="\/docs\/"/ })
  t.match(page.headers, {
    'content-type': HTML,
    'content-security-policy': /^default-src 'none'; img-src 'self'/,
  })
  t.match(await send('/favicon.ico', { accept: 'image/avif,image/webp,*/*' }), {
    status: 200,
    headers: { 'content-type': 'image/svg+xml' },
  })

  t.test('is what it was to clients of the API', async (t) => {
    const PROBLEM = { status: 401, headers: { 'content-type': 'application/problem+json' } }
    t.match(await send('/'), PROBLEM)
    t.match(await send('/', { accept: '*/*' }), PROBLEM)
    t.match(await send('/', { ...BROWSER, authorization: 'Bearer x' }), PROBLEM)
    t.match(await send('/?a', BROWSER), PROBLEM)
    t.match(await send('/', BROWSER, 'POST'), PROBLEM)
    t.match(await send('/favicon.ico'), PROBLEM)
    t.match(await send('/admin/api/v1/tenants', BROWSER), PROBLEM)
  })
})

t.test('the root of the data listener', async (t) => {
  const memory = await MemoryServices.start(t)
  const server = createDataServer(memory.services)
  await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  const send = sender((server.server.address() as AddressInfo).port)
  const page = await send('/', BROWSER)
  t.match(page, { status: 200, headers: { 'content-type': HTML } })
  t.match(page.text, /\/docs\/<\/code> of the admin listener/)
  t.match(page.text, /\/api\/v1\/openapi\.json/)
  t.match(await send('/favicon.ico', { accept: 'image/*' }), {
    status: 200,
    headers: { 'content-type': 'image/svg+xml' },
  })

  t.test('ListBuckets and a bucket of that name are what they were to S3 clients', async (t) => {
    const REFUSED = { status: 403, headers: { 'content-type': 'application/xml' } }
    t.match(await send('/'), REFUSED)
    t.match(await send('/', { ...BROWSER, authorization: 'AWS4-HMAC-SHA256 x' }), {
      headers: { 'content-type': 'application/xml' },
    })
    t.match(await send('/?x-id=ListBuckets', BROWSER), REFUSED)
    t.match(await send('/favicon.ico'), REFUSED)
    t.match(await send('/favicon.ico/key', BROWSER), REFUSED)
    t.match(await send('/photos', BROWSER), REFUSED)
    t.match(await send('/docs/', BROWSER), REFUSED, 'the documentation is not here')
  })
})

t.test('an archive that is cut off, or of another version, is refused', async (t) => {
  const whole = packSite(FILES)
  t.throws(() => new SiteArchive(whole.subarray(0, -1)), /cut off/)
  t.throws(() => new SiteArchive(Buffer.from('{"format":"holdfast-site 2","files":[]}\n')), /site 2/)
  t.ok(whole.equals(packSite(FILES)), 'equal files, equal bytes')
})
