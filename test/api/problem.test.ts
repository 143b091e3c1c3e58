/**
 * The table of codes, the ids, and the answer to input that is no request.
 */
import { once } from 'node:events'
import net from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { ClientAddresses } from '../../src/api/admission/client-address.ts'
import { answerClientError } from '../../src/api/client-error.ts'
import { firstNameFault } from '../../src/api/json-names.ts'
import { expectedProblem, STATUS_OF } from '../../src/api/problem.ts'
import { newRequestId } from '../../src/api/request-id.ts'
import { Refusal, type RefusalCode } from '../../src/base/refusal.ts'
import { REFUSAL_CODES } from '../../src/state-machine/base/codes.ts'
import { ApiWorld } from './api-world.ts'
import { MemoryServices } from '../helpers/memory-services.ts'

const context = { requestId: 'r', instance: '/x', challenge: 'bearer' } as const

t.test('problems [errors.body]', async (t) => {
  for (const code of REFUSAL_CODES) {
    const problem = expectedProblem(new Refusal(code, 'No'), context)
    t.equal(problem?.status, STATUS_OF[code])
    t.match(problem?.body, {
      code,
      message: 'No',
      detail: 'No',
      status: STATUS_OF[code],
      requestId: 'r',
      instance: '/x',
      type: 'about:blank',
    })
    t.not(problem?.body['title'], 'Error', `${STATUS_OF[code]} has a title`)
    t.equal('www-authenticate' in (problem?.headers ?? {}), STATUS_OF[code] === 401)
  }
  const details = { status: 1, code: 'x', size: 5 }
  const detailed = expectedProblem(new Refusal('not_found', 'No', { details }), context)
  t.match(detailed?.body, { size: 5, status: 404, code: 'not_found' }, 'details never hide the fixed members')
  const retry = expectedProblem(new Condition('slow_down', 'No', { retryAfterMs: 1 }), context)
  t.equal(retry?.headers['retry-after'], '1', 'whole seconds, never 0')
  t.equal(expectedProblem(new Error('x'), context), null)
  const unknown: RefusalCode[] = REFUSAL_CODES.filter((code) => !(code in STATUS_OF))
  t.same(unknown, [])
})

t.test('request ids are UUIDv7 and ascend with time', async (t) => {
  const ids = Array.from({ length: 1000 }, newRequestId)
  t.ok(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)))
  t.equal(new Set(ids).size, ids.length)
  const stamps = ids.map((id) => id.slice(0, 13))
  t.same(stamps, stamps.toSorted())
})

/** The name that stands twice in one object. */
function repeatedName(text: string): string | null {
  const fault = firstNameFault(text, { schema: null, namesMax: 1e6 })
  return fault?.kind === 'twice' ? fault.name : null
}

t.test('a name that stands twice in one object is found', async (t) => {
  const duplicate = [
    '{"a":1,"a":2}',
    '[{"b":{"a":1,"c":[],"a":{}}}]',
    '{"\\"":1,"\\"":2}',
    '{"\\\\":1,"\\u005c":2}',
    '{ "a" : "}" , "a" : 1 }',
  ]
  for (const text of duplicate) t.not(repeatedName(text), null, text)
  const unique = [
    '{}',
    '"a"',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":","b":"a"}',
    '{"a":["a","a"],"b":"a"}',
    '{"a\\\\":1,"a":2}',
  ]
  for (const text of unique) t.equal(repeatedName(text), null, text)
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.nat({ max: 3 }),
      (value, indent) => repeatedName(JSON.stringify(value, null, indent)) === null,
    ),
  )
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (key, a, b) => {
      const name = JSON.stringify(key)
      return (
        repeatedName(`{"":0,${name}:${JSON.stringify(a)},"x y":[${JSON.stringify(b)}],${name}:1}`) === key
      )
    }),
  )
})

t.test('input that is no request also gets a problem, and its connection is closed', async (t) => {
  const world = await ApiWorld.start(t)
  const cases = {
    'no HTTP': 'hello\r\n\r\n',
    'two lengths': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    'length and chunks':
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    'a header too large': `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    'a bare line feed in a header': 'GET / HTTP/1.1\r\nHost: x\r\nX: a\nY b\r\n\r\n',
  }
  for (const [name, text] of Object.entries(cases)) {
    const answer = await world.raw(text)
    t.match(answer, /^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/problem\+json\r\n/, name)
    t.match(answer, /X-Request-Id: [0-9a-f]{8}-[0-9a-f]{4}-7/, name)
    t.match(answer, /"code":"invalid_request"/, name)
  }
})

t.test('headers that never end get an answer [errors.request_timeout]', async (t) => {
  const timedOut = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  const { services } = await MemoryServices.start(t)
  const addresses = new ClientAddresses({ trustedProxies: [] })
  const edge = { services, api: 'native', addresses } as const
  const server = net.createServer((socket) => answerClientError(timedOut, socket, edge))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 408 [^]*"code":"request_timeout"/)
  socket.destroy()
})
