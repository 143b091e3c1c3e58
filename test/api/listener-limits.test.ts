/**
 * What the public listeners allow before and beside requests: how many connections, how many headers, how slow a body.
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

const BUCKET = { tenantId: 'acme', name: 'photos' }

async function start(t: Test, limits: Partial<Config['limits']>, now = PLAIN_EDGE.now) {
  const memory = await MemoryServices.start(t, { limits })
  const server = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, now })
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
  const heard = { text: '', isOver: false }
  socket.setEncoding('utf8').on('data', (text: string) => (heard.text += text))
  socket.on('error', () => undefined).once('close', () => (heard.isOver = true))
  t.teardown(() => socket.destroy())
  return { socket, heard }
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
  await until('the bucket is there', () => make.heard.text.includes('201 Created'))

  await t.test('is given up with 408 and stores nothing', async (t) => {
    const { socket, heard } = open(t, port)
    socket.write(requestFor('PUT /api/v1/buckets/photos/objects/slow', token, 'Content-Length: 5000\r\n\r\n'))
    const log = memory.lines
    for (let second = 0; !heard.text.includes('HTTP/1.1') && second < 5000; second++) {
      nowMs += 1000
      socket.write('x')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until('there is an answer', () => heard.text.includes('request_timeout'))
    t.match(heard.text, /^HTTP\/1\.1 408 /)
    t.match(heard.text, 'came too slowly')
    socket.destroy()
    const look = open(t, port)
    look.socket.write(requestFor('HEAD /api/v1/buckets/photos/objects/slow', token, '\r\n'))
    await until('there is an answer', () => look.heard.text.includes('\r\n\r\n'))
    t.match(look.heard.text, /^HTTP\/1\.1 404 /)
    t.notOk(log.some(({ level }) => level === 'error'))
  })
  await t.test('is waited for as long as it is fast enough', async (t) => {
    const { socket, heard } = open(t, port)
    socket.write(requestFor('PUT /api/v1/buckets/photos/objects/fine', token, 'Content-Length: 5000\r\n\r\n'))
    for (let minute = 0; minute < 5; minute++) {
      nowMs += 50_000
      socket.write('x'.repeat(1000))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until('there is an answer', () => heard.text.includes('\r\n\r\n'))
    t.match(heard.text, /^HTTP\/1\.1 200 /)
  })
})

t.test('no header is dropped in silence, however many there are', async (t) => {
  const { token, port } = await start(t, {})
  const { socket, heard } = open(t, port)
  const many = 'a:\r\n'.repeat(3500)
  socket.write(`GET /api/v1/buckets HTTP/1.1\r\nHost: x\r\n${many}Authorization: Bearer ${token}\r\n\r\n`)
  await until('there is an answer', () => heard.text.includes('\r\n\r\n'))
  t.match(heard.text, /^HTTP\/1\.1 200 /, 'the token is the last of them')
})

t.test('connections beyond limits.connections are closed at once, and the others go on', async (t) => {
  const { memory, token, port } = await start(t, { connectionsMax: 16 })
  const kept = Array.from({ length: 16 }, () => open(t, port))
  await Promise.all(kept.map(({ socket }) => once(socket, 'connect')))
  const [first, last] = [kept[0], kept[15]]
  last?.socket.write(requestFor('GET /api/v1/buckets', token, '\r\n'))
  await until('the last of them is served', () => last?.heard.text.includes('200 OK') === true)
  for (let n = 0; n < 3; n++) {
    const { heard } = open(t, port)
    await until('it is closed', () => heard.isOver)
    t.equal(heard.text, '')
  }
  const told = memory.lines.filter(
    ({ message }) => message === 'connection closed, limits.connections are open',
  )
  t.match(told, [{ level: 'warn', fields: { connectionsMax: 16 } }], 'told once')
  t.equal(told.length, 1)
  first?.socket.destroy()
  const served = async (): Promise<boolean> => {
    const { socket, heard } = open(t, port)
    socket.write(requestFor('GET /api/v1/buckets', token, '\r\n'))
    await until('an answer or the end', () => heard.isOver || heard.text.includes('200 OK'))
    return heard.text.includes('200 OK')
  }
  while (!(await served()));
})
