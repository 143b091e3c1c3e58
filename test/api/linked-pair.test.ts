/** A request and its answer whose connection is on another thread: credit, ends, and what leaves in one message. */
import t from 'tap'
import { LinkedRequest } from '../../src/api/edge-threads/linked-request.ts'
import { LinkedResponse } from '../../src/api/edge-threads/linked-response.ts'
import { LinkedSocket } from '../../src/api/edge-threads/linked-socket.ts'
import { batchOf } from '../../src/api/edge-threads/outbox.ts'
import {
  type Asked,
  CREDIT_BYTES,
  CREDIT_STEP_BYTES,
  FIRST_CREDIT_BYTES,
  type ToEdge,
} from '../../src/api/edge-threads/thread-messages.ts'
import { collected } from '../helpers/async.ts'

const ASKED: Asked = {
  kind: 'asked',
  connection: 1,
  request: 7,
  method: 'PUT',
  url: '/a',
  httpVersion: '1.1',
  rawHeaders: 'Host\nx\nX-A\n1\nx-a\n2',
  headers: 'host\nx\nx-a\n1, 2',
  keepsAlive: true,
  isWaiting: false,
  bytes: null,
  isComplete: false,
  trailers: '',
}

function linked(asked: Partial<Asked> = {}) {
  const sent: ToEdge[] = []
  const send = (message: ToEdge): void => void sent.push(message)
  const place = { remoteAddress: '127.0.0.1', remotePort: 9, client: '127.0.0.1', certificate: null }
  const socket = new LinkedSocket({ kind: 'connected', connection: 1, isEncrypted: false, ...place }, send)
  const request = new LinkedRequest({ ...ASKED, ...asked }, socket, send)
  const response = new LinkedResponse({ id: 7, socket, keepsAlive: true, send })
  const credit = (): number =>
    sent.reduce((sum, message) => sum + (message.kind === 'credit' ? message.bytes : 0), 0)
  return { sent, socket, request, response, credit }
}

t.test('a request has its headers as Node.js has them', async (t) => {
  const { request } = linked()
  t.same(request.rawHeaders, ['Host', 'x', 'X-A', '1', 'x-a', '2'])
  t.same(request.headers, { host: 'x', 'x-a': '1, 2' })
})

t.test('a body gets credit when it is read, and as it is read', async (t) => {
  const { request, credit } = linked()
  request.onPiece(new Uint8Array(10))
  t.equal(credit(), 0, 'nothing reads it')
  const pieces = request.iterator({ destroyOnReturn: false })
  t.equal((await pieces.next()).value.length, 10)
  t.ok(credit() <= CREDIT_BYTES - FIRST_CREDIT_BYTES + 10)
  t.ok(credit() >= CREDIT_BYTES - FIRST_CREDIT_BYTES)
  const before = credit()
  const next = pieces.next()
  request.onPiece(new Uint8Array(2 * CREDIT_STEP_BYTES))
  t.equal((await next).value.length, 2 * CREDIT_STEP_BYTES)
  const last = pieces.next()
  await new Promise(setImmediate)
  t.equal(credit() - before, 2 * CREDIT_STEP_BYTES)
  request.onComplete('X-T\n1')
  t.equal((await last).done, true)
  t.same([request.complete, request.trailers], [true, { 'x-t': '1' }])
})

t.test('a body whose connection ends is an error for its reader, never a shorter body', async (t) => {
  const { request } = linked({ bytes: new Uint8Array(10) })
  const read = collected(request.iterator({ destroyOnReturn: false }))
  await new Promise(setImmediate)
  request.onGone()
  await t.rejects(read, { code: 'ECONNRESET' })
  t.equal(request.complete, false)
})

t.test('an answer that is written in one go is one message', async (t) => {
  const { sent, response } = linked()
  response.setHeader('x-a', 'before').setHeader('x-b', 2)
  response.writeHead(200, ['X-A', 'now', 'x-c', ['1', '2']]).end('hello')
  t.match(sent, [
    { head: { status: 200, fields: 'x-b\n2\nX-A\nnow\nx-c\n1\nx-c\n2', keepsAlive: true }, isEnd: true },
  ])
  t.equal(sent.length, 1)
  t.throws(() => response.writeHead(200), { code: 'ERR_HTTP_HEADERS_SENT' })
  t.throws(() => linked().response.writeHead(200, ['x-a', 'one\r\nx-b: two']), {
    code: 'ERR_INVALID_CHAR',
  })
})

t.test('a writer waits while more than the credit is in flight', async (t) => {
  const { sent, response } = linked()
  response.writeHead(200)
  let taken = 0
  const write = (): unknown => response.write(new Uint8Array(CREDIT_BYTES / 2), () => (taken += 1))
  write()
  write()
  await new Promise(setImmediate)
  t.equal(taken, 2)
  write()
  await new Promise(setImmediate)
  t.equal(taken, 2, 'the third waits')
  response.onTaken(CREDIT_BYTES / 2)
  t.equal(taken, 3)
  t.equal(sent.length, 3)
})

t.test('an answer that does not leave whole does not finish', async (t) => {
  const { response } = linked()
  const events: string[] = []
  response.on('finish', () => events.push('finish')).on('close', () => events.push('close'))
  response.writeHead(200)
  const failed = new Promise((resolve) => response.write(new Uint8Array(CREDIT_BYTES + 1), resolve))
  response.onAnswered(false)
  t.ok((await failed) instanceof Error)
  t.same([events, response.writableFinished], [['close'], false])
})

t.test('a piece that is given away is moved, any other is copied', async (t) => {
  const { sent, response } = linked()
  response.writeHead(200)
  const whole = new Uint8Array(32 * 1024).fill(3)
  const part = new Uint8Array(64 * 1024).fill(5).subarray(0, 32 * 1024)
  for (const piece of [whole, part]) response.write(response.own(piece), () => undefined)
  part.fill(0)
  t.equal(whole.length, 0)
  t.match(
    sent.map((message) => ('bytes' in message && message.bytes instanceof Uint8Array ? message.bytes[9] : 0)),
    [3, 5],
  )
  const { buffers } = batchOf([{ kind: 'a', bytes: new Uint8Array(3) }, ...sent, { kind: 'b' }])
  t.same(
    buffers.map(({ byteLength }) => byteLength),
    [3, 32 * 1024, 32 * 1024],
  )
})
