/**
 * The built client in a real browser: from the origin of the data listener, where it does everything, and from another origin, where it has
 * signed URLs. [Fetch 3.3]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type * as Client from '../../packages/client/src/index.ts'
import { buildClient } from '../../scripts/build/client.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { BucketClient } from '../api/bucket-client.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'

/** A page, the files of the client, and the data listener, at one origin: what a reverse proxy of an operator does. */
async function servePage(t: Test, dist: string, dataPort: number): Promise<string> {
  const server = http.createServer((request, response) => {
    const { url = '', method = 'GET', headers } = request
    if (url.startsWith('/api/')) {
      const forwarded = http.request({ port: dataPort, path: url, method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      request.pipe(forwarded)
    } else if (url.startsWith('/client/')) {
      response.setHeader('content-type', 'text/javascript')
      response.end(readFileSync(join(dist, url.slice('/client/'.length))))
    } else {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><title>A page</title>')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Given {
  readonly endpoint: string
  readonly token: string
}

/** Runs in the page. */
async function transfers({ endpoint, token }: Given): Promise<unknown> {
  const file: string = '/client/index.js'
  const { Holdfast } = (await import(file)) as typeof Client
  const client = new Holdfast({ endpoints: endpoint, token })
  const bytes = new Uint8Array(6 * 1024 * 1024).map((_, n) => n * 31)
  const seen: number[] = []
  const stored = await client.upload('films', 'a b/ü', new File([bytes], 'film', { type: 'video/x-own' }), {
    partSize: 5 * 1024 * 1024,
    onProgress: ({ storedBytes }) => void seen.push(storedBytes),
  })
  const streamed = await client.upload('films', 'streamed', new Blob(['hello']).stream())
  const direct = await client
    .putObject({ bucket: 'films', key: 'direct', body: new Blob(['hello']).stream() })
    .catch((error: Error) => error.name)
  const download = await client.download('films', 'a b/ü')
  const received = await download.bytes()
  const keys: string[] = []
  for await (const { key } of client.objects({ bucket: 'films', maxKeys: 1 })) keys.push(key)
  const missing = await client
    .getObject({ bucket: 'films', key: 'absent' })
    .catch((error: Client.ApiError) => error)
  return {
    parts: stored.partsCount,
    type: stored.contentType,
    progress: seen.at(-1),
    streamed: streamed.size,
    direct: typeof direct === 'string' ? direct : direct.size,
    isVerified: download.isVerified,
    isEqual: received.length === bytes.length && received.every((byte, n) => byte === bytes[n]),
    keys,
    missing: 'code' in missing ? missing.code : null,
  }
}

/** Runs in the page. `endpoint` is of another origin; `token` that of the same origin's client is in `own`. */
async function acrossOrigins({ endpoint, token, own }: Given & { readonly own: string }): Promise<unknown> {
  const file: string = '/client/index.js'
  const { Holdfast } = (await import(file)) as typeof Client
  const refused = await new Holdfast({ endpoints: endpoint, token, repeat: { attemptsMax: 1 } })
    .listBuckets()
    .catch((error: Error) => error.name)
  const signer = new Holdfast({ endpoints: own, token })
  const name = { bucket: 'films', key: 'signed' }
  const put = await signer.signURL({ method: 'PUT', ...name })
  const get = await signer.signURL({ method: 'GET', ...name })
  const page = new Holdfast({ endpoints: endpoint })
  const stored = await page.putSigned({
    ...name,
    token: put.token,
    body: 'by a page',
    contentType: 'text/x-own',
  })
  const read = await page.getSigned({ ...name, token: get.token })
  return {
    refused,
    stored: stored.size,
    text: await new Response(read.body).text(),
    size: read.size,
    etag: read.etag,
  }
}

t.test('the client in Chromium', { timeout: 1_800_000 }, async (t) => {
  const dist = mkdtempSync(join(tmpdir(), 'holdfast-client-'))
  t.teardown(() => rmSync(dist, { recursive: true, force: true }))
  buildClient(ROOT, join(dist, 'dist'))
  const films = await BucketClient.start(t)
  const { dataPort } = films.world
  const token = await films.world.memory.bearer('acme', 'read,write,delete,admin')
  const app = await servePage(t, join(dist, 'dist'), dataPort)
  // Last, so that it is closed first: a server waits for the connections that a browser keeps.
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: the client in a browser. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const page = await browser.open(`${app}/`)

  await t.test('at the origin of the data listener', async (t) => {
    t.same(await page.run(transfers, { endpoint: app, token }), {
      parts: 2,
      type: 'video/x-own',
      progress: 6 * 1024 * 1024,
      streamed: 5,
      // Chromium sends streams over HTTP/2 only.
      direct: 'NoAnswerError',
      isVerified: true,
      isEqual: true,
      keys: ['a b/ü', 'streamed'],
      missing: 'not_found',
    })
  })

  await t.test('at another origin', async (t) => {
    const rule = { allowedOrigins: [app], allowedMethods: ['GET', 'PUT'], allowedHeaders: ['content-type'] }
    const rules = [{ ...rule, exposeHeaders: ['ETag'], maxAgeSeconds: 0 }]
    const set = { method: 'PUT', path: '/api/v1/buckets/films/cors', body: { rules }, token }
    t.equal((await films.world.call(set)).status, 200)
    const endpoint = `http://127.0.0.1:${dataPort}`
    const seen = await page.run(acrossOrigins, { endpoint, token, own: app })
    t.match(seen, { refused: 'NoAnswerError', stored: 9, text: 'by a page', size: null, etag: /^[0-9a-f]/ })
  })
})
