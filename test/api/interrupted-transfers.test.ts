/**
 * Transfers that do not run to their end: held back, refused in the middle, or abandoned by the client.
 */
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { deferred, until } from '../helpers/async.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { ApiWorld } from './api-world.ts'

const MIB = 1024 * 1024
const OBJECTS = '/api/v1/buckets/photos/objects/'

t.test(
  '[RFC 9110 10.1.1] Expect: 100-continue is answered after the checks that need no body [objects.body.continue]',
  async (t) => {
    const { world, token } = await ApiWorld.withBucket(t, { limits: { objectPutBytesMax: MIB } })
    const converse = async (path: string, length: number, body: string, bearer = token): Promise<string> => {
      const socket = net.connect(world.dataPort, '127.0.0.1')
      let answer = ''
      socket.on('data', (piece) => {
        if (answer === '' && piece.toString().startsWith('HTTP/1.1 100 ')) socket.write(body)
        answer += piece.toString('latin1')
      })
      socket.write(
        `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`,
      )
      // A refusal closes the connection by itself: the client may never send the body that was announced.
      socket.on('data', () => {
        if (/HTTP\/1\.1 200 [^]*\}$/.test(answer)) socket.end()
      })
      await once(socket, 'close')
      return answer
    }
    t.match(await converse(`${OBJECTS}k`, 5, 'hello'), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
    t.match(await converse(`${OBJECTS}k`, MIB + 1, ''), /^HTTP\/1\.1 413 [^]*connection: close/)
    t.match(await converse('/api/v1/buckets/absent/objects/k', 5, ''), /^HTTP\/1\.1 404 /)
    t.match(await converse(`${OBJECTS}k%00`, 5, ''), /^HTTP\/1\.1 400 /)
    t.match(await converse(`${OBJECTS}k`, 5, '', 'bad'), /^HTTP\/1\.1 401 /)
    const readOnly = await world.memory.bearer('acme', 'read')
    t.match(await converse(`${OBJECTS}k`, 5, '', readOnly), /^HTTP\/1\.1 403 /)
  },
)

t.test('a refused upload leaves its connection usable, or closed, but never stuck', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
  const body = 'x'.repeat(200_000)
  const answer = await world.raw(
    `PUT ${OBJECTS}%00 HTTP/1.1\r\n${auth}Content-Length: ${body.length}\r\n\r\n${body}` +
      `GET /api/v1/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  )
  t.match(answer, /^HTTP\/1\.1 400 [^]*HTTP\/1\.1 200 OK/)
  const endless = net.connect(world.dataPort, '127.0.0.1')
  endless.on('error', () => {})
  endless.write(`PUT ${OBJECTS}%00 HTTP/1.1\r\n${auth}Content-Length: ${2 ** 40}\r\n\r\n`)
  const piece = Buffer.alloc(MIB)
  const pump = (): void => {
    while (!endless.destroyed && endless.write(piece));
  }
  endless.on('drain', pump)
  endless.resume()
  pump()
  await new Promise((resolve) => endless.once('close', resolve))
  t.ok(endless.bytesWritten < 64 * MIB, 'a client that never stops is cut off')
})

t.test('[RFC 9112 9.6] a client that reads nothing before all is sent gets its refusal', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  world.memory.blobs.beforeWrite = () => Promise.reject(new Condition('disk_full', 'All disks are full'))
  const refused = async (extra: string, framing: 'length' | 'chunks'): Promise<string> => {
    const socket = net.connect(world.dataPort, '127.0.0.1')
    t.teardown(() => socket.destroy())
    const length = framing === 'length' ? `Content-Length: ${64 * MIB}` : 'Transfer-Encoding: chunked'
    socket.write(
      `PUT ${OBJECTS}k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${extra}${length}\r\n\r\n`,
    )
    if (framing === 'chunks') socket.write(`${(64 * MIB).toString(16)}\r\n`)
    const piece = patternBytes(MIB)
    for (let n = 0; n < 64; n++) if (!socket.write(piece)) await once(socket, 'drain')
    if (framing === 'chunks') socket.write('\r\n0\r\n\r\n')
    if (extra === '') socket.write('GET /api/v1/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    let answer = ''
    for await (const bytes of socket) answer += String(bytes)
    return answer
  }
  for (const framing of ['length', 'chunks'] as const) {
    t.match(
      await refused('', framing),
      /^HTTP\/1\.1 503 [^]*"code":"disk_full"[^]*HTTP\/1\.1 200 OK/,
      framing,
    )
    const last = await refused('Connection: close\r\n', framing)
    t.match(last, /^HTTP\/1\.1 503 [^]*"code":"disk_full"[^]*\}$/, `${framing}, of its last request`)
  }
})

t.test('a body found too large is refused while its sender still sends', async (t) => {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')
  const token = await world.memory.bearer('acme')
  const socket = net.connect(world.dataPort, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(
    `POST /api/v1/buckets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n200000\r\n`,
  )
  socket.write(Buffer.alloc(MIB + 1, ' '))
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 413 [^]*"code":"entity_too_large"/)
  const next = once(socket, 'data')
  socket.write(Buffer.alloc(0x200000 - MIB - 1, ' '))
  socket.write('\r\n0\r\n\r\nGET /api/v1/healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  t.match(String((await next)[0]), /^HTTP\/1\.1 200 /, 'and the connection stays usable after it')
})

t.test('a client that goes away with all of its upload sent is no server error either', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const [placed, gone] = [deferred(), deferred()]
  world.memory.blobs.beforeWrite = () => {
    placed.resolve()
    return gone.promise
  }
  const socket = net.connect(world.dataPort, '127.0.0.1')
  world.dataServer.server.once('request', (_, response) => response.once('close', () => gone.resolve()))
  socket.write(
    `PUT ${OBJECTS}whole HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${MIB}\r\n\r\n`,
  )
  socket.write(patternBytes(MIB))
  await placed.promise
  socket.destroy()
  await until('the request has failed', () => world.memory.auditRows.some(({ key }) => key === 'whole'))
  t.match(
    world.memory.auditRows.find(({ key }) => key === 'whole'),
    { code: 'client_gone' },
  )
  t.notOk(world.memory.lines.some(({ level }) => level === 'error'))
})

t.test('a client that goes away in the middle of its upload stores nothing', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const placed = deferred()
  world.memory.blobs.beforeWrite = async () => placed.resolve()
  // The session that all uploads share is open before.
  ;(await world.memory.uploads.begin()).end('known')
  const before = world.memory.proposals
  const socket = net.connect(world.dataPort, '127.0.0.1')
  const gone = new Promise<void>((resolve) => {
    world.dataServer.server.once('connection', (peer: net.Socket) => peer.once('close', () => resolve()))
  })
  socket.write(
    `PUT ${OBJECTS}half HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${20 * MIB}\r\n\r\n`,
  )
  socket.write(patternBytes(9 * MIB))
  await placed.promise
  socket.destroy()
  await gone
  const served = (): boolean =>
    world.memory.lines.some(({ fields }) => 'finished' in fields && fields.finished === false)
  while (!served()) await new Promise((resolve) => setImmediate(resolve))
  t.equal((await world.call({ path: `${OBJECTS}half`, token })).status, 404)
  t.equal(world.memory.proposals, before, 'and proposes nothing')
  t.notOk(
    world.memory.lines.some(({ level }) => level === 'error'),
    'it is no server error',
  )
})

t.test('stops reading when the client goes away, and holds little while it does not read', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const large = patternBytes(24 * MIB)
  await world.call({ method: 'PUT', path: `${OBJECTS}large`, token, body: large })
  const reads = countReads(world)
  const socket = net.connect(world.dataPort, '127.0.0.1')
  socket.write(`GET ${OBJECTS}large HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  await once(socket, 'data')
  socket.pause()
  socket.destroy()
  await reads.closed
  t.ok(reads.bytes() < large.length, 'the rest was never read')
})

t.test('releases the memory of each piece of a body once it is sent', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const large = patternBytes(5 * MIB)
  await world.call({ method: 'PUT', path: `${OBJECTS}large`, token, body: large })
  const { content } = world.memory.services
  const original = content.read.bind(content)
  const pieces: Uint8Array[] = []
  content.read = async function* (...question) {
    for await (const piece of original(...question)) {
      const { length } = piece
      pieces.push(piece)
      yield piece
      t.equal(piece.length, 0, `${length} bytes`)
    }
  }
  t.ok((await world.call({ path: `${OBJECTS}large`, token })).bytes.equals(large))
  t.ok(pieces.length > 1)
})

/** Counts the bytes read from blobs, and records the close of the first reader. */
function countReads(world: ApiWorld): { readonly closed: Promise<void>; readonly bytes: () => number } {
  const { content } = world.memory.services
  const original = content.read.bind(content)
  const done = deferred()
  let bytes = 0
  content.read = (...question) => watched(original(...question))
  return { closed: done.promise, bytes: () => bytes }

  async function* watched(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of pieces) {
        bytes += piece.length
        yield piece
      }
    } finally {
      done.resolve()
    }
  }
}
