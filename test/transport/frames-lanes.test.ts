/**
 * Connections of frames between real nodes: what shares one and what does not, what one turn writes, which version speaks what, and
 * when a connection is opened again.
 */
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { deferred, until } from '../helpers/async.ts'
import type { PeerClaims } from '../../cluster/transport/peer-identity.ts'
import { FrameSocket } from '../../cluster/transport/frame-socket.ts'
import type { PeerTransport } from '../../cluster/transport/peer-transport.ts'
import { type CallHandler, PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { TurnEnd } from '../../cluster/transport/turn-end.ts'
import { FRAME } from '../../cluster/transport/wire-frame.ts'
import { PeerBench } from './benches.ts'
import { strangeServer } from './raw-peer.ts'
import { bytesOf, RawFrames } from './raw-frames.ts'
import { collect, meteredStream, MIB, pattern, rejection, streamOf, untilStalled } from './streams.ts'
import { opensslVersion, TestAuthority } from './test-certificates.ts'

const VOTE = { type: 'TimeoutNow', from: 'a', to: 'b', term: 1 } as const
const HTTP = { speaks: 'http' } as const
const echo: CallHandler = async ({ header, body }) => ({ header, body })

/** Connections of node `a` to `b`, by lane. */
function lanesOf(transport: PeerTransport): Record<string, number> {
  const samples = transport.metrics().filter(({ name }) => name === 'holdfast_peer_connections')
  return Object.fromEntries(samples.map(({ labels, value }) => [labels?.['lane'] ?? '', value]))
}

t.test('short calls and messages share a connection, other calls have another', async (t) => {
  const bench = new PeerBench(t, { shortMethods: ['quick'] })
  const a = await bench.start('a')
  const b = await bench.start('b', { quick: echo, echo })
  await a.transport.call('b', 'quick', { header: 1 })
  a.transport.send(VOTE)
  await until('the message arrives', () => b.received.length === 1)
  t.match(lanesOf(a.transport), { short: 1, bulk: 0, http: 0 })
  await a.transport.call('b', 'echo', { header: 1 })
  t.match(lanesOf(a.transport), { short: 1, bulk: 1, http: 0 })
})

t.test('a connection whose numbers are used up gives way to a new one, and nothing is lost', async (t) => {
  const bench = new PeerBench(t, { shortMethods: ['quick'], limits: { numbersMax: 3 } })
  const a = await bench.start('a')
  const b = await bench.start('b', { quick: echo })
  const isClosed = (): boolean => lanesOf(a.transport)['short'] === 0
  for (let n = 0; n < 3; n++)
    t.equal((await a.transport.call('b', 'quick', { header: n })).header, n, 'the last one too')
  await until('the connection is closed', isClosed)
  for (let n = 1; n < 4; n++) {
    a.transport.send({ ...VOTE, term: n })
    await until('the message arrives', () => b.received.length === n)
  }
  await until('the next one is closed, behind the acknowledgement', isClosed)
  t.equal((await a.transport.call('b', 'quick', { header: 'more' })).header, 'more')
  t.strictSame(a.unreachable, [], 'nothing under way was given up')
})

t.test('bodies that are not read delay nothing else', async (t) => {
  const bench = new PeerBench(t, { shortMethods: ['quick'] })
  const a = await bench.start('a')
  const meters = Array.from({ length: 64 }, () => ({ sent: 0, ended: false }))
  const gate = deferred()
  const b = await bench.start('b', {
    quick: echo,
    echo,
    stuck: async ({ header }) => ({
      header: null,
      body: meteredStream(meters[header as number] ?? { sent: 0, ended: false }, Number.MAX_SAFE_INTEGER),
    }),
    held: async () => {
      await gate.promise
      return { header: null }
    },
  })
  const stuck = await Promise.all(meters.map((_, i) => a.transport.call('b', 'stuck', { header: i })))
  const endless = { sent: 0, ended: false }
  const held = a.transport.call('b', 'held', {
    header: null,
    body: meteredStream(endless, Number.MAX_SAFE_INTEGER),
    timeoutMs: 60_000,
  })
  for (const meter of [...meters, endless]) await untilStalled(meter, Number.MAX_SAFE_INTEGER)
  t.ok(
    meters.every(({ sent }) => sent <= 2 * MIB) && endless.sent <= 2 * MIB,
    'each sender has stopped at its credit',
  )
  a.transport.send(VOTE)
  const answers = await Promise.all(
    ['quick', 'echo'].map((method) =>
      a.transport.call('b', method, { header: 1, body: streamOf([pattern(MIB)]) }),
    ),
  )
  for (const { body } of answers) t.ok((await collect(body)).equals(pattern(MIB)))
  await until('the message arrives', () => b.received.length === 1)
  t.match(lanesOf(a.transport), { short: 1, bulk: 1, http: 0 })
  for (const { body } of stuck) await body[Symbol.asyncIterator]().return?.()
  gate.resolve()
  await held
  await until('every sender has ended', () => [...meters, endless].every(({ ended }) => ended))
})

t.test('what one turn says leaves in one write', async (t) => {
  const server = createServer()
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  const socket = connect({ host: '127.0.0.1', port: address.port })
  const raw = new RawFrames(await accepted)
  t.teardown(() => {
    socket.destroy()
    raw.socket.destroy()
    server.close()
  })
  const turn = new TurnEnd()
  const events = { onHead: () => {}, onFrame: () => {}, onBytes: () => {}, onClose: () => {} }
  let statuses = 0
  const frames = new FrameSocket({
    socket,
    turn,
    events: { ...events, leading: () => ({ type: FRAME.status, payload: [Buffer.of(++statuses)] }) },
  })
  let writes = 0
  const write = socket.write.bind(socket) as (bytes: Uint8Array) => boolean
  socket.write = ((bytes: Uint8Array) => {
    writes++
    return write(bytes)
  }) as typeof socket.write
  turn.make(() => frames.send({ type: FRAME.ping, stream: 3 }))
  for (const stream of [1, 2]) frames.send({ type: FRAME.ping, stream })
  await until('all arrive', () => raw.frames.length === 4)
  t.strictSame([writes, statuses], [1, 1])
  t.strictSame(
    raw.frames.map(({ type, stream }) => [type, stream]),
    [[FRAME.status, 0], ...[1, 2, 3].map((stream) => [FRAME.ping, stream])],
    'the status of the turn comes first',
  )
})

async function speaksWithOlder(t: Test, bench: PeerBench): Promise<void> {
  const a = await bench.run('a', bench.make('a'), { echo })
  const old = await bench.run('b', bench.make('b', HTTP), { echo })
  const roundTrip = async (): Promise<void> => {
    const { body } = await a.transport.call('b', 'echo', { header: 1, body: pattern(MIB) })
    t.equal((await collect(body)).length, MIB)
  }
  await roundTrip()
  a.transport.send(VOTE)
  await until('the message arrives', () => old.received.length === 1)
  old.transport.send({ ...VOTE, from: 'b', to: 'a' })
  await until('the message arrives', () => a.received.length === 1)
  t.equal((await collect((await old.transport.call('a', 'echo', { header: 1 })).body)).length, 0)
  t.match(lanesOf(a.transport), { short: 0, bulk: 0, http: 1 })
  const { address } = old.transport
  await old.transport.stop()
  const upgraded = await bench.run('b', bench.make('b', { listen: address }), { echo })
  await until('the node is asked over frames', async () => {
    await roundTrip().catch(() => {})
    return lanesOf(a.transport)['bulk'] === 1
  })
  a.transport.send(VOTE)
  await until('the message arrives', () => upgraded.received.length > 0)
  t.match(lanesOf(a.transport), { short: 1, bulk: 1, http: 0 })
}

t.test('a node of a version that knows only HTTP is asked over HTTP until it is upgraded', async (t) => {
  await t.test('over plain TCP', (t) => speaksWithOlder(t, new PeerBench(t)))
  const skip = opensslVersion() === null
  await t.test('over TLS', { skip }, (t) => {
    const authority = new TestAuthority(t, 'cluster')
    const tls = (name: string) => ({ tls: authority.issue({ commonName: name }) })
    return speaksWithOlder(t, new PeerBench(t, {}, { a: tls('a'), b: tls('b') }))
  })
})

t.test('each turn carries the status of the node, and another process says hello again', async (t) => {
  const seen: PeerClaims[] = []
  let status = {
    boot: 1,
    before: [1] as readonly number[],
    recoveryEpoch: 0,
    featureLevel: 3,
    stateLevel: 3,
    appliedIndex: 10,
    clock: { wall: 5, majority: null as number | null },
  }
  const judge = (claims: PeerClaims) => {
    seen.push(claims)
    return null
  }
  const bench = new PeerBench(
    t,
    { shortMethods: ['echo'] },
    { a: { peerStatus: () => status }, b: { judge } },
  )
  const a = await bench.start('a')
  await bench.start('b', { echo })
  const ask = () => a.transport.call('b', 'echo', { header: null })
  await ask()
  status = { ...status, appliedIndex: 11, clock: { wall: 6, majority: 4 } }
  await ask()
  t.match(seen.at(-2), { nodeId: 'a', incarnation: 'life-of-a', ...status })
  t.match(
    seen.at(-1),
    { appliedIndex: 11, clock: null },
    'and the call is judged without a clock that was counted already',
  )
  const hellos = () => seen.filter(({ boot }) => boot === 0).length
  status = { ...status, boot: 0 }
  await ask().catch(() => {})
  await until('the other claims are said', async () => {
    await ask().catch(() => {})
    return hellos() > 0
  })
})

t.test('a peer that says nothing any more is given up in bounded time', async (t) => {
  const bench = new PeerBench(t, {
    limits: { batchTimeoutMs: 90, callTimeoutMs: 10_000 },
    shortMethods: ['x'],
  })
  let hellos = 0
  const mute = await strangeServer(t, (socket) => {
    socket.once('data', () => {
      hellos++
      socket.write(bytesOf({ type: FRAME.welcome }))
    })
  })
  const a = await bench.start('a')
  bench.addresses.set('b', mute)
  const failed = await rejection(a.transport.call('b', 'x', { header: null }))
  t.ok(failed instanceof PeerUnreachableError)
  t.match(failed.message, /Nothing came from the peer for 90 ms/)
  a.transport.send(VOTE)
  await bench.until(() => a.unreachable.length >= 2)
  t.ok(hellos >= 2, 'the next connection is a new one')
})

t.test('many calls share a connection, more than it takes are refused', async (t) => {
  const bench = new PeerBench(t, { limits: { callsMax: 2000 } })
  const gate = deferred()
  const a = await bench.start('a')
  let running = 0
  await bench.start('b', {
    wait: async ({ header }) => {
      running++
      await gate.promise
      return { header }
    },
  })
  await a.transport.call('b', 'nothing', { header: null }).catch(() => {})
  const calls = Array.from({ length: 1024 }, (_, i) => a.transport.call('b', 'wait', { header: i }))
  t.match(await rejection(a.transport.call('b', 'wait', { header: null })), {
    name: 'PeerUnreachableError',
    message: /More than 1024 calls to b are waiting/,
  })
  await until('all run at a time', () => running === 1024)
  gate.resolve()
  t.strictSame(
    (await Promise.all(calls)).map(({ header }) => header),
    Array.from({ length: 1024 }, (_, i) => i),
  )
  t.equal(lanesOf(a.transport)['bulk'], 1)
})
