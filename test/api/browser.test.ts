/**
 * A real browser: pages of two origins and the signed URLs of a third. [Fetch 3.3] [native: Signed-URL access]
 *
 * The result of the page's fetch counts, not the headers that were sent. One browser serves all, for it takes a second to start.
 */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { Browser, type Page } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { BucketClient } from './bucket-client.ts'
import { SignedClient } from './signed-client.ts'
import { presignedPath } from './s3/s3-signer.ts'

/** The result in a page: an answer it may read, or only the fact that it failed. */
type Seen =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly text: string }
  | { readonly failed: string }

interface Requested {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Runs in the page: the text of this function goes there. */
async function fetchInPage(url: string, requested: Requested): Promise<Seen> {
  try {
    const answer = await fetch(url, requested)
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() }
  } catch (error) {
    return { failed: String(error) }
  }
}

/** The origin of a server that has one empty page. */
async function servePage(t: { teardown(handler: () => void): void }): Promise<string> {
  const server = http.createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>A page</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const FAILED = { failed: 'TypeError: Failed to fetch' }

t.test('pages in Chromium', { timeout: 1_800_000 }, async (t) => {
  const films = await (await BucketClient.start(t)).asAdmin()
  const signed = new SignedClient(films)
  const [app, foreign] = [await servePage(t), await servePage(t)]
  // Last, so that it is closed first: a server waits for the connections that a browser keeps.
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: CORS in a browser. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const setRules = (rules: readonly object[]) =>
    films.ask({ method: 'PUT', path: '/api/v1/buckets/films/cors', body: { rules } })
  const rule = {
    allowedOrigins: [app],
    allowedMethods: ['GET', 'PUT'],
    allowedHeaders: ['content-type', 'x-service-meta-*'],
    exposeHeaders: ['ETag'],
    maxAgeSeconds: 0,
  }
  t.equal((await setRules([rule])).status, 200)
  const [inApp, inOtherOrigin] = [await browser.open(`${app}/`), await browser.open(`${foreign}/`)]
  const origin = `http://127.0.0.1:${films.world.dataPort}`
  const ask = (page: Page, path: string, requested: Requested = {}): Promise<Seen> =>
    page.run<Seen>(fetchInPage, origin + path, requested)
  /** Methods of the requests of pages, in the order in which they came since the last look. */
  const reached: string[] = []
  const come = () => reached.splice(0).join(' ')
  films.world.dataServer.server.on('request', ({ headers, method = '' }: http.IncomingMessage) => {
    if (headers.origin !== undefined) reached.push(method)
  })
  const upload = { method: 'PUT', headers: { 'x-service-meta-camera': 'x100' }, body: 'by a page' }

  await t.test('upload and download, with a header of their own', async (t) => {
    const put = await signed.link({ method: 'PUT', key: 'a b/ü.txt' })
    const get = await signed.link({ method: 'GET', key: 'a b/ü.txt' })
    const stored = await ask(inApp, put, upload)
    t.match(stored, { status: 200, headers: { etag: /^"/ } })
    t.equal(come(), 'OPTIONS PUT', 'the browser asked before')
    const read = await ask(inApp, get)
    t.match(read, { status: 200, text: 'by a page', headers: { etag: /^"/ } })
    t.notOk('headers' in read && 'x-service-meta-camera' in read.headers, 'only exposed headers can be read')
    t.equal(come(), 'GET', 'a simple GET needs no preflight')
    t.equal((await films.head('a%20b/%C3%BC.txt')).headers['x-service-meta-camera'], 'x100')
  })

  await t.test('read why they are refused', async (t) => {
    const absent = await ask(inApp, await signed.link({ method: 'GET', key: 'absent' }))
    t.match(absent, { status: 404, text: /"code":"not_found"/ })
    const late = await signed.link({ method: 'GET', key: 'late', ttlSeconds: 1 })
    films.world.memory.now += 1000
    t.match(await ask(inApp, late), { status: 401, text: /"code":"signed_url_expired"/ })
  })

  await t.test('of another origin neither upload nor read', async (t) => {
    const put = await signed.link({ method: 'PUT', key: 'foreign' })
    const get = await signed.link({ method: 'GET', key: 'a b/ü.txt' })
    come()
    t.strictSame(await ask(inOtherOrigin, put, upload), FAILED)
    t.equal(come(), 'OPTIONS', 'the upload itself was never sent')
    t.strictSame(await ask(inOtherOrigin, get), FAILED, 'the answer is kept from the page')
    t.equal((await films.get('foreign')).status, 404)
  })

  await t.test('are refused a method or header that no rule names', async (t) => {
    const put = await signed.link({ method: 'PUT', key: 'refused' })
    const get = await signed.link({ method: 'GET', key: 'a b/ü.txt' })
    come()
    t.strictSame(await ask(inApp, put, { method: 'DELETE' }), FAILED)
    t.strictSame(await ask(inApp, put, { ...upload, headers: { 'if-none-match': '*' } }), FAILED)
    t.equal(come(), 'OPTIONS OPTIONS', 'neither was sent')
    t.strictSame(
      await ask(inApp, get, { method: 'HEAD' }),
      FAILED,
      'it needs no leave to be sent, but to be read',
    )
    t.equal(come(), 'HEAD')
    t.equal((await films.get('refused')).status, 404)
  })

  await t.test('upload and download by presigned URLs of the S3 API', async (t) => {
    const secret = await films.world.memory.accessKey('acme', 'read,write')
    const host = `127.0.0.1:${films.world.dataPort}`
    const link = (method: string, key: string): string => {
      const asked = { method, path: `/films/${key}`, host, headers: {}, payload: 'UNSIGNED-PAYLOAD' }
      return presignedPath(secret, { ...asked, at: new Date(films.world.memory.now) }, 60)
    }
    const [put, get] = [link('PUT', 'a%20b/s3.txt'), link('GET', 'a%20b/s3.txt')]
    come()
    const asText = { method: 'PUT', headers: { 'content-type': 'text/x-page' }, body: 'by S3' }
    t.match(await ask(inApp, put, asText), { status: 200, headers: { etag: /^"/ } })
    t.equal(come(), 'OPTIONS PUT', 'the browser asked before')
    t.match(await ask(inApp, get), { status: 200, text: 'by S3', headers: { etag: /^"/ } })
    t.strictSame(await ask(inOtherOrigin, link('PUT', 'foreign'), asText), FAILED)
    t.strictSame(await ask(inOtherOrigin, get), FAILED, 'the answer is kept from the page')
    t.strictSame(await ask(inApp, link('PUT', 'x'), { ...asText, method: 'DELETE' }), FAILED)
    for (const key of ['foreign', 'x']) t.equal((await films.get(key)).status, 404)
    come()
  })

  await t.test('cannot use a bearer token: its preflight carries none', async (t) => {
    const headers = { authorization: `Bearer ${films.token}` }
    t.strictSame(await ask(inApp, '/api/v1/buckets/films/objects/k', { headers }), FAILED)
    t.equal(come(), 'OPTIONS')
  })

  await t.test('of any origin, where the rule says so, and of none once the rules are gone', async (t) => {
    const get = await signed.link({ method: 'GET', key: 'a b/ü.txt' })
    await setRules([{ allowedOrigins: ['*'], allowedMethods: ['GET'] }])
    for (const page of [inApp, inOtherOrigin])
      t.match(await ask(page, get), { status: 200, text: 'by a page' })
    await films.ask({ method: 'DELETE', path: '/api/v1/buckets/films/cors' })
    // Another URL: a browser may show a cached answer again to the page that read it.
    const fresh = await signed.link({ method: 'GET', key: 'a b/ü.txt' })
    for (const page of [inApp, inOtherOrigin]) t.strictSame(await ask(page, fresh), FAILED)
  })
})
