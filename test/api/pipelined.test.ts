/** A client that sends thousands of requests on one connection at once, and another that sends one. */
import net from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../helpers/async.ts'
import { ApiWorld } from './api-world.ts'

const REQUESTS = 400

function open(t: Test, port: number) {
  const socket = net.connect(port, '127.0.0.1')
  const answer = { answers: 0, isOver: false, statuses: new Set<string>(), inOrder: [] as string[] }
  let rest = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    const [...lines] = (rest + text).split('\r\n')
    rest = lines.pop() ?? ''
    // The body of an answer ends without a line of its own.
    for (const line of lines)
      for (const [, status = ''] of line.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        answer.answers++
        answer.statuses.add(status)
        answer.inOrder.push(status)
      }
  })
  socket.on('error', () => undefined).once('close', () => (answer.isOver = true))
  t.teardown(() => socket.destroy())
  return { socket, answer }
}

t.test('thousands of requests sent at once on one connection', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const path = '/api/v1/buckets/photos/objects/k'
  await world.call({ method: 'PUT', path, token, body: 'hello' })
  const request = `HEAD ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
  const { dataPort, memory } = world

  await t.test('are served one in each turn, and all are answered', async (t) => {
    const many = open(t, dataPort)
    const inTurns: number[] = []
    let before = memory.barriers
    const turn = (): void => {
      inTurns.push(memory.barriers - before)
      before = memory.barriers
      if (many.answer.answers < REQUESTS && !many.answer.isOver) setImmediate(turn)
    }
    setImmediate(turn)
    many.socket.write(request.repeat(REQUESTS))
    await until('all are answered', () => many.answer.answers === REQUESTS)
    t.ok(Math.max(...inTurns) <= 2, `${Math.max(...inTurns)} in one turn`)
    t.same([...many.answer.statuses], ['200'])
  })

  await t.test('are served no further when the client is gone', async (t) => {
    const many = open(t, dataPort)
    many.socket.write(request.repeat(REQUESTS))
    await until('the first is answered', () => many.answer.answers > 0)
    many.socket.destroy()
    const before = memory.barriers
    const one = open(t, dataPort)
    for (let n = 1; n <= 10; n++) {
      one.socket.write(request)
      await until('the other is answered', () => one.answer.answers === n)
    }
    t.ok(memory.barriers - before < REQUESTS / 5, `${memory.barriers - before} were served`)
  })

  await t.test('with bodies are answered in their order', async (t) => {
    const writes = open(t, dataPort)
    const put = (n: number): string => {
      const body = `body ${n}`
      const head = `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${body.length}\r\n\r\n`
      return head + body
    }
    writes.socket.write(Array.from({ length: 10 }, (_, n) => put(n)).join(''))
    await until('all are answered', () => writes.answer.answers === 10)
    t.same([...writes.answer.statuses], ['200'])
    t.equal((await world.call({ path, token })).bytes.toString(), 'body 9')
  })

  await t.test('take effect in their order: a read behind a delete finds nothing', async (t) => {
    const mixed = open(t, dataPort)
    const ask = (method: string, more = '') =>
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`
    const turns = [ask('DELETE'), ask('GET'), ask('PUT', 'Content-Length: 1\r\n').concat('a'), ask('HEAD')]
    mixed.socket.write(turns.join('').repeat(10))
    await until('all are answered', () => mixed.answer.answers === 40)
    const expected = ['204', '404', '200', '200']
    t.same(mixed.answer.inOrder, Array.from({ length: 10 }, () => expected).flat())
  })
})
