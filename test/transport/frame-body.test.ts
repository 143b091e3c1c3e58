/**
 * Bodies over frames: credit, and that an end that comes too early is never taken for the end.
 */
import t from 'tap'
import { FrameBodyReader, CreditPool, FrameBodySender } from '../../cluster/transport/frame-body.ts'
import { FIRST_CREDIT, PIECE_BYTES_MAX } from '../../cluster/transport/wire-frame.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { collect, meteredStream, pattern, rejection, streamOf } from './streams.ts'

const KIB = 1024
const STALL_MS = 1000

class ArrivalBench {
  readonly clock = new VirtualClock()
  readonly credits: number[] = []
  readonly cancelled: string[] = []
  readonly pool: CreditPool
  readonly body: FrameBodyReader
  done = 0

  constructor(pool = new CreditPool()) {
    this.pool = pool
    this.body = new FrameBodyReader({
      clock: this.clock,
      idleMs: STALL_MS,
      pool,
      giveCredit: (bytes) => void this.credits.push(bytes),
      cancel: ({ message }) => void this.cancelled.push(message),
      onDone: () => void this.done++,
      blame: (cause) => new Error('broke off', { cause }),
    })
  }

  /** Reads everything that has arrived. */
  async read(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; ) left -= (await this.body.next()).value?.length ?? left
  }
}

t.test('an arriving body', async (t) => {
  t.test('gives credit for what was read, once extra, and none after the end', async (t) => {
    const bench = new ArrivalBench()
    bench.body.push(pattern(FIRST_CREDIT), false)
    t.strictSame(bench.credits, [], 'nothing was read')
    await bench.read(FIRST_CREDIT)
    t.strictSame(bench.credits, [KIB * KIB], 'what was read, up to a window of 1 MiB')
    bench.body.push(pattern(63 * KIB), false)
    await bench.read(63 * KIB)
    t.equal(bench.credits.length, 1, 'not for every piece')
    bench.body.push(pattern(KIB), false)
    await bench.read(KIB)
    t.strictSame(bench.credits.slice(1), [64 * KIB])
    bench.body.push(pattern(100 * KIB), true)
    await bench.read(100 * KIB)
    t.equal(bench.credits.length, 2)
    t.equal(bench.done, 1)
  })

  t.test('shares the extra credit of its connection with the others', async (t) => {
    const pool = new CreditPool()
    const benches = Array.from({ length: 40 }, () => new ArrivalBench(pool))
    for (const bench of benches) {
      bench.body.push(pattern(FIRST_CREDIT), false)
      await bench.read(FIRST_CREDIT)
    }
    const outstanding = benches.reduce((sum, { credits }) => sum + (credits[0] ?? 0), 0)
    t.ok(outstanding <= 32 * KIB * KIB + 40 * FIRST_CREDIT, `${outstanding} bytes may be under way`)
    t.equal(benches.at(-1)?.credits[0], FIRST_CREDIT, 'the pool is empty')
    benches[0]?.body.abandon()
    const late = new ArrivalBench(pool)
    late.body.push(pattern(FIRST_CREDIT), false)
    await late.read(FIRST_CREDIT)
    t.equal(late.credits[0], KIB * KIB, 'a body that ended gave its part back')
  })

  t.test('refuses more bytes than it gave credit for', async (t) => {
    const { body } = new ArrivalBench()
    body.push(pattern(FIRST_CREDIT), false)
    t.throws(() => body.push(pattern(1), false), { name: 'MalformedFrameError' })
  })

  t.test('never takes an interruption for the end', async (t) => {
    const before = new ArrivalBench()
    before.body.push(pattern(10), false)
    before.body.fail(new Error('lost'))
    t.match(await rejection(collect(before.body)), { message: 'broke off' })
    t.match(await rejection(before.body.next()), { message: 'broke off' }, 'nor later')
    const waiting = new ArrivalBench()
    const reading = rejection(waiting.body.next())
    waiting.body.fail(new Error('lost'))
    t.match(await reading, { message: 'broke off' })
    const dropped = new ArrivalBench()
    dropped.body.fail(new Error('answered'))
    dropped.body.abandon()
    t.match(await rejection(dropped.body.next()), { message: 'broke off' })
    for (const { done } of [before, waiting, dropped]) t.equal(done, 1)
  })

  t.test('ends when nothing comes, and when its reader leaves', async (t) => {
    const silent = new ArrivalBench()
    const reading = rejection(silent.body.next())
    await silent.clock.advance(STALL_MS)
    t.match(await reading, { message: 'broke off' })
    t.strictSame(silent.cancelled, [`Nothing came for ${STALL_MS} ms`])
    const left = new ArrivalBench()
    await left.body.return()
    t.strictSame(left.cancelled, ['The reader left'])
    t.strictSame(await left.body.next(), { done: true, value: undefined })
    const whole = new ArrivalBench()
    whole.body.push(pattern(1), true)
    await whole.body.return()
    t.strictSame(whole.cancelled, [], 'nothing is under way any more')
  })
})

class DepartureBench {
  readonly clock = new VirtualClock()
  readonly sent: { bytes: number; isLast: boolean }[] = []
  readonly rooms: (() => void)[] = []
  isCongested = false

  leave(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): FrameBodySender {
    return new FrameBodySender(source, {
      clock: this.clock,
      stallMs: STALL_MS,
      credit: FIRST_CREDIT,
      send: (piece, isLast) => void this.sent.push({ bytes: piece.length, isLast }),
      isCongested: () => this.isCongested,
      whenRoom: (callback) => void this.rooms.push(callback),
    })
  }

  get bytes(): number {
    return this.sent.reduce((sum, { bytes }) => sum + bytes, 0)
  }
}

t.test('a leaving body', async (t) => {
  t.test('sends no more than its credit, in bounded pieces, and then its end', async (t) => {
    const bench = new DepartureBench()
    const body = bench.leave([pattern(1000 * KIB)])
    const running = body.run()
    await bench.clock.settle()
    t.equal(bench.bytes, FIRST_CREDIT)
    body.addCredit(2000 * KIB)
    await running
    t.equal(bench.bytes, 1000 * KIB)
    t.ok(bench.sent.every(({ bytes }) => bytes <= PIECE_BYTES_MAX))
    t.strictSame(
      bench.sent.filter(({ isLast }) => isLast),
      [{ bytes: 0, isLast: true }],
    )
    t.throws(() => body.addCredit(2 ** 31), { name: 'MalformedFrameError' })
  })

  t.test('waits while its socket is full', async (t) => {
    const bench = new DepartureBench()
    bench.isCongested = true
    const running = bench.leave(streamOf([pattern(10)])).run()
    await bench.clock.settle()
    t.strictSame([bench.bytes, bench.rooms.length], [0, 1])
    bench.isCongested = false
    bench.rooms[0]?.()
    await running
    t.equal(bench.bytes, 10)
  })

  t.test('ends its source when it is stopped, and when its receiver takes nothing', async (t) => {
    const stopped = { sent: 0, ended: false }
    const bench = new DepartureBench()
    const body = bench.leave(meteredStream(stopped, Number.MAX_SAFE_INTEGER))
    const running = body.run()
    await bench.clock.settle()
    body.stop()
    await running
    t.ok(stopped.ended)
    t.notOk(
      bench.sent.some(({ isLast }) => isLast),
      'and does not say that it is whole',
    )
    const stalled = { sent: 0, ended: false }
    const failed = rejection(bench.leave(meteredStream(stalled, Number.MAX_SAFE_INTEGER)).run())
    await bench.clock.settle()
    await bench.clock.advance(STALL_MS)
    t.match(await failed, { message: `The receiver took nothing for ${STALL_MS} ms` })
    t.ok(stalled.ended)
  })
})
