/**
 * exchange: one time limit over everything, and nothing is sent after it.
 */
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { buildConnector, Client } from 'undici'
import { exchange } from '../../cluster/transport/short-exchange.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const LIMITS = { timeoutMs: 100, answerBytesMax: 10 }

interface Bench {
  readonly clock: VirtualClock
  /** Bodies, as they arrived. */
  readonly asked: string[]
  ask(client: Client, body: string): Promise<{ status: number; text: string }>
  client(connector?: buildConnector.connector): Client
  readonly port: number
}

/** A server that answers `echo TEXT`, never `silence`. */
async function benchOf(t: Test): Promise<Bench> {
  const clock = new VirtualClock()
  const asked: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      asked.push(body)
      if (body.startsWith('echo ')) response.writeHead(418).end(body.slice('echo '.length))
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    clock,
    asked,
    port,
    client: (connector) => {
      const client = new Client(`http://127.0.0.1:${port}`, connector ? { connect: connector } : {})
      t.teardown(() => client.destroy())
      return client
    },
    ask: async (client, body) => {
      const request = { method: 'POST', path: '/', body: Buffer.from(body) } as const
      const answer = await exchange({ client, request, clock, ...LIMITS })
      return { status: answer.status, text: answer.body.toString() }
    },
  }
}

t.test('exchange', async (t) => {
  t.test('returns status and body, and leaves no timer behind', async (t) => {
    const bench = await benchOf(t)
    const client = bench.client()
    t.strictSame(await bench.ask(client, 'echo tea'), { status: 418, text: 'tea' })
    t.strictSame(await bench.ask(client, 'echo '), { status: 418, text: '' })
    t.equal(bench.clock.pending, 0)
  })

  t.test('keeps no more of an answer than its limit', async (t) => {
    const bench = await benchOf(t)
    const client = bench.client()
    await t.rejects(bench.ask(client, 'echo 12345678901'), { message: 'The answer has more than 10 bytes' })
    t.equal(bench.clock.pending, 0)
  })

  t.test('fails at the limit when no answer comes, and the connection is usable again', async (t) => {
    const bench = await benchOf(t)
    const client = bench.client()
    await bench.ask(client, 'echo tea')
    const failed = t.rejects(bench.ask(client, 'silence'), { message: 'No answer within 100 ms' })
    await bench.clock.advance(100)
    await failed
    t.strictSame(await bench.ask(client, 'echo tea'), { status: 418, text: 'tea' })
  })

  t.test('sends nothing when the connection is established after the limit', async (t) => {
    const bench = await benchOf(t)
    const isTooLate = new Promise<void>((resolve) => void bench.clock.after(101, resolve))
    const client = bench.client((_, callback) => {
      void isTooLate.then(() => {
        const socket = connect(bench.port, '127.0.0.1', () => callback(null, socket))
      })
    })
    const failed = t.rejects(bench.ask(client, 'echo late'), { message: 'No answer within 100 ms' })
    await bench.clock.advance(100)
    await failed
    await bench.clock.advance(1)
    t.strictSame(await bench.ask(client, 'echo tea'), { status: 418, text: 'tea' })
    t.strictSame(bench.asked, ['echo tea'])
  })

  t.test('fails with the cause when the client is closed', async (t) => {
    const bench = await benchOf(t)
    const client = bench.client()
    await client.destroy(new Error('over'))
    await t.rejects(bench.ask(client, 'echo tea'))
    t.equal(bench.clock.pending, 0)
  })
})
