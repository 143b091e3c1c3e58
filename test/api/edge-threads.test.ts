/**
 * The data listener on edge threads: what only they bring. The other tests of the API run on them with HOLDFAST_EDGE_THREADS=2.
 */
import { once } from 'node:events'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { connect } from 'node:tls'
import { BroadcastChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { PLAIN_EDGE } from '../../src/api/edge.ts'
import { EdgeThreads } from '../../src/api/edge-threads/edge-threads.ts'
import { CREDIT_BYTES } from '../../src/api/edge-threads/thread-messages.ts'
import { ListenerTls } from '../../src/api/listener-tls.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { deferred, until } from '../helpers/async.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { metricValue } from '../helpers/metric-value.ts'
import { MadeCertificates, put } from '../transport/made-certificates.ts'
import { ApiWorld } from './api-world.ts'

const MIB = 1024 * 1024
/** As in dying-edge-worker.ts. */
const DIE = 'edge-thread-dies'
const OBJECTS = '/api/v1/buckets/photos/objects/'

const WORKER = new URL('./dying-edge-worker.ts', import.meta.url)

async function start(t: Test, options: Parameters<typeof ApiWorld.withBucket>[1] = {}) {
  const threads = new EdgeThreads(2, WORKER)
  const { world, token } = await ApiWorld.withBucket(t, { ...options, edge: { threads: threads.open } })
  const auth = `Host: x\r\nAuthorization: Bearer ${token}\r\n`
  const measured = (name: string) => metricValue(threads.samples(), name)
  return { world, token, auth, measured }
}

/** A connection that has sent this, and what has come on it. */
function connected(t: Test, port: number, text: string) {
  const socket = net.connect(port, '127.0.0.1')
  const received = { text: '', bytes: 0, isOver: false }
  socket.on('data', (piece: Buffer) => {
    received.bytes += piece.length
    if (received.text.length < 64 * 1024) received.text += piece.toString('latin1')
  })
  socket.on('error', () => undefined).once('close', () => (received.isOver = true))
  socket.write(text)
  t.teardown(() => socket.destroy())
  return { socket, received }
}

t.test('two threads serve one address', async (t) => {
  const { world, token, auth, measured } = await start(t)
  const large = patternBytes(5 * MIB)

  await t.test('uploads, downloads, parts of them, heads, refusals', async (t) => {
    const path = `${OBJECTS}large`
    const put = await world.call({ method: 'PUT', path, token, body: large })
    t.equal(put.status, 200)
    t.ok((await world.call({ path, token })).bytes.equals(large))
    const part = await world.call({ path, token, headers: { range: 'bytes=1048570-1048580' } })
    t.equal(part.status, 206)
    t.ok(part.bytes.equals(large.subarray(1_048_570, 1_048_581)))
    const head = await world.call({ method: 'HEAD', path, token })
    t.equal(head.headers['content-length'], `${5 * MIB}`)
    t.equal(head.bytes.length, 0)
    t.equal((await world.call({ path: `${OBJECTS}absent`, token })).status, 404)
    t.equal((await world.call({ path })).status, 401)
    const chunked = `PUT ${OBJECTS}c HTTP/1.1\r\n${auth}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
    t.match(await world.raw(`${chunked}5\r\nhello\r\n0\r\n\r\n`), /^HTTP\/1\.1 200 /)
    t.equal((await world.call({ path: `${OBJECTS}c`, token })).bytes.toString(), 'hello')
    t.match(await world.raw('GET / HTTP/1.1\r\nBad header\r\n\r\n'), /^HTTP\/1\.1 400 [^]*invalid_request/)
  })

  await t.test('a reader that does not read makes no part hold more than a bound', async (t) => {
    const original = world.memory.services.content.read.bind(world.memory.services.content)
    let bytes = 0
    const closed = deferred()
    world.memory.services.content.read = async function* (...question) {
      try {
        for await (const piece of original(...question)) {
          bytes += piece.length
          yield piece
        }
      } finally {
        closed.resolve()
      }
    }
    await world.call({ method: 'PUT', path: `${OBJECTS}huge`, token, body: patternBytes(32 * MIB) })
    const { socket } = connected(t, world.dataPort, `GET ${OBJECTS}huge HTTP/1.1\r\n${auth}\r\n`)
    socket.pause()
    let before = -1
    await until('it stops', () => {
      const isStill = bytes > 0 && bytes === before
      before = bytes
      return isStill
    })
    // What the system holds of a connection on loopback is bounded by it.
    t.ok(bytes < 16 * MIB + CREDIT_BYTES, `${bytes} bytes were read`)
    socket.destroy()
    await closed.promise
    await until('its row says so', () => world.memory.auditRows.at(-1)?.code === 'client_gone')
    world.memory.services.content.read = original
  })

  await t.test('an upload that its client leaves stores nothing', async (t) => {
    const head = `PUT ${OBJECTS}half HTTP/1.1\r\n${auth}Content-Length: ${20 * MIB}\r\n\r\n`
    const { socket } = connected(t, world.dataPort, head)
    socket.write(patternBytes(MIB))
    const { tenants } = world.memory.limits
    await until('it is under way', () => tenants.known('acme')?.running.uploads === 1)
    socket.destroy()
    await until('its row says so', () =>
      world.memory.auditRows.some(({ key, code }) => key === 'half' && code === 'client_gone'),
    )
    t.equal((await world.call({ path: `${OBJECTS}half`, token })).status, 404)
  })

  await t.test('a refused upload that still sends gets its answer', async (t) => {
    const head = `PUT ${OBJECTS}%00 HTTP/1.1\r\n${auth}Content-Length: ${2 ** 40}\r\n\r\n`
    const { socket, received } = connected(t, world.dataPort, head)
    const piece = Buffer.alloc(MIB)
    const pump = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket.on('drain', pump)
    pump()
    await until('it is cut off', () => received.isOver)
    t.match(received.text, /^HTTP\/1\.1 400 /)
    t.ok(socket.bytesWritten < 64 * MIB)
  })

  await t.test('threads that die take their connections along, and the node serves on others', async (t) => {
    const { socket, received } = connected(t, world.dataPort, `GET ${OBJECTS}huge HTTP/1.1\r\n${auth}\r\n`)
    await until('it comes', () => received.bytes > 0)
    socket.pause()
    const channel = new BroadcastChannel(DIE)
    channel.postMessage('now')
    channel.close()
    socket.resume()
    await until('the connection is over', () => received.isOver)
    await until('both are started again', () => measured('holdfast_edge_thread_restarts_total') === 2)
    const isServed = (): Promise<boolean> =>
      world.send({ path: '/healthz' }).then(
        ({ status }) => status === 200,
        () => false,
      )
    await until('it serves', isServed)
    t.ok((await world.call({ path: `${OBJECTS}large`, token })).bytes.equals(large))
    await until('its row says so', () =>
      world.memory.auditRows.some(({ key, code }) => key === 'huge' && code === 'client_gone'),
    )
    t.match(
      world.memory.lines.filter(({ level }) => level === 'error'),
      [{ fields: { pauseMs: 100 } }, { fields: { pauseMs: 100 } }],
    )
  })
})

t.test('over TLS', async (t) => {
  const made = new MadeCertificates(t)
  const files = made.issue('n1', { hosts: ['127.0.0.1'] })
  const memory = await MemoryServices.start(t)
  await memory.tenant('acme')
  const authorization = `Bearer ${await memory.bearer('acme')}`
  const { services } = memory
  const looks: (() => void)[] = []
  const clock = {
    wallTime: () => Date.now(),
    after: (_: number, callback: () => void) => {
      looks.push(callback)
      return { cancel: () => undefined }
    },
  }
  const edge = { ...PLAIN_EDGE, tls: new ListenerTls('data', files), clock, threads: new EdgeThreads(2).open }
  const server = createDataServer(services, NO_METER, edge)
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const call = (method: string, path: string, body?: Buffer): Promise<{ status: number; bytes: Buffer }> =>
    new Promise((resolve, reject) => {
      const type = { 'content-type': method === 'POST' ? 'application/json' : 'text/plain' }
      const headers = {
        authorization,
        ...type,
        ...(body === undefined ? {} : { 'content-length': body.length }),
      }
      const options = { host: '127.0.0.1', port, ca: made.caText, agent: false, method, path, headers }
      const asking = request(options, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes: Buffer.concat(pieces) }))
      })
      asking.on('error', reject).end(body)
    })
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca: made.caText }, () => {
        resolve(socket.getPeerX509Certificate()?.toString() ?? '')
        socket.destroy()
      })
      socket.once('error', reject)
    })

  await t.test('large bodies cross whole', async (t) => {
    const large = patternBytes(3 * MIB + 7)
    const bucket = Buffer.from('{"name":"photos"}')
    t.equal((await call('POST', '/api/v1/buckets', bucket)).status, 201)
    t.equal((await call('PUT', `${OBJECTS}large`, large)).status, 200)
    t.ok((await call('GET', `${OBJECTS}large`)).bytes.equals(large))
  })

  await t.test('a new certificate reaches every thread', async (t) => {
    const next = made.pair('n1', { hosts: ['127.0.0.1'] })
    t.not(await shown(), next.certificate)
    put(files, next)
    for (const look of looks.splice(0)) look()
    let inARow = 0
    await until('both show it', async () => {
      inARow = (await shown()) === next.certificate ? inARow + 1 : 0
      return inARow === 8
    })
    t.equal((await call('GET', `${OBJECTS}large`)).status, 200)
  })
})

t.test('a stop finishes what runs, and refuses what comes', async (t) => {
  const { world, token, auth } = await start(t)
  const large = patternBytes(8 * MIB)
  await world.call({ method: 'PUT', path: `${OBJECTS}large`, token, body: large })
  const down = connected(t, world.dataPort, `GET ${OBJECTS}large HTTP/1.1\r\n${auth}\r\n`)
  await until('it comes', () => down.received.bytes > 0)
  down.socket.pause()
  const up = connected(
    t,
    world.dataPort,
    `PUT ${OBJECTS}up HTTP/1.1\r\n${auth}Content-Length: 10\r\n\r\nhello`,
  )
  const placed = world.memory.limits
  await until('both run', () => (placed.tenants.known('acme')?.running.requests ?? 0) === 2)
  const silent = connected(t, world.dataPort, '')
  await once(silent.socket, 'connect')
  const closed = world.dataServer.close()
  await until('nothing listens', async () => {
    const { socket, received } = connected(t, world.dataPort, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('it is decided', () => received.isOver || received.text !== '')
    socket.destroy()
    return received.text === ''
  })
  up.socket.write('world')
  down.socket.resume()
  await closed
  await until('both are over', () => up.received.isOver && down.received.isOver)
  t.match(up.received.text, /^HTTP\/1\.1 200 /)
  t.ok(down.received.bytes > large.length)
})

t.test('the threads together have no more connections than the limit', async (t) => {
  const { world, auth } = await start(t, { limits: { connectionsMax: 4 } })
  const all = Array.from({ length: 16 }, () =>
    connected(t, world.dataPort, `GET /api/v1/buckets HTTP/1.1\r\n${auth}\r\n`),
  )
  await until('each is decided', () => all.every(({ received }) => received.isOver || received.text !== ''))
  const served = all.filter(({ received }) => received.text !== '')
  t.ok(served.length >= 1 && served.length <= 4, `${served.length} are served`)
})

t.test('an address that another listener shares is in use', async (t) => {
  const { world } = await start(t)
  const other = createDataServer(world.memory.services, NO_METER, {
    ...PLAIN_EDGE,
    threads: new EdgeThreads(1).open,
  })
  t.teardown(() => other.close())
  const { port } = world.dataServer.server.address() as AddressInfo
  await t.rejects(other.listen({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' })
})
