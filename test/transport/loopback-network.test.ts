/**
 * LoopbackNetwork: its effects on messages and calls, and that they are reproducible.
 */
import t from 'tap'
import type { Message } from '../../cluster/raft/types.ts'
import { PeerUnreachableError } from '../../cluster/transport/transport.ts'
import { LoopbackBench } from './benches.ts'
import { meteredStream, rejection } from './streams.ts'

/** xorshift32: random enough for a network. */
function seeded(seed: number): () => number {
  let state = seed | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
}

const terms = (messages: readonly Message[]) => messages.map(({ term }) => term)
const message = (term: number): Message => ({ type: 'TimeoutNow', from: 'a', to: 'b', term })

async function lossyRun(seed: number): Promise<number[]> {
  const bench = new LoopbackBench({ random: seeded(seed), minDelayMs: 1, maxDelayMs: 20 })
  const a = await bench.start('a')
  const b = await bench.start('b')
  bench.network.dropRate = 0.2
  bench.network.duplicateRate = 0.2
  for (let term = 1; term <= 500; term++) {
    a.transport.send(message(term))
    await bench.clock.advance(1)
  }
  await bench.clock.advance(100)
  return terms(b.received)
}

t.test('LoopbackNetwork', async (t) => {
  t.test('loses, repeats and reorders messages, reproducibly with the same seed', async (t) => {
    const run = await lossyRun(7)
    const distinct = new Set(run)
    t.ok(distinct.size > 350 && distinct.size < 450, `${distinct.size} of 500 arrived`)
    t.ok(run.length > distinct.size + 50, `${run.length - distinct.size} arrived twice`)
    t.notSame(
      run,
      [...run].sort((x, y) => x - y),
    )
    t.strictSame(await lossyRun(7), run)
    t.notSame(await lossyRun(8), run)
  })

  t.test('blocks only one direction until it is healed', async (t) => {
    const bench = new LoopbackBench()
    const a = await bench.start('a')
    const b = await bench.start('b')
    bench.network.block('a', 'b')
    a.transport.send(message(1))
    a.transport.send(message(1))
    b.transport.send({ type: 'TimeoutNow', from: 'b', to: 'a', term: 2 })
    await bench.clock.advance(10)
    t.strictSame([terms(a.received), terms(b.received)], [[2], []])
    t.strictSame([a.unreachable, b.unreachable], [['b'], []])
    t.ok(
      (await rejection(bench.settle(b.transport.call('a', 'x', { header: null })))) instanceof
        PeerUnreachableError,
      'a call needs both directions',
    )
    bench.network.heal()
    a.transport.send(message(3))
    await bench.clock.advance(10)
    t.strictSame(terms(b.received), [3])
  })

  t.test(
    'loses messages in flight when the path is cut, and breaks calls in the middle of a stream',
    async (t) => {
      const bench = new LoopbackBench()
      const meter = { sent: 0, ended: false }
      const a = await bench.start('a')
      const b = await bench.start('b', {
        flood: async () => ({ header: null, body: meteredStream(meter, Number.MAX_SAFE_INTEGER) }),
      })
      const { body } = await bench.settle(a.transport.call('b', 'flood', { header: null }))
      const reader = body[Symbol.asyncIterator]()
      t.notOk((await reader.next()).done)
      a.transport.send(message(1))
      bench.network.isolate('b')
      t.ok((await rejection(reader.next())) instanceof PeerUnreachableError)
      await bench.clock.advance(10)
      t.ok(meter.ended)
      t.strictSame(b.received, [])
      bench.network.heal()
      a.transport.send(message(2))
      await bench.clock.advance(10)
      t.strictSame(terms(b.received), [2])
    },
  )

  t.test('delivers no message from a sender that the receiver refuses', async (t) => {
    const bench = new LoopbackBench()
    const a = await bench.start('a')
    const strict = bench.network.transport('b', {
      incarnation: 'b1',
      judge: ({ nodeId, incarnation }) =>
        nodeId === 'a' && incarnation === 'life-of-a' ? { code: 'member_tombstoned', message: 'no' } : null,
    })
    let answer = 0
    await strict.start({ onMessages: () => void answer++, onUnreachable: () => {} })
    for (let i = 0; i < 3; i += 1) a.transport.send(message(1))
    await bench.clock.advance(10)
    t.strictSame(a.refused, ['b member_tombstoned'], 'and reports it, once for all messages in flight')
    t.match(await rejection(bench.settle(a.transport.call('b', 'x', { header: null }))), {
      code: 'member_tombstoned',
    })
    t.equal(answer, 0)
  })
})
