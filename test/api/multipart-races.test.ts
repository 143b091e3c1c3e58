/**
 * Requests on one upload at the same time: exactly one outcome, decided by the order in the log. [decisions 6]
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import { deferred } from '../helpers/async.ts'
import type { ApiAnswer } from './api-world.ts'
import { MIB, MultipartClient, type Named, PART_MIN, partBytes, UPLOADS } from './multipart-client.ts'
import { objectRanges } from '../../src/state-machine/objects/keys.ts'

interface Filled {
  readonly client: MultipartClient
  readonly upload: { readonly key: string; readonly id: string }
  /** Parts 1 and 2, of 5 MiB and a few bytes. */
  readonly parts: readonly [Named, Named]
}

async function filled(t: Parameters<typeof MultipartClient.start>[0]): Promise<Filled> {
  const client = await MultipartClient.start(t)
  const upload = { key: 'k', id: await client.begin('k') }
  const first = await client.part(upload, 1, partBytes(1, PART_MIN))
  return { client, upload, parts: [first, await client.part(upload, 2, 'tail')] }
}

/** Runs `second` when the entry of `first` is about to be applied, and lets that wait until `second` has its answer. */
async function overtaken(
  { world }: MultipartClient,
  first: () => Promise<ApiAnswer>,
  second: () => Promise<ApiAnswer>,
): Promise<readonly [ApiAnswer, ApiAnswer]> {
  const { services } = world.memory
  const { propose } = services
  const overtaking: Promise<ApiAnswer>[] = []
  const hold: typeof propose = async (command) => {
    Object.assign(services, { propose })
    overtaking.push(second())
    await Promise.all(overtaking)
    return propose(command)
  }
  Object.assign(services, { propose: hold })
  const answer = await first()
  const [overtaker] = await Promise.all(overtaking)
  assert(overtaker !== undefined, 'the first proposes something')
  return [answer, overtaker]
}

const NOT_FOUND = { status: 404, code: 'not_found' }

t.test('two completions with the same parts make one object and get the same answer', async (t) => {
  const { client, upload, parts } = await filled(t)
  const [one, other] = await Promise.all([client.complete(upload, parts), client.complete(upload, parts)])
  t.strictSame([one.status, other.status], [200, 200])
  t.strictSame(one.json, other.json)
  t.match(client.usage, { objects: 1, versions: 1, logicalBytes: PART_MIN + 4, uploads: 0, uploadBytes: 0 })
})

t.test('of two completions with different parts one is refused', async (t) => {
  const { client, upload, parts } = await filled(t)
  const [late, early] = await overtaken(
    client,
    () => client.complete(upload, parts),
    () => client.complete(upload, [parts[0]]),
  )
  t.equal(early.status, 200)
  t.match(late, NOT_FOUND)
  t.equal((await client.get('k')).bytes.length, PART_MIN)
})

t.test('a completion whose upload is completed while it looks at the parts answers the same', async (t) => {
  const { client, upload, parts } = await filled(t)
  const { state } = client.world.memory.services
  const lease = state.lease.bind(state)
  let first: ApiAnswer | null = null
  // The first read that takes a lease is that of the parts.
  state.lease = async (work) => {
    state.lease = lease
    first = await client.complete(upload, parts)
    return lease(work)
  }
  const second = await client.complete(upload, parts)
  t.equal(second.status, 200, second.bytes.toString())
  t.strictSame(second.json, (first as ApiAnswer | null)?.json)
})

t.test('a completion and a part that is sent again', async (t) => {
  await t.test('keep the named part when the completion comes first', async (t) => {
    const { client, upload, parts } = await filled(t)
    const [part, done] = await overtaken(
      client,
      () => client.put(upload, 2, 'late'),
      () => client.complete(upload, parts),
    )
    t.equal(done.status, 200)
    t.match(part, NOT_FOUND)
    t.match((await client.get('k')).bytes.subarray(-4).toString(), 'tail')
    t.match(client.usage, { uploads: 0, uploadBytes: 0, logicalBytes: PART_MIN + 4 })
  })

  await t.test('refuse the completion when the part comes first', async (t) => {
    const { client, upload, parts } = await filled(t)
    const [done, part] = await overtaken(
      client,
      () => client.complete(upload, parts),
      () => client.put(upload, 2, 'early'),
    )
    t.equal(part.status, 200)
    t.match(done, { status: 400, code: 'invalid_part' })
    t.match(client.usage, { uploads: 1, uploadBytes: PART_MIN + 5, objects: 0 })
  })
})

t.test('a completion and the end of its upload', async (t) => {
  await t.test('make the object when the completion comes first', async (t) => {
    const { client, upload, parts } = await filled(t)
    const [gone, done] = await overtaken(
      client,
      () => client.abort(upload),
      () => client.complete(upload, parts),
    )
    t.strictSame([gone.status, done.status], [204, 200])
    t.equal((await client.get('k')).bytes.length, PART_MIN + 4)
  })

  await t.test('make no object when the end comes first', async (t) => {
    const { client, upload, parts } = await filled(t)
    const [done, gone] = await overtaken(
      client,
      () => client.complete(upload, parts),
      () => client.abort(upload),
    )
    t.equal(gone.status, 204)
    t.match(done, NOT_FOUND)
    t.match(await client.get('k'), NOT_FOUND)
    t.match(client.usage, { uploads: 0, uploadBytes: 0, objects: 0, logicalBytes: 0 })
  })
})

t.test('the same part sent twice at once is stored once', async (t) => {
  const client = await MultipartClient.start(t)
  const upload = { key: 'k', id: await client.begin('k') }
  const bodies = [partBytes(1, 5 * MIB), partBytes(2, 6 * MIB)]
  const stored = await Promise.all(bodies.map((body) => client.put(upload, 1, body)))
  t.strictSame(
    stored.map(({ status }) => status),
    [200, 200],
  )
  const [part] = (await client.ask('GET', `${upload.id}/parts/k`)).json['parts'] as (Named & {
    size: number
  })[]
  const winner = bodies.find(({ length }) => length === part?.size)
  t.equal(client.usage.uploadBytes, winner?.length)
  if (part === undefined || winner === undefined) return t.fail('neither was stored')
  t.equal((await client.complete(upload, [{ partNumber: 1, etag: part.etag }])).status, 200)
  t.ok((await client.get('k')).bytes.equals(winner))
})

t.test('a client that goes away in the middle of a part stores nothing', async (t) => {
  const { client, upload } = await filled(t)
  const { world, token } = client
  const placed = deferred()
  world.memory.blobs.beforeWrite = async () => placed.resolve()
  const [before, usage] = [world.memory.proposals, client.usage]
  const socket = net.connect(world.dataPort, '127.0.0.1')
  const connection = once(world.dataServer.server, 'connection')
  const path = `${UPLOADS}/${upload.id}/parts/3/k`
  const head = `Host: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${20 * MIB}`
  socket.write(`PUT ${path} HTTP/1.1\r\n${head}\r\n\r\n`)
  socket.write(partBytes(3, 9 * MIB))
  const [peer] = (await connection) as [net.Socket]
  await placed.promise
  socket.destroy()
  await once(peer, 'close')
  const served = (): boolean =>
    world.memory.lines.some(({ fields }) => 'finished' in fields && fields.finished === false)
  while (!served()) await new Promise((resolve) => setImmediate(resolve))
  t.equal(world.memory.proposals, before, 'and proposes nothing')
  t.strictSame(client.usage, usage)
  t.match((await client.ask('GET', `${upload.id}/parts/k`)).json, { parts: { length: 2 } })
})

t.test('the tenant quota holds for parts [multipart.part.quota]', async (t) => {
  const client = await MultipartClient.start(t)
  const { memory } = client.world
  const limits = { maxBytes: 10 * MIB, maxObjects: null, maxBuckets: null }
  await memory.services.propose({ type: 'setQuota', tenantId: 'acme', ...limits })
  const upload = { key: 'k', id: await client.begin('k') }
  await client.part(upload, 1, partBytes(1, 6 * MIB))
  const before = memory.proposals
  const over = { status: 507, code: 'quota_exceeded' }
  t.match(await client.put(upload, 2, partBytes(2, 4 * MIB + 1)), over)
  t.equal(memory.proposals, before, 'refused before a byte is read')
  const chunked = { 'transfer-encoding': 'chunked', 'content-length': undefined }
  t.match(await client.put(upload, 2, partBytes(2, 4 * MIB + 1), chunked), over, 'or in the commit')
  const parts = [
    await client.part(upload, 1, partBytes(3, 7 * MIB)),
    await client.part(upload, 2, partBytes(4, 3 * MIB)),
  ]
  t.match(await client.put(upload, 3, 'x'), over, 'full to the last byte')
  t.equal((await client.complete(upload, parts)).status, 200, 'bytes of parts are not counted a second time')
  t.match(client.usage, { logicalBytes: 10 * MIB, uploadBytes: 0 })
})

t.test('an upload that is not completed expires [multipart.expiry]', async (t) => {
  const client = await MultipartClient.start(t, { limits: { multipartExpiresAfterMs: 60_000 } })
  const { memory } = client.world
  const upload = { key: 'k', id: await client.begin('k') }
  const parts = [await client.part(upload, 1, 'x')]
  const expire = async (): Promise<void> => {
    const items = (
      await memory.services.state.page(objectRanges.expiries(Number.MAX_SAFE_INTEGER - 1), { limit: 10 })
    ).items
    await memory.services.propose({ type: 'expire', items: items.map(({ at, id }) => ({ at, id })) })
  }
  await expire()
  t.equal((await client.ask('GET', `${upload.id}/parts/k`)).status, 200, 'not before')
  memory.now += 61_000
  await expire()
  t.match(await client.complete(upload, parts), NOT_FOUND)
  t.match(client.usage, { uploads: 0, uploadBytes: 0 })
})
