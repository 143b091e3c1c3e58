/**
 * GET /events: a stream of what has changed, over real sockets; where it continues, when it ends, how many there may be.
 */
import { connect } from 'node:net'
import t from 'tap'
import Type from 'typebox'
import { HoldfastAdmin, type ServerEvent } from '../../packages/client/src/admin.ts'
import { dataPlane } from '../../src/api/native/routes.ts'
import { createHttpServer } from '../../src/api/http-server.ts'
import { NO_METER } from '../../src/api/request-log.ts'
import { openRoute } from '../../src/api/route.ts'
import { openOperation } from '../../src/operations/base/operation.ts'
import { WAITING_MAX } from '../../src/operations/changes/watch.ts'
import { collected, until } from '../helpers/async.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { ApiWorld } from './api-world.ts'

const EVENTS = '/admin/api/v1/events'
const REASON = { reason: 'Test' }
const TARGET = { name: 'nas', place: { kind: 'directory', folder: 'weekly' }, markerId: 'm1' } as const

type Events = AsyncGenerator<ServerEvent, void, undefined>

async function start(t: Parameters<typeof ApiWorld.start>[0]) {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('owner')
  const clientOf = (own: string) =>
    new HoldfastAdmin({
      endpoints: `http://127.0.0.1:${world.adminPort}`,
      token: own,
      repeat: { attemptsMax: 1 },
    })
  return { world, token, clientOf, client: clientOf(token) }
}

async function next(events: Events): Promise<ServerEvent> {
  const { value } = await events.next()
  if (value === undefined) throw new Error('the stream has ended')
  return value
}

const changed = ({ data }: ServerEvent): unknown =>
  (JSON.parse(data) as { readonly changed: unknown }).changed

t.test('events', async (t) => {
  const { world, token, client } = await start(t)

  await t.test(
    'the first names what differs from the cursor, and each change comes [membership.events]',
    async (t) => {
      const events = await client.getEvents()
      const first = await next(events)
      t.match(first, { event: 'change', id: /^[\w-]{16}\.[\w-]{16}\.[\w-]{16}$/ })
      t.same(changed(first), ['membership', 'operations', 'backups'])
      await client.scrub(REASON)
      t.same(changed(await next(events)), ['operations'])
      await world.memory.services.propose({ type: 'setBackupTarget', ...TARGET })
      const last = await next(events)
      t.same(changed(last), ['backups'])
      await events.return()
      const again = await client.getEvents({ since: first.id })
      t.same(changed(await next(again)), ['operations', 'backups'])
      await again.return()
      t.match(await client.getChanges({ since: last.id }), { cursor: last.id, changed: [] })
    },
  )

  await t.test(
    'the header of a browser counts before the parameter; nothing new is a comment [membership.events]',
    async (t) => {
      const { cursor } = await client.getChanges()
      const path = `${EVENTS}?since=none&wait=1ms`
      const answer = await world.call({ admin: true, token, path, headers: { 'last-event-id': cursor } })
      t.match(answer, {
        status: 200,
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
        },
      })
      t.equal(answer.bytes.toString(), 'retry: 3000\n:\n\n')
      t.equal(answer.headers['content-length'], undefined)
      const head = await world.call({ admin: true, token, path: EVENTS, method: 'HEAD' })
      t.match([head.status, head.headers['content-type'], head.bytes.length], [200, 'text/event-stream', 0])
    },
  )

  await t.test('64 streams and waiting requests; slow_down beyond [membership.events.bound]', async (t) => {
    const { cursor } = await client.getChanges()
    const waiting = client.getChanges({ since: cursor, wait: '60s' })
    const open: Events[] = []
    for (let n = 0; n < WAITING_MAX - 1; n++) {
      const events = await client.getEvents()
      await next(events)
      open.push(events)
    }
    const ask = () => world.call({ admin: true, token, path: `${EVENTS}?wait=1ms` })
    t.match(await ask(), { status: 503, code: 'slow_down', headers: { 'retry-after': '5' } })
    await client.scrub(REASON)
    t.same((await waiting).changed, ['operations'])
    await Promise.all(open.map((events) => events.return()))
    await until('places are free', async () => (await ask()).status === 200)
  })

  await t.test('a node that stops ends them, whole [membership.events.ends]', async (t) => {
    const events = await client.getEvents()
    await next(events)
    world.memory.stopping.abort()
    t.same(await collected(events), [])
  })

  await t.test('invalid_argument, access_denied', async (t) => {
    t.match(await world.call({ admin: true, token, path: `${EVENTS}?wait=1h` }), {
      status: 400,
      code: 'invalid_argument',
    })
    const viewer = await world.memory.adminToken('viewer')
    t.match(await world.call({ admin: true, token: viewer, path: EVENTS }), {
      status: 403,
      code: 'access_denied',
    })
  })
})

t.test('a stream ends with its token, and with its time [membership.events.ends]', async (t) => {
  const { world, clientOf, client } = await start(t)
  const { services } = world.memory
  const other = await world.memory.adminToken('owner')
  const { tokenId } = services.access.openAdmin(`Bearer ${other}`)({
    address: '127.0.0.1',
    isSecure: false,
    isSheltered: true,
    certificate: null,
  })
  const ended = await clientOf(other).getEvents()
  const kept = await client.getEvents()
  await Promise.all([next(ended), next(kept)])
  await services.propose({ type: 'revokeAdminToken', tokenId })
  t.same(await collected(ended), [], 'revoked')
  await client.scrub(REASON)
  t.same(changed(await next(kept)), ['operations'], 'another token is not concerned')
  await kept.return()
  t.equal((await collected(await client.getEvents({ wait: '1ms' }))).length, 1, 'its time is over')
})

t.test(
  'what a client does not read is not made, and its stream ends [membership.events.bound]',
  async (t) => {
    const { services } = await MemoryServices.start(t)
    let made = 0
    let isOver = false
    async function* pieces(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(++made === 0 ? 0 : 65_536)
      } finally {
        isOver = true
      }
    }
    const operation = openOperation({ id: 'healthz', refuses: [] }, async () => null)
    const facts = {
      method: 'GET',
      path: '/endless',
      auth: 'none',
      summary: 'Without an end',
      success: { status: 200, description: 'Bytes', content: { type: 'text/plain', schema: Type.String() } },
      example: {},
    } as const
    const route = openRoute(operation, facts, async () => ({
      kind: 'stream',
      contentType: 'text/plain',
      pieces: pieces(),
    }))
    const server = createHttpServer(services, { ...dataPlane, routes: [route] }, NO_METER)
    const { port } = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
    const socket = connect(Number(port), '127.0.0.1')
    t.teardown(async () => {
      socket.destroy()
      await server.close()
    })
    socket.pause()
    socket.write('GET /api/v1/endless HTTP/1.1\r\nhost: n1\r\n\r\n')
    await until('the stream is ended', () => isOver)
    t.ok(made > 1)
    t.ok(made * 65_536 < 64 * 1024 * 1024, `${made} pieces`)
  },
)
