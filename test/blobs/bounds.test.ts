/**
 * The bounds that keep memory and waits finite: slots, the circuit breaker, streams that stall.
 */
import t from 'tap'
import type { Clock } from '../../cluster/base/clock.ts'
import { limitStalls, primed } from '../../cluster/blobs/base/bounded-stream.ts'
import { PeerHealth } from '../../cluster/blobs/peers/peer-health.ts'
import { Slots } from '../../cluster/blobs/peers/slots.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { collect, streamOf } from './blob-samples.ts'

t.test('Slots', async (t) => {
  const makeSlots = (clock: VirtualClock) =>
    new Slots({ refusal: 'Cannot work', count: 2, waitersMax: 2, waitMs: 1000, clock })

  t.test('admits up to its count, then waiters in order, and refuses when too many wait', async (t) => {
    const clock = new VirtualClock()
    const slots = makeSlots(clock)
    const entered: number[] = []
    const [first, second] = [await slots.acquire(), await slots.acquire()]
    const waiting = [1, 2].map((n) => slots.acquire().then((release) => (entered.push(n), release)))
    await t.rejects(slots.acquire(), { name: 'Condition', code: 'slow_down' })
    first()
    first()
    await clock.settle()
    t.strictSame(entered, [1], 'releasing twice admits one waiter')
    second()
    for (const release of await Promise.all(waiting)) release()
    t.strictSame(entered, [1, 2])
    t.equal(slots.used, 0)
    t.equal(clock.pending, 0)
  })

  t.test('refuses a waiter after its time limit, and frees its place in the queue', async (t) => {
    const clock = new VirtualClock()
    const slots = makeSlots(clock)
    const first = await slots.acquire()
    await slots.acquire()
    const late = t.rejects(slots.acquire(), { code: 'slow_down' })
    await clock.advance(1000)
    await late
    first()
    t.equal(slots.used, 1)
  })
})

t.test('PeerHealth', async (t) => {
  const clock = new VirtualClock()
  const health = new PeerHealth({ clock, coolDownMs: 500, coolDownMaxMs: 2000 })

  t.test('does not call a peer for longer after every failure, up to the maximum', async (t) => {
    t.ok(health.mayTry('b'))
    for (const expected of [500, 1000, 2000, 2000]) {
      health.failed('b')
      await clock.advance(expected - 1)
      t.notOk(health.mayTry('b'), `${expected} ms are not over`)
      await clock.advance(1)
      t.ok(health.mayTry('b'))
    }
  })

  t.test('lets one caller try after the cool-down while the others wait for its outcome', async (t) => {
    t.notOk(health.mayTry('b'), 'the caller above is still trying')
    t.notOk(health.isHealthy('b'))
    health.succeeded('b')
    t.ok(health.mayTry('b'))
    t.ok(health.mayTry('b'))
    t.ok(health.isHealthy('b'))
  })
})

t.test('limitStalls', async (t) => {
  t.test('passes bytes on and does not count the time of a slow consumer', async (t) => {
    const clock = new VirtualClock()
    const limit = { clock, stallMs: 100, onStall: () => new Error('silent') }
    let pieces = 0
    for await (const piece of limitStalls(streamOf(Uint8Array.of(1), Uint8Array.of(2)), limit)) {
      pieces += piece.length
      await clock.advance(500)
    }
    t.equal(pieces, 2)
    t.equal(clock.pending, 0)
  })

  t.test('abandons a stalled source although it never answers', async (t) => {
    const clock = new VirtualClock()
    const silent = async function* () {
      yield Uint8Array.of(1)
      await new Promise(() => undefined)
    }
    const reading = t.rejects(
      collect(limitStalls(silent(), { clock, stallMs: 100, onStall: () => new Error('silent') })),
      { message: 'silent' },
    )
    await clock.advance(100)
    await reading
  })

  t.test('counts the wait for each piece by itself, with few timers for many pieces', async (t) => {
    const clock = new VirtualClock()
    let timers = 0
    const counting: Clock = {
      now: () => clock.now(),
      wallTime: () => clock.wallTime(),
      after: (ms, callback) => (timers++, clock.after(ms, callback)),
    }
    const waits = [60, 99, 60, 101]
    const slow = async function* () {
      for (const ms of waits) {
        for (let piece = 0; piece < 100; piece++) yield Uint8Array.of(1)
        await new Promise<void>((resolve) => clock.after(ms, resolve))
      }
      yield Uint8Array.of(2)
    }
    let pieces = 0
    const reading = t.rejects(
      (async () => {
        const limit = { clock: counting, stallMs: 100, onStall: () => new Error('silent') }
        for await (const piece of limitStalls(slow(), limit)) pieces += piece.length
      })(),
      { message: 'silent' },
    )
    await clock.advance(1_000)
    await reading
    t.equal(pieces, 400, 'only the last wait was longer than the limit')
    t.ok(timers < 12, `${timers} timers`)
    t.equal(clock.pending, 0)
  })

  t.test('closes its source when the consumer stops', async (t) => {
    const clock = new VirtualClock()
    let closed = false
    const source = async function* () {
      try {
        for (;;) yield Uint8Array.of(1)
      } finally {
        await clock.settle()
        closed = true
      }
    }
    for await (const piece of limitStalls(source(), {
      clock,
      stallMs: 100,
      onStall: () => new Error('silent'),
    })) {
      t.equal(piece.length, 1)
      break
    }
    t.ok(closed)
  })
})

t.test('primed', async (t) => {
  t.test('rejects when the source cannot start, and reports the end once in every case', async (t) => {
    let ends = 0
    const onEnd = () => {
      ends++
    }
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      if (ends === 0) throw new Error('no such blob')
      yield Uint8Array.of(1)
    }
    await t.rejects(primed(broken(), onEnd), { message: 'no such blob' })
    t.equal(ends, 1)
    t.strictSame(
      await collect(await primed(streamOf(Uint8Array.of(1), Uint8Array.of(2)), onEnd)),
      Uint8Array.of(1, 2),
    )
    t.equal(ends, 2)
    const unread = await primed(streamOf(Uint8Array.of(1)), onEnd)
    await unread[Symbol.asyncIterator]().return?.()
    t.equal(ends, 3)
  })
})
