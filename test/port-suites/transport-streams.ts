/**
 * What every Transport must do with streams: pass them with bounded memory, and never take an interruption for the end.
 */
import type { Test } from 'tap'
import { deferred } from '../helpers/async.ts'
import { type CallHandler, PeerUnreachableError } from '../../cluster/transport/transport.ts'
import {
  breakingStream,
  collect,
  drain,
  lengthOf,
  MIB,
  meteredStream,
  rejection,
  untilStalled,
} from '../transport/streams.ts'
import type { MakeBench } from './transport.ts'

export async function streamContract(t: Test, makeBench: MakeBench): Promise<void> {
  const TOTAL = 64 * MIB
  /** What two sockets, their kernel buffers and the stream buffers in both directions may hold together. */
  const UNDER_WAY_MAX = 32 * MIB
  const bench = await makeBench(t)
  const gate = deferred()
  const source = { sent: 0, ended: false }
  const a = await bench.start('a')
  await bench.start('b', {
    echo: async ({ body }) => ({ header: null, body }),
    later: async ({ body }) => {
      await gate.promise
      return { header: await lengthOf(body) }
    },
    flood: async () => ({ header: null, body: meteredStream(source, TOTAL) }),
    ignore: async () => ({ header: 'seen enough' }),
  })

  t.test('pass 64 MiB in both directions while only a bounded part is in flight', async (t) => {
    const meter = { sent: 0, ended: false }
    const { body } = await bench.settle(
      a.transport.call('b', 'echo', { header: null, body: meteredStream(meter, TOTAL), timeoutMs: 60_000 }),
    )
    let arrived = 0
    let underWay = 0
    const reading = async () => {
      for await (const chunk of body) {
        arrived += chunk.length
        underWay = Math.max(underWay, meter.sent - arrived)
      }
    }
    await bench.settle(reading())
    t.equal(arrived, TOTAL)
    t.ok(underWay < UNDER_WAY_MAX, `${underWay} bytes were in flight at most`)
    t.ok(meter.ended)
  })

  t.test('pause the sender of a request while the receiver does not read', async (t) => {
    const meter = { sent: 0, ended: false }
    const pending = a.transport.call('b', 'later', {
      header: null,
      body: meteredStream(meter, TOTAL),
      timeoutMs: 60_000,
    })
    await untilStalled(meter, TOTAL)
    t.ok(meter.sent < UNDER_WAY_MAX, `${meter.sent} bytes were taken`)
    gate.resolve()
    t.equal((await bench.settle(pending)).header, TOTAL)
  })

  t.test(
    'pause the sender of an answer while the receiver does not read, and end it when the reader leaves',
    async (t) => {
      const { body } = await bench.settle(a.transport.call('b', 'flood', { header: null }))
      const reader = body[Symbol.asyncIterator]()
      await reader.next()
      await untilStalled(source, TOTAL)
      t.ok(source.sent < UNDER_WAY_MAX, `${source.sent} bytes were taken`)
      await reader.return?.()
      await bench.until(() => source.ended)
      t.ok(source.sent < TOTAL)
    },
  )

  t.test('end the sender of a request whose handler answers without reading it', async (t) => {
    const meter = { sent: 0, ended: false }
    const endless = meteredStream(meter, Number.MAX_SAFE_INTEGER)
    const { header, body } = await bench.settle(
      a.transport.call('b', 'ignore', { header: null, body: endless }),
    )
    t.equal(header, 'seen enough')
    t.equal((await bench.settle(collect(body))).length, 0)
    await bench.until(() => meter.ended)
  })
}

export async function brokenStreamContract(t: Test, makeBench: MakeBench): Promise<void> {
  const bench = await makeBench(t)
  const seen: { bytes: number; error: unknown }[] = []
  const read: CallHandler = async ({ body }) => {
    const outcome: { bytes: number; error: unknown } = { bytes: 0, error: null }
    try {
      for await (const chunk of body) outcome.bytes += chunk.length
    } catch (err) {
      outcome.error = err
    }
    seen.push(outcome)
    return { header: outcome.bytes }
  }
  const late = { ended: false }
  const a = await bench.start('a')
  await bench.start('b', {
    read,
    late: async (call) => {
      // Until the caller has left; then there is an answer.
      await read(call)
      return { header: null, body: unreadStream(late) }
    },
    break: async () => ({ header: 'started', body: breakingStream(2) }),
    endless: async () => ({
      header: null,
      body: meteredStream({ sent: 0, ended: false }, Number.MAX_SAFE_INTEGER),
    }),
  })

  t.test('are an error for the handler and the caller when the source of the request breaks', async (t) => {
    seen.length = 0
    const failed = await rejection(
      bench.settle(a.transport.call('b', 'read', { header: null, body: breakingStream(2) })),
    )
    t.ok(failed instanceof PeerUnreachableError)
    await bench.until(() => seen.length > 0)
    t.ok(
      seen[0]?.error instanceof PeerUnreachableError,
      'the handler must not take it for the end of the stream',
    )
  })

  t.test('are an error for the reader when the source of the answer breaks', async (t) => {
    const { header, body } = await bench.settle(a.transport.call('b', 'break', { header: null }))
    t.equal(header, 'started')
    const failed = await rejection(bench.settle(collect(body)))
    t.ok(failed instanceof PeerUnreachableError)
    t.match(failed, { peer: 'b' })
  })

  t.test('end the answer of a handler whose caller left before it, though no reader is left', async (t) => {
    const abort = new AbortController()
    const meter = { sent: 0, ended: false }
    const body = meteredStream(meter, Number.MAX_SAFE_INTEGER)
    const failed = rejection(a.transport.call('b', 'late', { header: null, body, signal: abort.signal }))
    await bench.until(() => meter.sent > MIB)
    abort.abort()
    await bench.settle(failed)
    await bench.until(() => late.ended)
    t.ok(late.ended, 'the resources of the stream are released')
  })

  t.test('are an error for the handler when the caller gives up', async (t) => {
    seen.length = 0
    const abort = new AbortController()
    const meter = { sent: 0, ended: false }
    const body = meteredStream(meter, Number.MAX_SAFE_INTEGER)
    const pending = a.transport.call('b', 'read', { header: null, body, signal: abort.signal })
    const failed = rejection(pending)
    await bench.until(() => meter.sent > MIB)
    abort.abort()
    t.ok((await bench.settle(failed)) instanceof PeerUnreachableError)
    await bench.until(() => seen.length > 0 && meter.ended)
    t.ok(seen[0]?.error instanceof PeerUnreachableError)
  })

  t.test('are an error for the reader when the signal is aborted after the header', async (t) => {
    const abort = new AbortController()
    const { body } = await bench.settle(
      a.transport.call('b', 'endless', { header: null, signal: abort.signal }),
    )
    const reader = body[Symbol.asyncIterator]()
    await reader.next()
    abort.abort()
    t.ok((await rejection(bench.settle(drain(reader)))) instanceof PeerUnreachableError)
  })
}

/** A stream that holds a resource from its creation, like an open file, and releases it in `return`. */
function unreadStream(state: { ended: boolean }): AsyncIterable<Uint8Array> {
  const iterator = {
    next: () => Promise.resolve({ done: false, value: new Uint8Array(1) } as const),
    return: () => {
      state.ended = true
      return Promise.resolve({ done: true, value: undefined } as const)
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
