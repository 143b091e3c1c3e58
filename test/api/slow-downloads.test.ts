/** Clients that take the contents of an object slowly, or not at all. */
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import t, { type Test } from 'tap'
import { PLAIN_EDGE } from '../../src/api/edge.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { createDataServer } from '../../src/api/server/data-server.ts'
import { until } from '../helpers/async.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { onEdges } from '../helpers/on-edges.ts'

/** More than the buffers of a connection on loopback take. */
const BYTES = 24 * 1024 * 1024
const PATH = '/api/v1/buckets/photos/objects/large'

async function start(t: Test, answerBytesPerMinuteMin: number) {
  const world = { nowMs: 0 }
  const memory = await MemoryServices.start(t, { limits: { answerBytesPerMinuteMin } })
  const server = createDataServer(memory.services, NO_METER, {
    ...PLAIN_EDGE,
    ...onEdges(),
    now: () => world.nowMs,
  })
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  await memory.tenant('acme')
  const token = await memory.bearer('acme', 'read,write,delete,admin')
  const { port } = server.server.address() as AddressInfo
  const authorization = `Bearer ${token}`
  const base = `http://127.0.0.1:${port}`
  const bucket = await fetch(`${base}/api/v1/buckets`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'photos' }),
  })
  t.equal(bucket.status, 201)
  const put = await fetch(base + PATH, {
    method: 'PUT',
    headers: { authorization },
    body: patternBytes(BYTES),
  })
  t.equal(put.status, 200)
  return {
    world,
    memory,
    port,
    head: `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n\r\n`,
  }
}

/** A client that has asked and reads nothing. */
function paused(t: Test, port: number, head: string) {
  const socket = net.connect(port, '127.0.0.1')
  const received = { bytes: 0 }
  socket.on('error', () => undefined).on('data', ({ length }) => (received.bytes += length))
  socket.pause()
  socket.write(head)
  t.teardown(() => socket.destroy())
  return { socket, received }
}

t.test('a download that is not read is ended, logged and audited like an answer that broke', async (t) => {
  const { world, memory, port, head } = await start(t, 1_000_000)
  const { socket } = paused(t, port, head)
  const rows = () => memory.auditRows.filter(({ code }) => code === 'request_timeout')
  await until('the row is there', () => {
    world.nowMs += 20_000
    return rows().length > 0
  })
  t.match(rows(), [{ operation: 'getObject', status: 200 }])
  t.ok((rows()[0]?.bytesOut ?? 0) < BYTES)
  const warnings = memory.lines.filter(({ message }) => message === 'answer ended before its last byte')
  t.match(warnings, [{ level: 'warn' }])
  t.notOk(memory.lines.some(({ level }) => level === 'error'))
  socket.destroy()
})

t.test('a download is served to a client that pauses for less than a minute', async (t) => {
  const { world, memory, port, head } = await start(t, 1_000_000)
  const { socket, received } = paused(t, port, head)
  await until('the request has left', () => socket.bytesWritten > 0)
  world.nowMs += 59_000
  socket.resume()
  await until('it has everything', () => received.bytes > BYTES)
  t.notOk(memory.auditRows.some(({ code }) => code === 'request_timeout'))
})

t.test('without a limit a client may take as long as it likes', async (t) => {
  const { world, port, head } = await start(t, 0)
  const { socket, received } = paused(t, port, head)
  for (let day = 0; day < 3; day += 1) {
    world.nowMs += 86_400_000
    await new Promise((resolve) => setImmediate(resolve))
  }
  socket.resume()
  await until('it has everything', () => received.bytes > BYTES)
})
