/**
 * What every Transport must do. An adapter and a bench that starts its nodes are passed to this suite.
 */
import type { Test } from 'tap'
import { deferred } from '../helpers/async.ts'
import type { Message, NodeId } from '../../cluster/raft/types.ts'
import {
  type CallHandler,
  type CallResponse,
  PeerRefusedError,
  PeerUnreachableError,
  type Transport,
} from '../../cluster/transport/transport.ts'
import { brokenStreamContract, streamContract } from './transport-streams.ts'
import { everyMessage, plain } from '../transport/sample-messages.ts'
import { collect, meteredStream, pattern, rejection, streamOf } from '../transport/streams.ts'

export interface BenchNode {
  readonly transport: Transport
  readonly received: Message[]
  readonly unreachable: NodeId[]
  /** `<peer> <code>` */
  readonly refused: string[]
}

export interface TransportBench {
  /** Starts a node under this name, reachable for all others. A name can be started again after its stop. */
  start(nodeId: 'a' | 'b', handlers?: Readonly<Record<string, CallHandler>>): Promise<BenchNode>
  /** Lets time pass until the promise has settled. */
  settle<T>(promise: Promise<T>): Promise<T>
  /** Lets time pass until the condition holds. */
  until(condition: () => boolean): Promise<void>
}

export type MakeBench = (t: Test) => Promise<TransportBench>

export function transportContract(t: Test, makeBench: MakeBench): void {
  t.test('messages', (t) => messageContract(t, makeBench))
  t.test('calls', (t) => callContract(t, makeBench))
  t.test('refusals', (t) => refusalContract(t, makeBench))
  t.test('streams', (t) => streamContract(t, makeBench))
  t.test('broken streams', (t) => brokenStreamContract(t, makeBench))
  t.test('stop', (t) => stopContract(t, makeBench))
}

async function messageContract(t: Test, makeBench: MakeBench): Promise<void> {
  const bench = await makeBench(t)
  const a = await bench.start('a')
  const b = await bench.start('b')

  t.test('arrive unchanged and in order, for every type', async (t) => {
    const sent = [...everyMessage({ from: 'a', to: 'b' }), ...everyMessage({ from: 'a', to: 'b' }).reverse()]
    for (const message of sent) a.transport.send(message)
    await bench.until(() => b.received.length >= sent.length)
    t.strictSame(plain(b.received), plain(sent))
  })

  t.test('arrive in order by the thousand', async (t) => {
    b.received.length = 0
    for (let term = 1; term <= 3000; term++)
      a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term })
    await bench.until(() => b.received.length >= 3000)
    t.strictSame(
      b.received.map(({ term }) => term),
      Array.from({ length: 3000 }, (_, i) => i + 1),
    )
  })

  t.test('share no bytes with the sender', async (t) => {
    b.received.length = 0
    const data = Uint8Array.of(1, 2, 3)
    const entries = [{ index: 1, term: 1, kind: 'command', data }] as const
    a.transport.send({
      type: 'AppendEntries',
      from: 'a',
      to: 'b',
      term: 1,
      prevLogIndex: 0,
      prevLogTerm: 0,
      leaderCommit: 0,
      readToken: 0,
      entries,
    })
    await bench.until(() => b.received.length === 1)
    const [arrived] = b.received
    if (arrived?.type !== 'AppendEntries') throw new Error('another message arrived')
    arrived.entries[0]?.data.fill(9)
    t.strictSame([...data], [1, 2, 3])
  })

  t.test('are dropped and reported while the peer is down, and arrive once it is back', async (t) => {
    await bench.settle(b.transport.stop())
    a.unreachable.length = 0
    a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
    await bench.until(() => a.unreachable.includes('b'))
    const again = await bench.start('b')
    await bench.until(() => {
      a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 2 })
      return again.received.length > 0
    })
    t.ok(
      again.received.every(({ term }) => term === 2),
      'no earlier message arrives late',
    )
  })
}

async function callContract(t: Test, makeBench: MakeBench): Promise<void> {
  const bench = await makeBench(t)
  const echo: CallHandler = async ({ from, header, body }) => ({ header: { from, header }, body })
  const scribble: CallHandler = async ({ body }) => {
    for await (const chunk of body) chunk.fill(0)
    return { header: null }
  }
  const a = await bench.start('a', {
    scribble,
    echo,
    meddle: async ({ header }) => {
      Object.assign(header as object, { meddled: true })
      return { header }
    },
  })
  await bench.start('b', {
    echo,
    scribble,
    none: async () => ({ header: null }),
    parts: async () => ({ header: 1, body: pattern(200_000) }),
  })
  const call = (to: NodeId, method: string, request: Parameters<Transport['call']>[2]) =>
    bench.settle(a.transport.call(to, method, request))

  for (const to of ['b', 'a'] as const) {
    t.test(`carry header and body both ways in every form, from a to ${to}`, async (t) => {
      const header = { list: [1, 'two', null, true], bytes: Uint8Array.of(1, 2) }
      const big = pattern(3_000_000)
      const forms = [
        [undefined, 0],
        [new Uint8Array(0), 0],
        [pattern(10), 10],
        [big, big.length],
        [[], 0],
        [[big.subarray(0, 5), new Uint8Array(0), big.subarray(5)], big.length],
        [streamOf([]), 0],
        [
          streamOf([big.subarray(0, 1), new Uint8Array(0), big.subarray(1, 70_000), big.subarray(70_000)]),
          big.length,
        ],
      ] as const
      for (const [body, length] of forms) {
        const answer = await call(to, 'echo', body === undefined ? { header } : { header, body })
        t.match(answer.header, { from: 'a', header: { list: header.list, bytes: Buffer.from([1, 2]) } })
        t.ok((await bench.settle(collect(answer.body))).equals(big.subarray(0, length)), `${length} bytes`)
      }
    })
  }

  t.test('work without a header, without a body, and side by side', async (t) => {
    const answer = await call('b', 'none', { header: undefined })
    t.equal(answer.header, null)
    t.equal((await bench.settle(collect(answer.body))).length, 0)
    const many = await bench.settle(
      Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          a.transport.call('b', 'echo', { header: i, body: pattern(i * 100) }),
        ),
      ),
    )
    for (const [i, { header, body }] of many.entries()) {
      t.match(header, { header: i })
      t.equal((await bench.settle(collect(body))).length, i * 100)
    }
    t.equal((await bench.settle(collect((await call('b', 'parts', { header: 0 })).body))).length, 200_000)
  })

  t.test('share no bytes of a body between the nodes', async (t) => {
    const mine = pattern(1000)
    for (const to of ['a', 'b'] as const) {
      await call(to, 'scribble', { header: null, body: mine })
      await call(to, 'scribble', { header: null, body: [mine, mine] })
    }
    await call('b', 'scribble', { header: null, body: streamOf([mine]) })
    t.ok(mine.equals(pattern(1000)))
  })

  t.test('hand a copy of the header to the handler when a node calls itself', async (t) => {
    const header = { mine: true }
    t.strictSame((await call('a', 'meddle', { header })).header, { mine: true, meddled: true })
    t.strictSame(header, { mine: true })
  })

  t.test('are refused for a header that is too large or no plain data', async (t) => {
    for (const to of ['a', 'b'] as const) {
      await t.rejects(call(to, 'echo', { header: 'x'.repeat(70_000) }), RangeError)
      await t.rejects(call(to, 'echo', { header: new Date() }), TypeError)
    }
  })
}

async function refusalContract(t: Test, makeBench: MakeBench): Promise<void> {
  const bench = await makeBench(t)
  const handlers: Record<string, CallHandler> = {
    refuse: async () => {
      throw new PeerRefusedError('not_leader', 'Node c leads')
    },
    fail: async () => {
      throw new TypeError('an inner matter')
    },
    hang: () => new Promise(() => {}),
  }
  const a = await bench.start('a', handlers)
  await bench.start('b', handlers)

  for (const to of ['b', 'a'] as const) {
    t.test(`cross with code and message, from ${to} to a`, async (t) => {
      const call = (method: string) =>
        bench.settle(a.transport.call(to, method, { header: null, body: pattern(200_000) }))
      const refused = await rejection(call('refuse'))
      t.ok(refused instanceof PeerRefusedError)
      t.match(refused, { code: 'not_leader', message: 'Node c leads' })
      t.match(await rejection(call('no-handler')), {
        name: 'PeerRefusedError',
        code: 'unknown_method',
      })
      const internal = await rejection(call('fail'))
      t.match(internal, { name: 'PeerRefusedError', code: 'internal' })
      t.notMatch(internal.message, 'an inner matter', 'the internal error stays in the log of the node')
    })

    t.test(`distinguish an answer that does not arrive in time from a refusal, at ${to}`, async (t) => {
      const late = await rejection(
        bench.settle(a.transport.call(to, 'hang', { header: null, timeoutMs: 20 })),
      )
      t.ok(late instanceof PeerUnreachableError)
      t.match(late, { peer: to })
    })

    t.test(`end a call whose signal is aborted, at ${to}`, async (t) => {
      const abort = new AbortController()
      const pending = a.transport.call(to, 'hang', { header: null, signal: abort.signal })
      abort.abort(new Error('no longer wanted'))
      t.ok((await rejection(bench.settle(pending))) instanceof PeerUnreachableError)
      const dead = a.transport.call(to, 'refuse', { header: null, signal: abort.signal })
      t.ok((await rejection(bench.settle(dead))) instanceof PeerUnreachableError)
    })
  }

  t.test('fail as unreachable for peers that do not run or do not exist', async (t) => {
    const b = await makeBench(t)
    const lone = await b.start('a')
    for (const to of ['b', 'unknown']) {
      const failed = await rejection(b.settle(lone.transport.call(to, 'refuse', { header: null })))
      t.ok(failed instanceof PeerUnreachableError)
      t.match(failed, { peer: to })
    }
  })
}

async function stopContract(t: Test, makeBench: MakeBench): Promise<void> {
  const bench = await makeBench(t)
  const a = await bench.start('a')
  const running = deferred()
  const b = await bench.start('b', {
    hang: () => {
      running.resolve()
      return new Promise(() => {})
    },
    flood: async () => ({
      header: null,
      body: meteredStream({ sent: 0, ended: false }, Number.MAX_SAFE_INTEGER),
    }),
  })

  t.test('ends calls and streams of both sides in bounded time, however often it is asked', async (t) => {
    const flood: CallResponse = await bench.settle(a.transport.call('b', 'flood', { header: null }))
    const pending = rejection(a.transport.call('b', 'hang', { header: null, timeoutMs: 60_000 }))
    await bench.settle(running.promise)
    await bench.settle(Promise.all([b.transport.stop(), b.transport.stop()]))
    t.ok((await bench.settle(pending)) instanceof PeerUnreachableError)
    t.ok((await rejection(bench.settle(collect(flood.body)))) instanceof PeerUnreachableError)
  })

  t.test('refuses calls and forgets messages afterwards', async (t) => {
    await bench.settle(a.transport.stop())
    a.transport.send({ type: 'TimeoutNow', from: 'a', to: 'b', term: 1 })
    for (const to of ['a', 'b']) {
      t.ok(
        (await rejection(bench.settle(a.transport.call(to, 'hang', { header: null })))) instanceof
          PeerUnreachableError,
      )
    }
  })
}
