/**
 * Values that would do harm where they are used: line ends in values echoed in headers, JSON that breaks parsers, names of
 * callers that any client can send, and secrets, which no log line and no refusal may repeat.
 */
import t from 'tap'
import { ApiWorld } from './api-world.ts'
import { BucketClient } from './bucket-client.ts'
import { askOf, isAdmin, operationOf, STORY, takes } from './example-story.ts'

/** Every control character, and two line ends that some decoders make of one character. */
const LINE_ENDS = [
  ...Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).filter((text) => text !== '\t'),
  '\u007f',
  '\r\nX-Injected: 1\r\n\r\n',
  '\u2028X-Injected: 1',
  '\u0d0aX-Injected: 1',
]

t.test('no stored text ends a line of a header', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  await films.put('k')
  const fields = (text: string): readonly object[] => [
    { contentType: `text/plain${text}` },
    { metadata: { a: `x${text}y` } },
    { metadata: { [`a${text}b`]: 'x' } },
  ]
  for (const end of LINE_ENDS)
    for (const field of fields(end)) {
      const shown = encodeURIComponent(JSON.stringify(field))
      const copied = await films.copy('copy', { sourceKey: 'k', metadataDirective: 'REPLACE', ...field })
      const started = await films.on('multipart', 'upload', { method: 'POST', body: field })
      for (const answer of [copied, started]) {
        // Text beyond ASCII may be stored: it is echoed as bytes that are no control characters.
        if (answer.status < 300)
          t.ok(/\u2028|\u0d0a/.test(end) && 'metadata' in field, `${shown} may be stored`)
        else t.match(answer, { status: 400, code: 'invalid_request' }, shown)
        t.equal(answer.headers['x-injected'], undefined)
      }
      const read = await films.get('copy')
      if (read.status === 200) t.equal(read.headers['x-injected'], undefined, shown)
    }
  for (const key of ['a%0d%0aX-Injected:%201', 'a%0aX-Injected:%201', '%E2%80%A8X-Injected:1']) {
    const started = await films.on('multipart', key, { method: 'POST', body: {} })
    t.equal(started.status, 201)
    t.equal(started.headers['x-injected'], undefined)
    t.notMatch(started.headers['location'], /[^\x21-\x7e]/, 'the path in Location is encoded')
  }
})

/** Bodies for every route that takes JSON. */
const STRANGE: Readonly<Record<string, string>> = {
  'a thousand brackets': `${'['.repeat(1000)}${']'.repeat(1000)}`,
  'half a million brackets': '['.repeat(500_000),
  'half a million objects': `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`,
  'a key given twice': '{"reason":"a","reason":"b"}',
  'a key given twice in two spellings': '{"reason":"a","re\\u0061son":"b"}',
  'a prototype': '{"__proto__":{"reason":"a","status":"ON"}}',
  'a number beyond all numbers': '{"maxBytesPerSecond":1e999,"reason":"a"}',
  'a number of 100,000 digits': `{"maxBytesPerSecond":${'9'.repeat(100_000)},"reason":"a"}`,
  'a comment': '{/* */}',
  'no object': '"text"',
  'nothing at all': 'null',
}

t.test('JSON that breaks parsers is refused by every route that takes JSON', async (t) => {
  const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 } })
  await world.memory.tenant('acme')
  const token = await world.memory.bearer('acme', 'read,write,delete,admin')
  const owner = await world.memory.adminToken('owner')
  let asked = 0
  for (const id of STORY) {
    const operation = operationOf(id)
    if (operation.requestBody?.content['application/json'] === undefined) continue
    for (const [name, body] of Object.entries(STRANGE)) {
      const headers = { 'content-type': 'application/json' }
      const ask = { ...askOf(id, {}), body, headers, token: isAdmin(id) ? owner : token }
      const answer = await world.call(ask)
      t.ok([400, 404, 413].includes(answer.status), `${id}, ${name}: ${answer.status} ${String(answer.code)}`)
      asked += 1
    }
    for (const type of ['application/x-msgpack', 'application/msgpack', 'application/cbor', 'text/json', ''])
      t.match(
        await world.call({
          ...askOf(id, {}),
          body: Buffer.from([0x80]),
          headers: { 'content-type': type },
          token: isAdmin(id) ? owner : token,
        }),
        { status: 415, code: 'unsupported_media_type' },
        `${id} takes no ${type}`,
      )
  }
  t.ok(asked > 200, `${asked} requests`)
  t.notOk(Object.hasOwn(Object.prototype, 'reason'), 'no prototype was touched')
})

t.test('the forwarding headers of a request have no effect', async (t) => {
  const world = await ApiWorld.start(t)
  const { access } = world.memory.services
  const addresses: string[] = []
  const exchange = access.exchange.bind(access)
  access.exchange = (input) => {
    addresses.push(input.clientAddress)
    return exchange(input)
  }
  for (const name of ['X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'True-Client-IP', 'CF-Connecting-IP']) {
    const headers = { [name]: '203.0.113.7', 'X-Forwarded-Host': 'evil', 'X-Forwarded-Proto': 'https' }
    const body = { accessKeyId: 'AKNO', secretKey: 'x' }
    await world.call({ method: 'POST', path: '/api/v1/auth/token', headers, body })
  }
  t.same([...new Set(addresses)], ['127.0.0.1'])
})

t.test('no secret is in a log line or a refusal', async (t) => {
  const world = await ApiWorld.start(t, { limits: { adminRequestsBurst: 10_000 }, requestLines: 'all' })
  await world.memory.tenant('acme')
  const key = await world.memory.accessKey('acme', 'read,write,delete,admin')
  const token = world.memory.services.access.exchange({ ...key, clientAddress: 'x' }).token
  const owner = await world.memory.adminToken('owner')
  const basic = Buffer.from(`${key.accessKeyId}:${key.secretKey}`).toString('base64')
  const planted = 'planted-secret-0123456789'
  const secrets = [key.secretKey, token, owner, basic, planted]
  const refusals: string[] = []
  const ask = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = { 'content-type': 'application/json' }
    const answer = await world.call({ method, path, ...sent, headers: { ...type, ...headers } })
    if (answer.status >= 400) refusals.push(answer.bytes.toString() + JSON.stringify(answer.headers))
  }
  const login = '/api/v1/auth/token'
  await ask(login, key)
  await ask(login, { ...key, accessKeyId: planted })
  await ask(login, { secretKey: key.secretKey })
  await ask(login, { ...key, secretkey: planted })
  await ask(login, { accessKeyId: key.accessKeyId, secretKey: [planted] })
  await ask(login, { accessKeyId: key.accessKeyId, secretKey: { [planted]: 1 } })
  await ask(login, key, { authorization: `Basic ${basic}` })
  await ask(login, {}, { authorization: `Basic ${basic}` })
  await ask(login, {}, { authorization: `Basic ${planted}` })
  for (const given of [token, `${token}x`, owner, `${token} ${token}`, planted])
    for (const path of [
      '/api/v1/buckets',
      '/api/v1/nowhere',
      `/api/v1/buckets?token=${planted}`,
      '/api/v1/%zz',
    ])
      await ask(path, undefined, { authorization: `Bearer ${given}`, cookie: planted, 'x-api-key': planted })
  // And the whole story, whose answers contain secrets.
  const answers: Record<string, unknown> = {}
  for (const id of STORY) {
    const bearer = takes(operationOf(id), 'bearer') ? { token: isAdmin(id) ? owner : token } : {}
    const answer = await world.call({ ...askOf(id, answers), ...bearer })
    answers[id] = answer.json
    for (const name of ['secretKey', 'token']) {
      const secret = answer.json[name]
      if (typeof secret === 'string') secrets.push(secret)
    }
  }
  t.ok(secrets.length > 7 && refusals.length > 20 && world.memory.lines.length > 70)
  const logged = JSON.stringify(world.memory.lines, (_, value: unknown) =>
    value instanceof Error ? { cause: value.cause, text: `${value.message} ${value.stack ?? ''}` } : value,
  )
  for (const secret of secrets) {
    t.notOk(logged.includes(secret), `${secret.slice(0, 8)} is in no log line`)
    for (const refusal of refusals.filter((text) => text.includes(secret)))
      t.ok(secret === planted && isEchoed(refusal), `a refusal repeats ${secret.slice(0, 8)}: ${refusal}`)
  }
})

/** A name of a field that is unknown, or an id of a key, is repeated to its sender; neither is a place for a secret. */
const isEchoed = (refusal: string): boolean => /unknown|access key/i.test(refusal)
