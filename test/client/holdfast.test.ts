/**
 * The client to import: its arguments, answers, errors and pages, against real servers and scripted ones.
 */
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { HoldfastAdmin } from '../../packages/client/src/admin.ts'
import {
  AccessDeniedError,
  ApiError,
  type DataOptions,
  Holdfast,
  HoldfastError,
  NoAnswerError,
  NotFoundError,
  NotModifiedError,
  VERSION,
  WrongListenerError,
} from '../../packages/client/src/index.ts'
import { ApiWorld } from '../api/api-world.ts'
import { CUT, problem, ScriptedServer } from './scripted-server.ts'

const NO_WAIT = { now: () => 0, wait: async () => {} }

async function start(t: Test, more: Partial<DataOptions> = {}) {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')
  const key = await world.memory.accessKey('acme', 'read,write,delete')
  const endpoints = `http://127.0.0.1:${world.dataPort}`
  const client = new Holdfast({ endpoints, ...key, ...more })
  return { world, key, client, endpoints }
}

const caught = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

t.test('a redirect is no answer, and the token does not follow it', async (t) => {
  const server = await ScriptedServer.start(t)
  const elsewhere = await ScriptedServer.start(t)
  const client = new Holdfast({ endpoints: server.url, token: 't', repeat: { attemptsMax: 1 } })
  for (const status of [301, 302, 303, 307, 308]) {
    server.script({ status, headers: { location: `${elsewhere.url}/login` } })
    const error = await caught(client.listBuckets())
    t.ok(error instanceof NoAnswerError, `${status}`)
    t.match(error, { message: /redirect/ })
  }
  t.equal(elsewhere.received.length, 0)
})

t.test('the version is that of the release', async (t) => {
  for (const file of ['../../package.json', '../../packages/client/package.json']) {
    const { version } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as {
      version: string
    }
    t.equal(version, VERSION, file)
  }
})

t.test('an endpoint that cannot work is refused by the constructor', async (t) => {
  for (const [endpoints, message] of [
    ['localhost:9000', /'localhost:9000' is no endpoint: did you mean http:\/\/localhost:9000\?/],
    ['store.example', /did you mean http:\/\/store\.example\?/],
    ['ftp://store.example', /expected one such as http:\/\/localhost:9000/],
    ['not a host', /expected one such as/],
    [[], /at least one endpoint/],
    ['http://me:secret@store.example', /credentials in its URL/],
    ['http://store.example/?a=b', /leave out everything from '\?' on/],
    [Array(65).fill('http://store.example'), /at most 64 endpoints, not 65/],
  ] as const)
    t.throws(
      () => new Holdfast({ endpoints, token: 't' }),
      { name: 'ArgumentError', message },
      String(endpoints),
    )
})

t.test('a wrong option is named, and what was meant', async (t) => {
  const made = (options: object) => () => new Holdfast(options as DataOptions)
  t.throws(made({ endpoint: 'http://a' }), {
    message: "A client has no option 'endpoint': did you mean 'endpoints'?",
  })
  t.throws(made({}), { message: /needs the option 'endpoints'/ })
  t.throws(made({ endpoints: 'http://a', accessKeyId: 'AK' }), { message: /'secretKey' is a text/ })
  t.throws(made({ endpoints: 'http://a', accessKeyId: 'AK', token: 't' }), { message: /not both/ })
  t.throws(made({ endpoints: 'http://a', token: 'a b' }), { message: /'token' is a text without blanks/ })
  t.throws(made({ endpoints: 'http://a', answerMs: 0 }), { message: /'answerMs' is a time in milliseconds/ })
  const client = new Holdfast({ endpoints: 'http://127.0.0.1:1', token: 't' })
  type Name = 'putObject' | 'getObject' | 'listObjects' | 'createBucket'
  const ask = (name: Name, input: object): Promise<unknown> => client[name](input as never)
  await t.rejects(ask('putObject', { bucket: 'b', key: 'k', body: '', contenttype: 'a/b' }), {
    name: 'ArgumentError',
    message: "putObject has no option 'contenttype': did you mean 'contentType'?",
  })
  await t.rejects(ask('createBucket', { nome: 'b' }), { message: /no option 'nome': did you mean 'name'\?/ })
  await t.rejects(ask('getObject', { bucket: 'b' }), { message: "getObject needs the option 'key'" })
  await t.rejects(ask('getObject', { bucket: 'b', key: '' }), { message: "getObject needs the option 'key'" })
  await t.rejects(ask('putObject', { bucket: 'b', key: 'k' }), {
    message: "putObject needs the option 'body'",
  })
  await t.rejects(ask('listObjects', { bucket: 'b', prefix: {} }), {
    message: /'prefix' of listObjects is a text/,
  })
  await t.rejects(ask('putObject', { bucket: 'b', key: '..', body: 'x' }), {
    message: /'\.' and '\.\.' have a meaning/,
  })
})

t.test('objects of every form of key and body come back as they were sent', async (t) => {
  const { client } = await start(t)
  await client.createBucket({ name: 'photos' })
  const bodies = {
    text: 'hello ü',
    bytes: new TextEncoder().encode('hello ü'),
    buffer: new TextEncoder().encode('hello ü').buffer,
    blob: new Blob(['hello ü']),
    file: new File(['hello ü'], 'f.txt'),
    stream: new Blob(['hello ü']).stream(),
    pieces: (async function* () {
      yield new TextEncoder().encode('hello ')
      yield new TextEncoder().encode('ü')
    })(),
    source: { open: () => new Blob(['hello ü']).stream(), length: 8 },
  }
  for (const [key, body] of Object.entries(bodies)) {
    const stored = await client.putObject({ bucket: 'photos', key, body, contentType: 'text/x-own' })
    t.match(stored, { key, size: 8, contentType: 'text/x-own' }, key)
    const got = await client.getObject({ bucket: 'photos', key })
    t.equal(await new Response(got.body).text(), 'hello ü', key)
  }
  for (const key of ['../a b/ü#?.txt', 'a/./b', 'a//b/', '%2F', 'ends/..', '.hidden', 'a\\b']) {
    await client.putObject({ bucket: 'photos', key, body: key })
    t.equal(await new Response((await client.getObject({ bucket: 'photos', key })).body).text(), key)
  }
})

t.test('options become headers, and headers become members', async (t) => {
  const { client } = await start(t)
  await client.createBucket({ name: 'photos', versioning: 'Enabled' })
  const name = { bucket: 'photos', key: 'k' }
  const metadata = { camera: 'x100 – ü', place: 'plain' }
  await client.putObject({
    ...name,
    body: 'hello',
    metadata,
    tags: { env: 'a=b&c' },
    cacheControl: 'max-age=1',
  })
  t.same((await client.getObjectTags(name)).tags, { env: 'a=b&c' })
  const head = await client.headObject(name)
  t.match(head, {
    size: 5,
    metadata,
    cacheControl: 'max-age=1',
    contentLength: 5,
    tagCount: 1,
    versionId: String,
  })
  t.match(head.checksums, { SHA256: /=$/ }, 'a put of bytes carries their digest')
  const part = await client.getObject({ ...name, range: 'bytes=1-3' })
  t.equal(await new Response(part.body).text(), 'ell')
  t.match(part, { size: 5, contentLength: 3, contentRange: 'bytes 1-3/5' })
  const { etag } = head
  const same = await caught(client.getObject({ ...name, ifNoneMatch: `"${etag}"` }))
  t.ok(same instanceof NotModifiedError)
  await t.rejects(client.putObject({ ...name, body: 'x', ifNoneMatch: '*' }), {
    name: 'PreconditionFailedError',
  })
})

t.test('what fails is a class with status, code and request id, and says what is wrong first', async (t) => {
  const { client, world, key } = await start(t)
  const missing = await caught(client.listObjects({ bucket: 'photos' }))
  t.ok(missing instanceof NotFoundError && missing instanceof ApiError && missing instanceof HoldfastError)
  t.match(missing, { status: 404, code: 'not_found', operation: 'listObjects', requestId: /^[0-9a-f-]{36}$/ })
  t.match(missing, { message: /^Bucket "photos" does not exist.* \(404 not_found\)$/ })
  const reader = await world.memory.accessKey('acme', 'read')
  const endpoints = `http://127.0.0.1:${world.dataPort}`
  const denied = await caught(new Holdfast({ endpoints, ...reader }).createBucket({ name: 'photos' }))
  t.ok(denied instanceof AccessDeniedError)
  const wrong = new Holdfast({ endpoints, accessKeyId: key.accessKeyId, secretKey: 'wrong' })
  await t.rejects(wrong.listBuckets(), { name: 'UnauthorizedError', status: 401 })
  await t.rejects(client.headObject({ bucket: 'photos', key: 'k' }), { message: /^There is no such object/ })
  const closed = await ScriptedServer.start(t)
  const gone = new Holdfast({ endpoints: closed.url, token: 't', clock: NO_WAIT })
  closed.stop()
  const silent = await caught(gone.listBuckets())
  t.ok(silent instanceof NoAnswerError && silent.isUnreceived)
  t.match(silent, { message: /^listBuckets had no answer from http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/ })
})

t.test('the listener of the other plane is recognized', async (t) => {
  const { world, key } = await start(t)
  const endpoints = `http://127.0.0.1:${world.adminPort}`
  for (const credentials of [key, { token: await world.memory.bearer('acme') }]) {
    const error = await caught(new Holdfast({ endpoints, ...credentials }).listBuckets())
    t.ok(error instanceof WrongListenerError)
    t.match(error, {
      message: `${endpoints} is the admin listener of a node; this client needs its data listener`,
    })
  }
  const admin = new HoldfastAdmin({ endpoints: `http://127.0.0.1:${world.dataPort}`, token: 'svcadm_x' })
  await t.rejects(admin.listTenants(), {
    name: 'WrongListenerError',
    message: /is the data listener of a node/,
  })
})

t.test('for await over all pages', async (t) => {
  const { client } = await start(t)
  for (const name of ['films', 'photos', 'songs']) await client.createBucket({ name, versioning: 'Enabled' })
  for (const key of ['a', 'b', 'c', 'd', 'e']) await client.putObject({ bucket: 'photos', key, body: key })
  for (const key of ['a', 'b', 'b']) await client.createMultipartUpload({ bucket: 'photos', key })
  const all = async <T, R>(entries: AsyncIterable<T>, of: (entry: T) => R): Promise<R[]> => {
    const found: R[] = []
    for await (const entry of entries) found.push(of(entry))
    return found
  }
  const bucket = 'photos'
  t.same(await all(client.buckets({ maxBuckets: 2 }), ({ name }) => name), ['films', 'photos', 'songs'])
  t.same(await all(client.objects({ bucket, maxKeys: 2 }), ({ key }) => key), ['a', 'b', 'c', 'd', 'e'])
  t.same(await all(client.versions({ bucket, maxKeys: 2 }), ({ key }) => key), ['a', 'b', 'c', 'd', 'e'])
  t.same(await all(client.uploads({ bucket, maxUploads: 1 }), ({ key }) => key), ['a', 'b', 'b'])
  t.same(
    await all(client.pages('listObjects', { bucket, maxKeys: 2 }), ({ objects }) => objects.length),
    [2, 2, 1],
  )
  for await (const object of client.objects({ bucket, maxKeys: 1 })) {
    t.equal(object.key, 'a', 'a loop may end early')
    break
  }
})

t.test('a listing that does not advance is an error', async (t) => {
  const server = await ScriptedServer.start(t)
  const page = { status: 200, body: { objects: [], isTruncated: true, nextContinuationToken: 'again' } }
  server.script(page, page, page)
  const client = new Holdfast({ endpoints: server.url, token: 't' })
  const read = async () => {
    for await (const _ of client.pages('listObjects', { bucket: 'photos' }));
  }
  await t.rejects(read(), { message: /does not advance/ })
  t.equal(server.received.length, 2)
})

t.test('a dry run is a method of its own, and changes nothing', async (t) => {
  const { world } = await start(t)
  const endpoints = [`http://127.0.0.1:${world.adminPort}`]
  const admin = new HoldfastAdmin({ endpoints, token: await world.memory.adminToken('owner') })
  const plan = await admin.dryRun.createTenant({ id: 'other', name: 'Other' })
  t.match(plan, { dryRun: true, allowed: true, operation: 'createTenant' })
  await t.rejects(admin.getTenant({ id: 'other' }), { status: 404, code: 'not_found' })
  t.match(await admin.createTenant({ id: 'other', name: 'Other' }), { id: 'other', status: 'active' })
  const ids: string[] = []
  for await (const { id } of admin.tenants({ limit: 1 })) ids.push(id)
  t.same(ids.sort(), ['acme', 'other'])
})

t.test('after a failure the next node is asked, with the same idempotency key', async (t) => {
  const [gone, server] = [await ScriptedServer.start(t), await ScriptedServer.start(t)]
  const client = new Holdfast({ endpoints: [gone.url, server.url], token: 't', clock: NO_WAIT })
  gone.script(problem(503, 'no_leader'))
  server.script(CUT, { status: 200, body: { key: 'k' } })
  gone.script(problem(503, 'no_leader'), problem(503, 'no_leader'))
  await client.putObject({ bucket: 'photos', key: 'k', body: 'hello' })
  const sent = [...gone.received, ...server.received]
  t.equal(sent.length, 4)
  t.same([...new Set(sent.map(({ body }) => body))], ['hello'])
  const keys = new Set(sent.map(({ headers }) => headers['idempotency-key']))
  t.match([...keys], [/^[0-9a-f]{32}$/])
  t.equal(keys.size, 1)
})

t.test('a stream is sent once, and its failure is thrown', async (t) => {
  const server = await ScriptedServer.start(t)
  const client = new Holdfast({ endpoints: server.url, token: 't', clock: NO_WAIT })
  server.script(problem(503, 'no_leader'), { status: 200, body: {} })
  const input = { bucket: 'photos', key: 'k', idempotencyKey: 'k', body: new Blob(['hello']).stream() }
  await t.rejects(client.putObject(input), { status: 503, code: 'no_leader' })
  t.equal(server.received.length, 1)
})

t.test('User-Agent', async (t) => {
  const server = await ScriptedServer.start(t)
  server.script({ status: 200, body: {} })
  await new Holdfast({ endpoints: server.url, token: 't', userAgent: 'app/1' }).healthz()
  t.equal(server.received[0]?.headers['user-agent'], `app/1 holdfast-client/${VERSION}`)
})

t.test('an aborted signal ends a call with its reason', async (t) => {
  const server = await ScriptedServer.start(t)
  const aborted = new AbortController()
  const wait = async () => aborted.abort(new Error('enough'))
  const client = new Holdfast({ endpoints: server.url, token: 't', clock: { now: () => 0, wait } })
  server.script(CUT, CUT, { status: 200, body: {} })
  await t.rejects(client.listBuckets({}, { signal: aborted.signal }), { message: 'enough' })
  t.equal(server.received.length, 1)
  await t.rejects(
    client.listBuckets({}, { signal: aborted.signal }),
    { message: 'enough' },
    'nothing is sent',
  )
  t.equal(server.received.length, 1)
})

t.test('a server that accepts and says nothing', async (t) => {
  const { default: net } = await import('node:net')
  const silent = net.createServer((socket) => void socket.on('error', () => undefined))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  t.teardown(() => silent.close())
  const options = { endpoints: `http://127.0.0.1:${port}`, token: 't', answerMs: 50, clock: NO_WAIT }
  const client = new Holdfast({ ...options, repeat: { attemptsMax: 2 } })
  await t.rejects(client.listBuckets(), { name: 'NoAnswerError', message: /There was no answer in time/ })
  const source = { open: () => new Blob(['hello']).stream() }
  await t.rejects(client.putObject({ bucket: 'photos', key: 'k', body: source }), { name: 'NoAnswerError' })
})
