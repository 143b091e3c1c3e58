/**
 * The bounds that keep memory and waits finite: slots, the circuit breaker, streams that go silent.
 */
import t from 'tap'
import { limitStalls, primed } from '../../cluster/blobs/base/bounded-stream.ts'
import { PeerHealth } from '../../cluster/blobs/peers/peer-health.ts'
import { Slots } from '../../cluster/blobs/peers/slots.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { collect, streamOf } from './blob-samples.ts'

t.test('Slots', async (t) => {
  const makeSlots = (clock: VirtualClock) =>
    new Slots({ refusal: 'Cannot work', count: 2, waitersMax: 2, waitMs: 1000, clock })

  t.test('lets so many in, the others in their order, and refuses when too many wait', async (t) => {
    const clock = new VirtualClock()
    const slots = makeSlots(clock)
    const entered: number[] = []
    const [first, second] = [await slots.acquire(), await slots.acquire()]
    const waiting = [1, 2].map((n) => slots.acquire().then((release) => (entered.push(n), release)))
    await t.rejects(slots.acquire(), { name: 'Condition', code: 'slow_down' })
    first()
    first()
    await clock.settle()
    t.strictSame(entered, [1], 'giving back twice lets in one')
    second()
    for (const release of await Promise.all(waiting)) release()
    t.strictSame(entered, [1, 2])
    t.equal(slots.used, 0)
    t.equal(clock.pending, 0)
  })

  t.test('refuses a waiter when its time is over, and keeps its place for nobody', async (t) => {
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

  t.test('leaves a peer alone for longer after every failure, up to the maximum', async (t) => {
    t.ok(health.mayTry('b'))
    for (const expected of [500, 1000, 2000, 2000]) {
      health.failed('b')
      await clock.advance(expected - 1)
      t.notOk(health.mayTry('b'), `${expected} ms are not over`)
      await clock.advance(1)
      t.ok(health.mayTry('b'))
    }
  })

  t.test('lets one caller through after the cool-down and the others wait for its outcome', async (t) => {
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

  t.test('gives a silent source up although it never answers', async (t) => {
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
  t.test(
    'fails as a promise when the source cannot begin, and tells the end once in every case',
    async (t) => {
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
    },
  )
})
