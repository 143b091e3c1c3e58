/**
 * Limits of the public listeners: connections, headers, and the rate of a body.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import t, { type Test } from 'tap'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { PLAIN_EDGE } from '../../src/api/edge.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import type { Config } from '../../src/config/types.ts'
import { until } from '../helpers/async.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { onEdges } from '../helpers/on-edges.ts'

const BUCKET = { tenantId: 'acme', name: 'photos' }

async function start(t: Test, limits: Partial<Config['limits']>, now = PLAIN_EDGE.now) {
  const memory = await MemoryServices.start(t, { limits })
  const server = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, ...onEdges(), now })
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  await memory.tenant(BUCKET.tenantId)
  const token = await memory.bearer('acme', 'read,write,delete,admin')
  const { port } = server.server.address() as AddressInfo
  return { memory, token, port }
}

/** A raw connection and all that came on it. */
function open(t: Test, port: number) {
  const socket = net.connect(port, '127.0.0.1')
  const answer = { text: '', isOver: false }
  socket.setEncoding('utf8').on('data', (text: string) => (answer.text += text))
  socket.on('error', () => undefined).once('close', () => (answer.isOver = true))
  t.teardown(() => socket.destroy())
  return { socket, answer }
}

const requestFor = (line: string, token: string, more = ''): string =>
  `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}`

t.test('a body that drips [errors.request_timeout]', async (t) => {
  let nowMs = 0
  const { memory, token, port } = await start(t, { bodyBytesPerMinuteMin: 1000 }, () => nowMs)
  const make = open(t, port)
  const body = JSON.stringify({ name: BUCKET.name })
  make.socket.write(
    requestFor(
      'POST /api/v1/buckets',
      token,
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ),
  )
  await until('the bucket exists', () => make.answer.text.includes('201 Created'))

  await t.test('is ended with 408 and stores nothing', async (t) => {
    const { socket, answer } = open(t, port)
    socket.write(requestFor('PUT /api/v1/buckets/photos/objects/slow', token, 'Content-Length: 5000\r\n\r\n'))
    const log = memory.lines
    for (let second = 0; !answer.text.includes('HTTP/1.1') && second < 5000; second++) {
      nowMs += 1000
      socket.write('x')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until('there is an answer', () => answer.text.includes('request_timeout'))
    t.match(answer.text, /^HTTP\/1\.1 408 /)
    t.match(answer.text, 'came too slowly')
    socket.destroy()
    const look = open(t, port)
    look.socket.write(requestFor('HEAD /api/v1/buckets/photos/objects/slow', token, '\r\n'))
    await until('there is an answer', () => look.answer.text.includes('\r\n\r\n'))
    t.match(look.answer.text, /^HTTP\/1\.1 404 /)
    t.notOk(log.some(({ level }) => level === 'error'))
  })
  await t.test('is read as long as it is fast enough', async (t) => {
    const { socket, answer } = open(t, port)
    socket.write(requestFor('PUT /api/v1/buckets/photos/objects/fine', token, 'Content-Length: 5000\r\n\r\n'))
    for (let minute = 0; minute < 5; minute++) {
      nowMs += 50_000
      socket.write('x'.repeat(1000))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until('there is an answer', () => answer.text.includes('\r\n\r\n'))
    t.match(answer.text, /^HTTP\/1\.1 200 /)
  })
})

t.test('a request that takes longer than one may', async (t) => {
  const DAY_MS = 86_400_000
  let nowMs = 0
  const { memory, token, port } = await start(t, {}, () => nowMs)
  await memory.change({
    type: 'createBucket',
    ...BUCKET,
    bucketsMax: 1,
    versioning: 'Unversioned',
    objectLockEnabled: false,
  })
  const big = 'x'.repeat(32 * 1024 * 1024)

  await t.test('is ended with 408 while it uploads, however fast, and stores nothing', async (t) => {
    const { socket, answer } = open(t, port)
    socket.write(
      requestFor('PUT /api/v1/buckets/photos/objects/long', token, 'Content-Length: 5000\r\n\r\nx'),
    )
    await until('the caller is proved', () => memory.arrivals > 0)
    nowMs += DAY_MS
    socket.write('x'.repeat(4000))
    await until('there is an answer', () => answer.text.includes('request_timeout'))
    t.match(answer.text, /^HTTP\/1\.1 408 [^]*limits\.request_duration/)
    t.notOk(memory.lines.some(({ level }) => level === 'error'))
  })

  await t.test('is broken off while it downloads, and the audit log says why', async (t) => {
    const put = open(t, port)
    put.socket.write(
      requestFor(
        'PUT /api/v1/buckets/photos/objects/big',
        token,
        `Content-Length: ${big.length}\r\n\r\n${big}`,
      ),
    )
    await until('it is stored', () => put.answer.text.includes('200 OK'))
    const get = open(t, port)
    get.socket.write(requestFor('GET /api/v1/buckets/photos/objects/big', token, '\r\n'))
    await until('the download has started', () => get.answer.text.includes('\r\n\r\n'))
    get.socket.pause()
    nowMs += DAY_MS
    get.socket.resume()
    await until('the connection is closed', () => get.answer.isOver)
    t.ok(get.answer.text.length < big.length)
    await until('the row is written', () =>
      memory.auditRows.some(({ operation }) => operation === 'getObject'),
    )
    t.match(
      memory.auditRows.find(({ operation }) => operation === 'getObject'),
      { code: 'request_timeout' },
    )
    t.notOk(memory.lines.some(({ level }) => level === 'error'))
  })
})

t.test('no header is dropped silently, for any number of headers', async (t) => {
  const { token, port } = await start(t, {})
  const { socket, answer } = open(t, port)
  const many = 'a:\r\n'.repeat(3500)
  socket.write(`GET /api/v1/buckets HTTP/1.1\r\nHost: x\r\n${many}Authorization: Bearer ${token}\r\n\r\n`)
  await until('there is an answer', () => answer.text.includes('\r\n\r\n'))
  t.match(answer.text, /^HTTP\/1\.1 200 /, 'the token is the last of them')
})

t.test('connections beyond limits.connections are closed at once, and the others continue', async (t) => {
  const { memory, token, port } = await start(t, { connectionsMax: 16 })
  const kept = Array.from({ length: 16 }, () => open(t, port))
  await Promise.all(kept.map(({ socket }) => once(socket, 'connect')))
  const [first, last] = [kept[0], kept[15]]
  last?.socket.write(requestFor('GET /api/v1/buckets', token, '\r\n'))
  await until('the last of them is served', () => last?.answer.text.includes('200 OK') === true)
  for (let n = 0; n < 3; n++) {
    const { answer } = open(t, port)
    await until('it is closed', () => answer.isOver)
    t.equal(answer.text, '')
  }
  const reported = memory.lines.filter(
    ({ message }) => message === 'connection closed, limits.connections are open',
  )
  t.match(reported, [{ level: 'warn', fields: { connectionsMax: 16 } }], 'reported once')
  t.equal(reported.length, 1)
  first?.socket.destroy()
  const served = async (): Promise<boolean> => {
    const { socket, answer } = open(t, port)
    socket.write(requestFor('GET /api/v1/buckets', token, '\r\n'))
    await until('an answer or the end', () => answer.isOver || answer.text.includes('200 OK'))
    return answer.text.includes('200 OK')
  }
  while (!(await served()));
})
