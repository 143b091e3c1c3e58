/**
 * Requests that two servers could read in two ways, and bodies and headers that never end: over raw sockets.
 *
 * Each one is followed by a second request that would delete an object if it were read as a request.
 */
import net from 'node:net'
import t from 'tap'
import { ApiWorld } from './api-world.ts'
import { AMBIGUOUS } from './framing-corpus.ts'

const VICTIM = '/api/v1/buckets/photos/objects/victim'

/** With the object that the second request would delete. */
async function start(t: Parameters<typeof ApiWorld.start>[0]) {
  const { world, token } = await ApiWorld.withBucket(t)
  await world.call({ method: 'PUT', path: VICTIM, token, body: 'here' })
  const smuggled = `DELETE ${VICTIM} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const isThere = async () => (await world.call({ path: VICTIM, token })).status === 200
  return { world, token, smuggled, isThere }
}

t.test('an ambiguous request is refused, and no byte after it is read', async (t) => {
  const { world, token, smuggled, isThere } = await start(t)
  const head = `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}`
  for (const [name, text] of Object.entries(AMBIGUOUS)) {
    // `raw` ends when the server has closed the connection.
    const received = await world.raw(text.replace('HEAD', head) + smuggled)
    t.match(received, /^HTTP\/1\.1 (400|413|431|501) /, name)
    t.equal(received.match(/HTTP\/1\.1 [1-5]\d\d /g)?.length, 1, `${name}: one answer`)
    t.ok(await isThere(), `${name}: the second request was not carried out`)
  }
})

t.test('a coding that is not carried out is 501 by name [objects.put.coding]', async (t) => {
  const { world, token } = await start(t)
  const head = `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}`
  const gzip = 'Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
  t.match(
    await world.raw(`${head}\r\n${gzip}`),
    /^HTTP\/1\.1 501 [^]*"code":"not_implemented"[^]*gzip, chunked/,
  )
  t.equal((await world.call({ path: '/api/v1/buckets/photos/objects/k', token })).status, 404)
})

t.test('a valid request is served once, and the next request is read correctly', async (t) => {
  const { world, token, isThere } = await start(t)
  const head = `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}`
  const last = 'GET /api/v1/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const allowed = {
    'a chunk extension': '\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n',
    'trailers that repeat the digest':
      '\r\nTrailer: Content-MD5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nContent-MD5: XUFAKrxLKna5cZ2REBfFkg==\r\n\r\n',
    'a coding in capitals': '\r\nTransfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    'a length with leading zeros': '\r\nContent-Length: 0005\r\n\r\nhello',
    'a request inside of the body': `\r\nContent-Length: ${`DELETE ${VICTIM} HTTP/1.1\r\n\r\n`.length}\r\n\r\nDELETE ${VICTIM} HTTP/1.1\r\n\r\n`,
  }
  for (const [name, rest] of Object.entries(allowed)) {
    const received = await world.raw(head + rest + last)
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d\d\d) /g)].map(([, status]) => status)
    t.same(statuses, ['200', '200'], name)
    t.ok(await isThere(), name)
  }
})

t.test('a body on a route that takes none does not become a request', async (t) => {
  const { world, token, smuggled, isThere } = await start(t)
  const inside = `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`
  for (const path of ['/api/v1/healthz', '/api/v1/buckets', '/api/v1/nowhere']) {
    const text = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n${inside}`
    t.match(await world.raw(text), /^HTTP\/1\.1 (400|404) [^]*"code":"(invalid_request|not_found)"/, path)
    t.ok(await isThere(), path)
  }
})

t.test('a silent client is disconnected, in headers and in bodies', async (t) => {
  const { world, token } = await start(t)
  const { server } = world.dataServer
  t.equal(server.timeout, 120_000, 'on a socket on which nothing moves')
  t.equal(server.headersTimeout, 20_000)
  // The same by the same means, only sooner.
  server.timeout = 50
  const auth = `Host: x\r\nAuthorization: Bearer ${token}`
  for (const half of [
    'GET /api/v1/hea',
    `GET /api/v1/buckets HTTP/1.1\r\n${auth}\r\nX-A: `,
    `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\n${auth}\r\nContent-Length: 500\r\n\r\nhal`,
    `PUT /api/v1/buckets/photos/objects/k HTTP/1.1\r\n${auth}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhal`,
    `POST /api/v1/buckets HTTP/1.1\r\n${auth}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"na`,
  ]) {
    const socket = net.connect(world.dataPort, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.resume()
    socket.write(half)
    // `once` would reject where the end reaches the client as a reset.
    await new Promise((resolve) => socket.once('close', resolve))
    t.pass(half.slice(0, 30))
  }
  // The next request may take its time.
  server.timeout = 120_000
  t.equal(
    (await world.call({ path: '/api/v1/buckets/photos/objects/k', token })).status,
    404,
    'no half is stored',
  )
})
