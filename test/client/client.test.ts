/**
 * The client against a real node: calls and tokens.
 */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { CLIENT_PLANES, clientFiles } from '../../scripts/pages/client-types.ts'
import { adminClient, ApiError, dataClient } from '../../src/client/clients.ts'
import { ApiWorld } from '../api/api-world.ts'
import { problem, ScriptedServer } from './scripted-server.ts'

t.test('the types are those of the documents (node scripts/pages/client-types.ts)', async (t) => {
  for (const plane of CLIENT_PLANES)
    for (const { file, text } of clientFiles(plane)) t.equal(readFileSync(file, 'utf8'), text, file)
})

async function start(t: Parameters<typeof ApiWorld.start>[0]) {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')
  const key = await world.memory.accessKey('acme', 'read,write,delete')
  const endpoints = [`http://127.0.0.1:${world.dataPort}`]
  let now = Date.now()
  const clock = { now: () => now, wait: async () => {} }
  const client = dataClient({ endpoints, ...key, clock })
  t.teardown(() => client.close())
  return { world, key, client, pass: (ms: number) => (now += ms) }
}

t.test('buckets and objects, by their names', async (t) => {
  const { client } = await start(t)
  const made = await client.call('createBucket', { body: { name: 'photos', versioning: 'Enabled' } })
  t.match(made, { status: 201, answer: { name: 'photos', versioning: 'Enabled' } })
  t.match(made.requestId, /^[0-9a-f-]{36}$/)
  const name = { bucket: 'photos', key: '../a b/ü#?.txt' }
  const put = await client.call('putObject', {
    params: name,
    headers: { 'Content-Type': 'text/plain', 'X-Service-Meta-camera': 'x100' },
    body: 'hello',
  })
  t.match(put.answer, { key: name.key, size: 5, metadata: { camera: 'x100' } })
  const got = await client.call('getObject', { params: name, headers: { Range: 'bytes=1-3' } })
  t.equal(got.status, 206)
  t.equal(Buffer.concat(await got.answer.toArray()).toString(), 'ell')
  const head = await client.call('headObject', { params: name })
  t.equal(head.answer, undefined)
  t.equal(head.headers['content-length'], '5')
  const listed = await client.call('listObjects', { params: { bucket: 'photos' }, query: { maxKeys: 1 } })
  t.same(
    listed.answer.objects.map(({ key }) => key),
    [name.key],
  )
  t.equal((await client.call('deleteObject', { params: name })).status, 204)
  const missing = await client.call('getObject', { params: name }).catch((caught: unknown) => caught)
  t.ok(missing instanceof ApiError)
  t.match(missing, { status: 404, code: 'not_found', operation: 'getObject', requestId: String })
})

t.test('a body of several megabytes goes up and comes down as a stream', async (t) => {
  const { client } = await start(t)
  await client.call('createBucket', { body: { name: 'photos' } })
  const pieces = Array.from({ length: 48 }, (_, n) => Buffer.alloc(128 * 1024, n))
  const params = { bucket: 'photos', key: 'film' }
  const body = {
    open: async function* () {
      yield* pieces
    },
  }
  const put = await client.call('putObject', { params, body })
  t.equal(put.answer.size, 48 * 128 * 1024)
  const { answer } = await client.call('getObject', { params })
  t.ok(Buffer.concat(await answer.toArray()).equals(Buffer.concat(pieces)))
})

t.test('tokens', async (t) => {
  t.test('one exchange serves all calls until shortly before its end', async (t) => {
    const { world, client, pass } = await start(t)
    const minted: string[] = []
    const { access } = world.memory.services
    const exchange = access.exchange.bind(access)
    access.exchange = (input) => {
      minted.push(input.accessKeyId)
      return exchange(input)
    }
    await Promise.all([client.call('listBuckets'), client.call('listBuckets'), client.call('listBuckets')])
    t.equal(minted.length, 1, 'calls at the same time share it')
    pass(58 * 60_000)
    await client.call('listBuckets')
    t.equal(minted.length, 1)
    pass(61_000)
    await client.call('listBuckets')
    t.equal(minted.length, 2, 'replaced within its last minute')
  })

  t.test(
    'after a 401 the client gets one new token and makes one more attempt, for writes too',
    async (t) => {
      const { world, client } = await start(t)
      await client.call('listBuckets')
      world.memory.now += 2 * 3_600_000
      const body = { name: 'photos' }
      t.equal((await client.call('createBucket', { body })).status, 201, 'the node calls the token expired')
    },
  )

  t.test('a revoked key is reported after one more attempt', async (t) => {
    const { world, client, key } = await start(t)
    await client.call('listBuckets')
    const { accessKeyId } = key
    await world.memory.change({ type: 'revokeAccessKey', accessKeyId, tenantId: 'acme', reason: 'test' })
    await t.rejects(client.call('listBuckets'), {
      status: 401,
      code: 'key_revoked',
      operation: 'createToken',
    })
  })

  t.test('a node that refuses every token receives two tokens', async (t) => {
    const server = await ScriptedServer.start(t)
    const minted = { status: 200, body: { token: 'svctk_1', expiresIn: 3600 } }
    const client = dataClient({ endpoints: [server.url], accessKeyId: 'AK', secretKey: 's' })
    t.teardown(() => client.close())
    server.script(minted, problem(401, 'token_invalid'), minted, problem(401, 'token_invalid'), minted)
    await t.rejects(client.call('listBuckets'), { status: 401, code: 'token_invalid' })
    t.equal(server.received.length, 4)
    t.equal(server.received[0]?.headers.authorization, undefined, 'the exchange carries no token')
  })

  t.test('an exchange is repeated when it had no answer', async (t) => {
    const server = await ScriptedServer.start(t)
    const clock = { now: () => 0, wait: async () => {} }
    const client = dataClient({ endpoints: [server.url], accessKeyId: 'AK', secretKey: 's', clock })
    t.teardown(() => client.close())
    const minted = { status: 200, body: { token: 'svctk_1', expiresIn: 3600 } }
    server.script(problem(503, 'no_leader'), minted, { status: 200, body: { buckets: [] } })
    await client.call('listBuckets')
    t.equal(server.received[2]?.headers.authorization, 'Bearer svctk_1')
  })
})

t.test('a removal has no answer body, its dry run returns a plan', async (t) => {
  const { world, client } = await start(t)
  await client.call('createBucket', { body: { name: 'photos' } })
  const token = await world.memory.adminToken('owner')
  const admin = adminClient({ endpoints: [`http://127.0.0.1:${world.adminPort}`], token })
  t.teardown(() => admin.close())
  const params = { id: 'acme', bucket: 'photos' }
  const planned = await admin.call('deleteTenantBucketPolicy', { params, query: { dryRun: true } })
  t.match(planned, { status: 200, answer: { plan: { removes: false } } })
  const removed = await admin.call('deleteTenantBucketPolicy', { params })
  t.same([removed.status, removed.answer], [204, undefined])
})

t.test('a signed URL is used without the token of the client', async (t) => {
  const server = await ScriptedServer.start(t)
  const client = dataClient({ endpoints: [server.url], token: 'svctk_1' })
  t.teardown(() => client.close())
  server.script({ status: 200, body: { key: 'in/a' } })
  const params = { bucket: 'photos', key: 'in/a' }
  await client.call('putSigned', { params, query: { token: 'svcurl_1' }, body: 'hello' })
  t.match(server.received, [{ path: '/api/v1/signed/photos/in/a?token=svcurl_1' }])
  t.equal(server.received[0]?.headers.authorization, undefined)
})

t.test('the admin client keeps its token', async (t) => {
  const { world } = await start(t)
  const token = await world.memory.adminToken('owner')
  const client = adminClient({ endpoints: [`http://127.0.0.1:${world.adminPort}`], token })
  t.teardown(() => client.close())
  t.equal((await client.call('getTenant', { params: { id: 'acme' } })).answer.id, 'acme')
  t.match((await client.call('getMetrics')).answer, /^up 1/)
  const unknown = adminClient({ endpoints: [`http://127.0.0.1:${world.adminPort}`], token: 'svcadm_no' })
  t.teardown(() => unknown.close())
  await t.rejects(unknown.call('listTenants'), { status: 401, code: 'token_invalid' })
})
