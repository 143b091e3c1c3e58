/**
 * The numbers of the contract, each at its edge: the last accepted and the first refused value. [decisions 7]
 */
import { once } from 'node:events'
import net from 'node:net'
import t from 'tap'
import { SETTINGS } from '../../src/config/settings.ts'
import { ApiWorld } from './api-world.ts'
import { MIB, MultipartClient, PART_MIN, partBytes } from './multipart-client.ts'

const GIB = 1024 * MIB
const fallbackOf = (name: string): unknown => SETTINGS.find((setting) => setting.name === name)?.fallback

/** The answer of the server to a body of this length before it arrives. */
async function announce(world: ApiWorld, token: string, about: { path: string; length: number }) {
  const socket = net.connect(world.dataPort, '127.0.0.1')
  socket.write(
    `PUT ${about.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Length: ${about.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return answer.toString()
}

t.test('5 GiB in one upload [limits.put]', async (t) => {
  t.equal(fallbackOf('limits.object_put_bytes'), '5GiB')
  const { world, token } = await ApiWorld.withBucket(t, { limits: { objectPutBytesMax: 5 * GIB } })
  const path = '/api/v1/buckets/photos/objects/k'
  t.match(await announce(world, token, { path, length: 5 * GIB }), /^HTTP\/1\.1 100 /)
  t.match(await announce(world, token, { path, length: 5 * GIB + 1 }), /^HTTP\/1\.1 413 [^]*entity_too_large/)
})

t.test('5 GiB in one part, for any limit of an upload [limits.part-max]', async (t) => {
  const client = await MultipartClient.start(t)
  const { world, token } = client
  const path = `/api/v1/buckets/photos/multipart/${await client.begin('k')}/parts/1/k`
  t.match(await announce(world, token, { path, length: 5 * GIB }), /^HTTP\/1\.1 100 /)
  t.match(await announce(world, token, { path, length: 5 * GIB + 1 }), /^HTTP\/1\.1 413 [^]*entity_too_large/)
})

t.test(
  'entity_too_small: 5 MiB in every part but the last [limits.part-min] [multipart.complete.small] [errors.entity_too_small]',
  async (t) => {
    const client = await MultipartClient.start(t)
    const upload = { key: 'k', id: await client.begin('k') }
    const last = await client.part(upload, 2, 'x')
    const short = await client.part(upload, 1, partBytes(1, PART_MIN - 1))
    t.match(await client.complete(upload, [short, last]), { status: 400, code: 'entity_too_small' })
    const whole = await client.part(upload, 1, partBytes(1, PART_MIN))
    t.match(await client.complete(upload, [whole, last]), { status: 200, json: { size: PART_MIN + 1 } })
  },
)

t.test('1000 parts and 1000 uploads a page [limits.max-parts] [limits.max-uploads]', async (t) => {
  const client = await MultipartClient.start(t)
  const id = await client.begin('k')
  for (const [asked, given] of [
    ['', 1000],
    ['1000', 1000],
    ['1001', 1000],
    ['999', 999],
    ['0', 1],
  ] as const) {
    const parts = asked === '' ? '' : `?maxParts=${asked}`
    t.equal((await client.ask('GET', `${id}/parts/k${parts}`)).json['maxParts'], given)
    const uploads = asked === '' ? '' : `?maxUploads=${asked}`
    t.equal((await client.ask('GET', uploads)).json['maxUploads'], given)
  }
})

t.test('16 KiB of headers [limits.headers]', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const ask = (length: number) =>
    world.raw(
      `GET /api/v1/buckets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\nX: ${'x'.repeat(length)}\r\n\r\n`,
    )
  t.match(await ask(15 * 1024), /^HTTP\/1\.1 200 /)
  t.match(await ask(16 * 1024), /^HTTP\/1\.1 400 /)
})

t.test('1 MiB of JSON [limits.json]', async (t) => {
  const { world, token } = await ApiWorld.withBucket(t)
  const create = (length: number) =>
    world.call({
      method: 'POST',
      path: '/api/v1/buckets',
      token,
      body: '{"name":"films"}'.padEnd(length, ' '),
      headers: { 'content-type': 'application/json' },
    })
  t.match(await create(MIB + 1), { status: 413, code: 'entity_too_large' })
  t.equal((await create(MIB)).status, 201)
})

t.test('1000 buckets a tenant unless configured [limits.buckets]', async (t) => {
  t.equal(fallbackOf('limits.buckets_per_tenant'), '1000')
  const { world, token } = await ApiWorld.withBucket(t, { limits: { bucketsPerTenantMax: 2 } })
  const create = (name: string) =>
    world.call({ method: 'POST', path: '/api/v1/buckets', token, body: { name } })
  t.equal((await create('second')).status, 201)
  t.match(await create('third'), { status: 400, code: 'invalid_request' })
})
