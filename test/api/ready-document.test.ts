/**
 * The contract documents: made once, compressed once, and not sent again to a client that has one. [RFC 9110 8.8, 12.5.3, 13.1.2]
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { acceptedCoding, ReadyDocument } from '../../src/api/ready-document.ts'
import { ApiWorld } from './api-world.ts'

t.test('a document is sent once in each encoding, and then answered 304', async (t) => {
  const world = await ApiWorld.start(t)
  for (const [path, admin] of [
    ['/api/v1/openapi.json', false],
    ['/admin/api/v1/openapi.json', true],
  ] as const) {
    const get = (headers: Record<string, string> = {}, method = 'GET') =>
      world.send({ path, admin, method, headers })
    const plain = await get()
    t.match(plain.headers, { vary: 'Accept-Encoding', 'cache-control': 'public, max-age=300' })
    t.equal(plain.headers['content-encoding'], undefined)
    const zipped = await get({ 'accept-encoding': 'gzip' })
    const brotli = await get({ 'accept-encoding': 'gzip, br' })
    t.same(gunzipSync(zipped.bytes), plain.bytes)
    t.same(brotliDecompressSync(brotli.bytes), plain.bytes)
    t.ok(
      brotli.bytes.length < plain.bytes.length / 5,
      `${brotli.bytes.length} of ${plain.bytes.length} bytes`,
    )
    const etags = [plain, zipped, brotli].map(({ headers }) => String(headers.etag))
    t.equal(new Set(etags).size, 3)
    for (const held of [etags[0], `W/${etags[0]}`, `"x", ${etags[0]}`, '*']) {
      const unchanged = await get({ 'if-none-match': String(held) })
      t.match(unchanged, { status: 304, bytes: Buffer.alloc(0), headers: { etag: etags[0] } }, String(held))
    }
    t.equal((await get({ 'if-none-match': String(etags[1]) })).status, 200, 'the copy of another encoding')
    const head = await get({ 'accept-encoding': 'br' }, 'HEAD')
    t.match(head, { status: 200, headers: { etag: etags[2], 'content-length': `${brotli.bytes.length}` } })
  }
})

t.test('a document is made once, however many ask', async (t) => {
  let made = 0
  const document = new ReadyDocument(() => ({ made: ++made }))
  await Promise.all(Array.from({ length: 20 }, () => document.answerTo({})))
  await document.answerTo({ 'accept-encoding': 'br' })
  t.equal(made, 1)
})

t.test('an encoding that a client does not take is not sent', async (t) => {
  const cases = {
    '': 'identity',
    identity: 'identity',
    deflate: 'identity',
    'gzip;q=0': 'identity',
    'br;q=0.0, gzip;q=0.5': 'gzip',
    'BR ; q=0.1': 'br',
    '*': 'br',
    '*;q=0': 'identity',
    'br;q=0, *': 'gzip',
    'gzip, *;q=0': 'gzip',
  }
  for (const [header, coding] of Object.entries(cases)) t.equal(acceptedCoding(header), coding, header)
  t.equal(acceptedCoding(undefined), 'identity')
})

t.test('a probe is not stored in between', async (t) => {
  const world = await ApiWorld.start(t)
  for (const path of ['/healthz', '/readyz'])
    t.equal((await world.call({ path })).headers['cache-control'], 'no-store', path)
})
