/**
 * Which calls a client repeats, which it does not, and how long it waits: against a server with scripted answers.
 */
import fc from 'fast-check'
import t from 'tap'
import { ApiError, dataClient, NoAnswerError, type ClientOptions } from '../../src/client/clients.ts'
import { delayBefore, REPEAT_POLICY, retryAfterMs } from '../../packages/client/src/call/repeating.ts'
import { CUT, problem, ScriptedServer } from './scripted-server.ts'

const OK = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: { buckets: [], isTruncated: false },
}
const NOW = Date.parse('2026-11-21T12:00:00Z')

/** With a clock that records the waits. */
function clientOf(servers: readonly ScriptedServer[], more: Partial<ClientOptions> = {}) {
  const waited: number[] = []
  const clock = {
    now: () => NOW,
    wait: async (ms: number) => {
      waited.push(ms)
    },
  }
  const endpoints = servers.map(({ url }) => url)
  const client = dataClient({ endpoints, token: 'svctk_x', clock, random: () => 0.5, ...more })
  return { client, waited }
}

t.test('a read is repeated until it succeeds', async (t) => {
  const server = await ScriptedServer.start(t)
  const { client, waited } = clientOf([server])
  t.teardown(() => client.close())
  server.script(problem(503, 'no_leader', { 'retry-after': '2' }), CUT, problem(429, 'rate_limited'), OK)
  const received = await client.call('listBuckets')
  t.same(received.answer.buckets, [])
  t.equal(server.received.length, 4)
  t.same(waited, [2050, 150, 300], 'as long as Retry-After says, otherwise longer each time')
})

t.test('Retry-After as a date', async (t) => {
  const server = await ScriptedServer.start(t)
  const { client, waited } = clientOf([server])
  t.teardown(() => client.close())
  server.script(problem(503, 'slow_down', { 'retry-after': 'Sat, 21 Nov 2026 12:00:07 GMT' }), OK)
  await client.call('listBuckets')
  t.same(waited, [7050])
  server.script(problem(503, 'slow_down', { 'retry-after': '3600' }), OK)
  await t.rejects(client.call('listBuckets'), { status: 503, code: 'slow_down' }, 'too long')
  t.same(waited, [7050])
})

t.test('it gives up in the end, with the last answer', async (t) => {
  const server = await ScriptedServer.start(t)
  const { client, waited } = clientOf([server], { repeat: { attemptsMax: 3 } })
  t.teardown(() => client.close())
  server.script(CUT, CUT, problem(503, 'no_quorum'))
  const error = await client.call('listBuckets').catch((caught: unknown) => caught)
  t.ok(error instanceof ApiError)
  t.match(error, { status: 503, code: 'no_quorum', requestId: 'r-1', operation: 'listBuckets' })
  t.equal(waited.length, 2)
  server.script(CUT, CUT, CUT)
  t.ok((await client.call('listBuckets').catch((caught: unknown) => caught)) instanceof NoAnswerError)
})

t.test('a request that no node received goes to the next node, a write too', async (t) => {
  const [gone, server] = [await ScriptedServer.start(t), await ScriptedServer.start(t)]
  const { client } = clientOf([gone, server])
  t.teardown(() => client.close())
  gone.stop()
  server.script(OK)
  await client.call('createBucket', { body: { name: 'photos' } })
  t.match(server.received, [{ method: 'POST', body: /photos/ }])
})

t.test('a write is repeated with an idempotency key, and only then', async (t) => {
  const server = await ScriptedServer.start(t)
  const { client } = clientOf([server])
  t.teardown(() => client.close())
  const put = { params: { bucket: 'photos', key: 'a/../b c' }, body: 'hello' }
  for (const first of [CUT, problem(503, 'commit_unknown')] as const) {
    server.script(first, OK)
    await t.rejects(client.call('putObject', put))
    t.equal(server.received.length, 1, 'it may have been stored')
    server.script(first, OK)
    await client.call('putObject', { ...put, headers: { 'Idempotency-Key': 'k' } })
    t.same(
      server.received.map(({ method, path, body }) => `${method} ${path} ${body}`),
      Array(2).fill('PUT /api/v1/buckets/photos/objects/a/../b%20c hello'),
      'the same request again, with the same path',
    )
    server.script(first, OK)
    await client.call('setObjectTags', { params: put.params, body: { tags: {} }, isRepeatable: true })
    t.equal(server.received.length, 2, 'or when the caller says so')
  }
})

t.test('a stream is opened again for each attempt', async (t) => {
  const server = await ScriptedServer.start(t)
  const { client } = clientOf([server])
  t.teardown(() => client.close())
  let opened = 0
  const body = {
    length: 5,
    async *open() {
      opened += 1
      yield Buffer.from('he')
      yield Buffer.from('llo')
    },
  }
  server.script(CUT, OK)
  const params = { bucket: 'photos', key: 'k' }
  await client.call('putObject', { params, headers: { 'Idempotency-Key': 'k' }, body })
  t.equal(opened, 2)
  t.same(
    server.received.map(({ body: text, headers }) => [text, headers['content-length']]),
    [
      ['hello', '5'],
      ['hello', '5'],
    ],
  )
})

t.test('a refused call is not repeated', async (t) => {
  const server = await ScriptedServer.start(t)
  const { client, waited } = clientOf([server])
  t.teardown(() => client.close())
  for (const [status, code] of [
    [400, 'invalid_argument'],
    [403, 'access_denied'],
    [404, 'not_found'],
    [412, 'precondition_failed'],
    [501, 'not_implemented'],
    [507, 'quota_exceeded'],
  ] as const) {
    server.script(problem(status, code), OK)
    await t.rejects(client.call('listBuckets'), { status, code, message: /^because \(\d{3} \w+\)$/ })
    t.equal(server.received.length, 1, code)
  }
  t.same(waited, [])
  server.script({ status: 404, body: 'an error page of a proxy' })
  await t.rejects(client.call('listBuckets'), { status: 404, code: 'unknown', requestId: null })
})

t.test('after a failure the client uses the next node and keeps it', async (t) => {
  const [first, second] = [await ScriptedServer.start(t), await ScriptedServer.start(t)]
  const { client } = clientOf([first, second])
  t.teardown(() => client.close())
  first.stop()
  second.script(OK, OK)
  await client.call('listBuckets')
  await client.call('listBuckets')
  t.equal(second.received.length, 2)
})

t.test('a waiting call can be aborted', async (t) => {
  const server = await ScriptedServer.start(t)
  const aborted = new AbortController()
  const clock = {
    now: () => NOW,
    wait: async () => {
      aborted.abort(new Error('enough'))
      throw aborted.signal.reason
    },
  }
  const { client } = clientOf([server], { clock })
  t.teardown(() => client.close())
  server.script(CUT, OK)
  await t.rejects(client.call('listBuckets', { signal: aborted.signal }), { message: 'enough' })
  t.equal(server.received.length, 1)
})

t.test('delays', async (t) => {
  t.test('lie between half and the whole of a bounded, doubling time, and end', async () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, chance) => {
          const policy = { ...REPEAT_POLICY, attemptsMax: 9 }
          const delay = delayBefore(policy, { attempts, retryAfter: undefined, now: 0, chance })
          if (attempts >= policy.attemptsMax) return delay === null
          const whole = Math.min(policy.delayMsMax, policy.firstDelayMs * 2 ** (attempts - 1))
          return delay !== null && delay >= whole / 2 && delay <= whole
        },
      ),
    )
  })
  t.test('Retry-After in both forms', async (t) => {
    t.equal(retryAfterMs('7', NOW), 7000)
    t.equal(retryAfterMs('Sat, 21 Nov 2026 12:00:09 GMT', NOW), 9000)
    t.equal(retryAfterMs('Sat, 21 Nov 2026 11:00:00 GMT', NOW), 0, 'a time that has passed')
    t.equal(retryAfterMs('soon', NOW), null)
  })
})
