/** Callers that are refused again and again: their answers leave slowly, and cost next to nothing. */
import net from 'node:net'
import t, { type Test } from 'tap'
import { HeldRefusals } from '../../../src/api/admission/held-refusals.ts'
import { PLAIN_EDGE } from '../../../src/api/edge.ts'
import { NO_METER } from '../../../src/api/request-log.ts'
import { createDataServer } from '../../../src/api/server/data-server.ts'
import { until } from '../../helpers/async.ts'
import { NO_CALLER_LIMITS } from '../../helpers/content-world.ts'
import { MemoryServices } from '../../helpers/memory-services.ts'
import { onEdges } from '../../helpers/on-edges.ts'

const AT_ONCE = 100

/** Refusals with a clock that stands still until the test moves it. */
function held() {
  const world = { nowMs: 0 }
  const due: { readonly atMs: number; readonly callback: () => void }[] = []
  const refusals = new HeldRefusals({
    now: () => world.nowMs,
    after: (ms, callback) => {
      const timer = { atMs: world.nowMs + ms, callback }
      due.push(timer)
      return { cancel: () => void due.splice(due.indexOf(timer), 1) }
    },
  })
  const moveOn = (ms: number): void => {
    world.nowMs += ms
    for (const timer of due.filter(({ atMs }) => atMs <= world.nowMs)) {
      due.splice(due.indexOf(timer), 1)
      timer.callback()
    }
  }
  return { refusals, due, moveOn }
}

const sampleOf = (refusals: HeldRefusals, name: string) =>
  refusals.samples().find((sample) => sample.name === `holdfast_admission_${name}`)?.value

t.test('HeldRefusals', async (t) => {
  t.test('lets 100 leave at once, then 100 a second, and none later than after ten seconds', async (t) => {
    const { refusals } = held()
    const waits = Array.from({ length: 3000 }, () => refusals.heldMs('key a'))
    t.same(waits.slice(0, AT_ONCE), Array(AT_ONCE).fill(0))
    t.same(waits.slice(AT_ONCE, AT_ONCE + 3), [10, 20, 30])
    t.equal(Math.max(...waits), 10_000)
    t.equal(refusals.heldMs('key b'), 0, 'another caller is not concerned')
  })

  t.test('forgets a flood within its longest wait', async (t) => {
    const { refusals, moveOn } = held()
    for (let n = 0; n < 100_000; n += 1) refusals.heldMs('key a')
    moveOn(10_000)
    t.ok(refusals.heldMs('key a') <= 10)
    moveOn(1_000)
    t.equal(refusals.heldMs('key a'), 0)
  })

  t.test('calls each once: in time, at the end, or never when the client is gone', async (t) => {
    const { refusals, due, moveOn } = held()
    const left: string[] = []
    const gone = (): void => void left.push('gone')
    refusals.hold(50, () => left.push('in time'))
    refusals.hold(50, gone)
    refusals.hold(5000, () => left.push('at the end'))
    refusals.forget(gone)
    moveOn(50)
    t.same(left, ['in time'])
    t.equal(sampleOf(refusals, 'held_refusals'), 1)
    refusals.release()
    t.same(left, ['in time', 'at the end'])
    t.same(due, [])
    t.equal(sampleOf(refusals, 'held_refusals'), 0)
    t.equal(sampleOf(refusals, 'held_refusals_total'), 3)
  })

  t.test('remembers a bounded number of callers', async (t) => {
    const { refusals } = held()
    for (let n = 0; n < AT_ONCE; n += 1) refusals.heldMs('first')
    t.equal(refusals.heldMs('first'), 10)
    for (let n = 0; n < 10_000; n += 1) refusals.heldMs(`other ${n}`)
    t.equal(refusals.heldMs('first'), 0, 'the one known longest is forgotten')
  })
})

/** A server whose tenant `acme` may ask for nothing but once, and a client that waits for so many answers. */
async function start(t: Test) {
  const { refusals, due, moveOn } = held()
  const tenant = { ...NO_CALLER_LIMITS, requestsPerSecond: 1, burstSeconds: 1 }
  const memory = await MemoryServices.start(t, { callers: { tenant }, requestLines: 'all' })
  const server = createDataServer(memory.services, NO_METER, { ...PLAIN_EDGE, ...onEdges(), refusals })
  t.teardown(() => server.close())
  await server.listen({ host: '127.0.0.1', port: 0 })
  await memory.tenant('acme')
  const nowMs = performance.now() + 60_000
  memory.limitsNow = () => nowMs
  const { port } = server.server.address() as net.AddressInfo
  const authorization = `Authorization: Bearer ${await memory.bearer('acme')}`
  /** Of a connection of its own. */
  const ask = (method: string, more = '') => {
    const socket = net.connect(port, '127.0.0.1')
    const answer = { text: '' }
    socket.on('error', () => undefined).on('data', (piece) => (answer.text += String(piece)))
    socket.write(`${method} /api/v1/buckets HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${more}\r\n`)
    t.teardown(() => socket.destroy())
    return { socket, answer }
  }
  /** Uses up what leaves at once. */
  const refuseMany = async (): Promise<void> => {
    const first = Array.from({ length: AT_ONCE + 1 }, () => ask('GET'))
    await until('they are answered', () => first.every(({ answer }) => answer.text.includes('HTTP/1.1')))
    for (const { socket } of first) socket.destroy()
  }
  return { memory, server, refusals, due, moveOn, ask, refuseMany }
}

const linesOf = ({ lines }: MemoryServices) => lines.filter(({ message }) => message === 'request served')

t.test(
  'a caller that is refused too often gets its answers later, and no line each in the log [limits.callers.repeated]',
  async (t) => {
    const { memory, due, moveOn, ask, refuseMany } = await start(t)
    await refuseMany()
    await until('they are logged', () => linesOf(memory).length === AT_ONCE + 1)
    const rows = memory.auditRows.length
    const late = Array.from({ length: 20 }, () => ask('GET'))
    await until('they are held back', () => due.length === 20)
    t.ok(late.every(({ answer }) => answer.text === ''))
    moveOn(10 * 20)
    await until('they are answered', () => late.every(({ answer }) => answer.text.includes('"rate_limited"')))
    await until('each is audited', () => memory.auditRows.length === rows + 20)
    t.match(memory.auditRows.at(-1), { tenantId: 'acme', status: 429, code: 'rate_limited' })
    t.equal(linesOf(memory).length, AT_ONCE + 1)
    t.equal(memory.lines.filter(({ message }) => message === 'refusals held back').length, 1)
  },
)

t.test('a refusal whose client leaves is forgotten', async (t) => {
  const { due, refusals, ask, refuseMany } = await start(t)
  await refuseMany()
  const { socket } = ask('GET')
  await until('it is held back', () => due.length === 1)
  socket.destroy()
  await until('it is forgotten', () => due.length === 0)
  t.equal(sampleOf(refusals, 'held_refusals'), 0)
})

t.test('a listener that closes lets refusals leave', async (t) => {
  const { server, due, ask, refuseMany } = await start(t)
  await refuseMany()
  const { answer } = ask('GET')
  await until('it is held back', () => due.length === 1)
  await server.close()
  await until('it is answered', () => answer.text.includes('"rate_limited"'))
  t.match(answer.text, /connection: close/i)
})
