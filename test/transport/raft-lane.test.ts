/**
 * RaftLane on a virtual clock: order, coalescing, bounds, dropping.
 */
import t from 'tap'
import type { Message } from '../../cluster/raft/types.ts'
import { decodeBatch } from '../../cluster/transport/frame.ts'
import { PeerTraffic } from '../../cluster/transport/peer-traffic.ts'
import { RaftLane } from '../../cluster/transport/raft-lane.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import { ROUTE } from './sample-messages.ts'

/** A lane whose peer answers when the test says so. */
class LaneBench {
  readonly clock = new VirtualClock()
  readonly traffic = new PeerTraffic(this.clock)
  readonly lines: LogLine[] = []
  readonly posts: { readonly messages: readonly Message[]; readonly bytes: number; readonly at: number }[] =
    []
  readonly unreachable: number[] = []
  readonly #waiting: { resolve(): void; reject(err: Error): void }[] = []
  readonly lane = new RaftLane({
    route: ROUTE,
    post: (batch) => {
      this.posts.push({ messages: decodeBatch(batch, ROUTE), bytes: batch.length, at: this.clock.now() })
      return new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject }))
    },
    onUnreachable: () => void this.unreachable.push(this.clock.now()),
    clock: this.clock,
    traffic: this.traffic,
    logger: recordingLogger(this.lines),
  })

  push(...terms: number[]): void {
    for (const term of terms) this.lane.push({ type: 'TimeoutNow', ...ROUTE, term })
  }

  pushBytes(term: number, size: number): void {
    const entries = [{ index: 1, term, kind: 'command', data: new Uint8Array(size) }] as const
    this.lane.push({
      type: 'AppendEntries',
      ...ROUTE,
      term,
      prevLogIndex: 0,
      prevLogTerm: 0,
      leaderCommit: 0,
      readToken: 0,
      entries,
    })
  }

  /** `entries` after index `after`; the commit index identifies each message. */
  pushAppend({ after = 5, entries = 0, commit = 0, token = 1, term = 1 }): void {
    this.lane.push({
      type: 'AppendEntries',
      ...ROUTE,
      term,
      prevLogIndex: after,
      prevLogTerm: 1,
      leaderCommit: commit,
      readToken: token,
      entries: Array.from({ length: entries }, (_, i) => {
        return { index: after + 1 + i, term, kind: 'command', data: new Uint8Array(1) } as const
      }),
    })
  }

  /** Commit index and entries of each append of a batch. */
  appends(post: number): number[][] {
    return (this.posts[post]?.messages ?? []).flatMap((message) =>
      message.type === 'AppendEntries' ? [[message.leaderCommit, message.entries.length]] : [],
    )
  }

  async answer(): Promise<void> {
    this.#waiting.shift()?.resolve()
    await this.clock.settle()
  }

  async fail(): Promise<void> {
    this.#waiting.shift()?.reject(new Error('no route'))
    await this.clock.settle()
  }

  /** Terms of each batch. */
  get terms(): number[][] {
    return this.posts.map(({ messages }) => messages.map(({ term }) => term))
  }

  counter(name: string): number {
    return this.traffic.samples().find((sample) => sample.name === `holdfast_peer_${name}_total`)?.value ?? 0
  }
}

t.test('RaftLane', async (t) => {
  t.test('sends the messages of one turn as one batch, and one batch at a time', async (t) => {
    const bench = new LaneBench()
    bench.push(1, 2, 3)
    await bench.clock.settle()
    bench.push(4)
    await bench.clock.settle()
    bench.push(5, 6)
    await bench.clock.settle()
    t.strictSame(bench.terms, [[1, 2, 3]])
    await bench.answer()
    t.strictSame(bench.terms, [
      [1, 2, 3],
      [4, 5, 6],
    ])
    await bench.answer()
    t.equal(bench.posts.length, 2)
    t.equal(bench.counter('sent_messages'), 6)
    t.equal(bench.clock.pending, 0)
  })

  t.test('omits an append without entries when the next one carries the same and more', async (t) => {
    const bench = new LaneBench()
    bench.pushAppend({ commit: 4, entries: 1 })
    await bench.clock.settle()
    await bench.answer()
    bench.pushAppend({ after: 6, commit: 6 })
    bench.pushAppend({ after: 6, commit: 6, entries: 2 })
    bench.pushAppend({ after: 8, commit: 6 })
    await bench.clock.settle()
    t.strictSame(bench.appends(1), [
      [6, 2],
      [6, 0],
    ])
    t.equal(bench.counter('dropped_messages'), 0)
  })

  t.test('keeps an append without entries that carries more than the next one', async (t) => {
    const bench = new LaneBench()
    bench.pushAppend({ commit: 1, entries: 1 })
    const pairs = [
      [{ token: 2 }, { entries: 1, token: 2 }],
      [
        { after: 4, token: 2 },
        { entries: 1, token: 2 },
      ],
      [
        { token: 2, commit: 3 },
        { entries: 1, token: 2, commit: 2 },
      ],
      [{ token: 2 }, { entries: 1, token: 2, term: 2 }],
      [
        { token: 2, term: 2, entries: 1 },
        { entries: 1, token: 2, term: 2 },
      ],
    ] as const
    for (const [first, second] of pairs) {
      await bench.clock.settle()
      await bench.answer()
      bench.pushAppend(first)
      bench.pushAppend(second)
    }
    await bench.clock.settle()
    t.strictSame(
      bench.posts.map(({ messages }) => messages.length),
      [1, 2, 2, 2, 2, 2],
      'a new read round, another place, an older commit, another term, entries of its own',
    )
  })

  t.test('ends a batch before it exceeds its limit, but sends a larger message by itself', async (t) => {
    const bench = new LaneBench()
    for (const [term, size] of [
      [1, 1_500_000],
      [2, 1_000_000],
      [3, 1_000_000],
      [4, 5_000_000],
      [5, 10],
    ] as const)
      bench.pushBytes(term, size)
    for (let i = 0; i < 5; i++) {
      await bench.clock.settle()
      await bench.answer()
    }
    t.strictSame(bench.terms, [[1], [2, 3], [4], [5]])
  })

  t.test('drops the oldest messages when it is full by count, and reports it once', async (t) => {
    const bench = new LaneBench()
    bench.push(0)
    await bench.clock.settle()
    bench.push(...Array.from({ length: 5000 }, (_, i) => i + 1))
    t.strictSame(bench.unreachable, [], 'never within push')
    await bench.clock.settle()
    t.equal(bench.unreachable.length, 1)
    t.equal(bench.counter('dropped_messages'), 5000 - 4096)
    for (let i = 0; i < 10; i++) await bench.answer()
    t.strictSame(
      bench.terms.flat().slice(1),
      Array.from({ length: 4096 }, (_, i) => 5000 - 4096 + 1 + i),
    )
  })

  t.test('drops the oldest messages when it is full by bytes', async (t) => {
    const bench = new LaneBench()
    bench.push(0)
    await bench.clock.settle()
    for (let term = 1; term <= 40; term++) bench.pushBytes(term, 1024 * 1024)
    for (let i = 0; i < 40; i++) await bench.answer()
    const arrived = bench.terms.flat()
    t.ok(arrived.length <= 17 && arrived.at(-1) === 40, `${arrived.length} are kept, the newest ones`)
  })

  t.test('drops all messages after a failure and pauses longer with each one, up to a second', async (t) => {
    const bench = new LaneBench()
    for (let round = 0; round < 9; round++) {
      bench.push(round, round)
      await bench.clock.settle()
      bench.push(100 + round)
      await bench.fail()
      t.equal(bench.unreachable.length, round + 1)
      t.equal(bench.clock.pending, 1, 'one timer')
      bench.push(200 + round)
      const posts = bench.posts.length
      await bench.clock.runUntil(() => bench.posts.length > posts, { limitMs: 1001 })
      await bench.fail()
      bench.unreachable.pop()
      await bench.clock.advance(1000)
    }
    const pauses = bench.posts.flatMap(({ at, messages }, i) =>
      (messages[0]?.term ?? 0) >= 200 ? [at - (bench.posts[i - 1]?.at ?? 0)] : [],
    )
    t.strictSame(pauses, [25, 100, 400, 1000, 1000, 1000, 1000, 1000, 1000])
    t.notOk(
      bench.terms.flat().some((term) => term >= 100 && term < 200),
      'messages that waited during a failure are dropped',
    )
    t.equal(bench.lines.length, 1, 'logged once, not with every attempt')
    bench.push(7)
    await bench.clock.settle()
    await bench.answer()
    t.match(bench.lines.at(-1), { level: 'info', message: 'peer accepts messages again' })
    bench.push(8)
    await bench.clock.settle()
    await bench.fail()
    bench.push(9)
    const before = bench.clock.now()
    const posts = bench.posts.length
    await bench.clock.runUntil(() => bench.posts.length > posts, { limitMs: 1000 })
    t.equal(bench.clock.now() - before, 25, 'a success makes the pause short again')
  })

  t.test('continues at once after a contact with the peer', async (t) => {
    const bench = new LaneBench()
    bench.push(1)
    await bench.clock.settle()
    await bench.fail()
    bench.lane.wake()
    bench.push(2)
    await bench.clock.settle()
    t.strictSame(bench.terms, [[1], [2]])
    t.equal(bench.clock.pending, 0)
  })

  t.test('sends nothing after stop', async (t) => {
    const bench = new LaneBench()
    bench.push(1)
    await bench.clock.settle()
    bench.push(2)
    bench.lane.stop()
    bench.push(3)
    await bench.fail()
    await bench.clock.advance(5000)
    t.strictSame(bench.terms, [[1]])
    t.strictSame(bench.unreachable, [])
    t.equal(bench.clock.pending, 0)
  })
})
