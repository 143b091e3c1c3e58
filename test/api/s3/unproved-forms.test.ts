/**
 * Browser forms before their policy is proved: how much of them is read, for how long, and how often an address may try.
 */
import { once } from 'node:events'
import net from 'node:net'
import t, { type Test } from 'tap'
import { PLAIN_EDGE } from '../../../src/api/edge.ts'
import { NO_METER } from '../../../src/api/request-log.ts'
import { createDataServer } from '../../../src/api/server/data-server.ts'
import { until } from '../../helpers/async.ts'
import { MemoryServices } from '../../helpers/memory-services.ts'
import { BOUNDARY, formOf } from './form/sample-form.ts'
import { S3World } from './s3-world.ts'

const TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const HEAD = `POST /photos HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\n`
const BEGIN = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="key"\r\n\r\n`

function connect(t: Test, port: number): net.Socket {
  const socket = net.connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  return socket
}

t.test('fields that take more than ten seconds are not waited for', async (t) => {
  const memory = await MemoryServices.start(t)
  const due: { ms: number; callback: () => void }[] = []
  const clock = {
    wallTime: () => Date.now(),
    after(ms: number, callback: () => void) {
      due.push({ ms, callback })
      return { cancel: () => undefined }
    },
  }
  const server = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, clock })
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(t, (server.server.address() as net.AddressInfo).port)
  socket.write(`${HEAD}Content-Length: 9000\r\n\r\n${BEGIN}a`)
  await until('the fields are waited for', () => due.length > 0)
  t.equal(due[0]?.ms, 10_000)
  due[0]?.callback()
  t.match(
    String((await once(socket, 'data'))[0]),
    /^HTTP\/1\.1 400 [^]*connection: close[^]*<Code>RequestTimeout</i,
  )
})

t.test('arriving fields hold bounded memory, which a proved form gives back', async (t) => {
  const s3 = await S3World.start(t, { limits: { unprovedBodyBytesMax: 3 * 8 * 20 * 1024 } })
  const open = (): net.Socket => {
    const socket = connect(t, s3.world.dataPort)
    socket.write(`${HEAD}Content-Length: 900000\r\nExpect: 100-continue\r\n\r\n`)
    return socket
  }
  const sockets = [open(), open(), open()]
  for (const socket of sockets) t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 100 /)
  const form = () =>
    s3.sent({ method: 'POST', path: '/photos', headers: TYPE, body: formOf([['key', 'a']], { bytes: '' }) })
  t.match(await s3.sent({ method: 'POST', path: '/photos', headers: TYPE, body: Buffer.alloc(30_000) }), {
    status: 503,
    s3Code: 'SlowDown',
  })
  t.equal(
    (await s3.call({ method: 'PUT', path: '/photos/a', body: 'a' })).status,
    200,
    'who signs does not feel it',
  )
  for (const socket of sockets) socket.destroy()
  await until('the memory is free again', async () => (await form()).s3Code === 'AccessDenied')
})

t.test('forms that prove nothing are limited by address', async (t) => {
  const s3 = await S3World.start(t, { limits: { unprovedRequestsPerMinute: 60, unprovedBurst: 3 } })
  const form = () =>
    s3.sent({ method: 'POST', path: '/photos', headers: TYPE, body: formOf([['key', 'a']], { bytes: 'b' }) })
  for (let n = 0; n < 3; n += 1) t.match(await form(), { status: 403, s3Code: 'AccessDenied' })
  t.match(await form(), { status: 503, s3Code: 'SlowDown', headers: { 'retry-after': '1' } })
})
