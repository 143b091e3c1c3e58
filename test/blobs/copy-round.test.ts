/**
 * The W-of-R decision as a text: which nodes were contacted, which answered, with which outcome. Only a virtual clock underneath.
 */
import t from 'tap'
import {
  CopiesFailedError,
  CopyRound,
  type CopyRoundOptions,
} from '../../cluster/blobs/replication/copy-round.ts'
import type { WrittenBlob } from '../../cluster/base/types.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

interface Asked {
  readonly signal: AbortSignal
  readonly durable: () => void
  readonly fail: (why: string) => void
}

/** A round whose nodes answer when the test says so. */
class Bench {
  readonly clock = new VirtualClock()
  readonly asked = new Map<string, Asked>()
  readonly down = new Set<string>()
  readonly full = new Set<string>()
  /** The zones of nodes that share one; every other node is a zone of its own. */
  readonly zones = new Map<string, string>()
  written: WrittenBlob | null = null
  failed: CopiesFailedError | null = null
  lateKept = 0
  lateMax = 10

  start(nodes: string, options: Partial<CopyRoundOptions> = {}): void {
    const round = new CopyRound({
      ranked: nodes.split(' '),
      wanted: 3,
      needed: 2,
      zoneOf: (node) => this.zones.get(node) ?? node,
      graceMs: 150,
      zoneWaitMs: 2_000,
      clock: this.clock,
      writeCopy: (node, signal) => this.#ask(node, signal),
      mayTry: (node) => !this.down.has(node),
      isFull: (node) => this.full.has(node),
      keepLate: () => this.#keepLate(),
      ...options,
    })
    round.run().then(
      (written) => {
        this.written = written
      },
      (cause: CopiesFailedError) => {
        this.failed = cause
      },
    )
  }

  async durable(...nodes: string[]): Promise<void> {
    for (const node of nodes) this.asked.get(node)?.durable()
    await this.clock.settle()
  }

  async fail(...nodes: string[]): Promise<void> {
    for (const node of nodes) this.asked.get(node)?.fail(`${node} is down`)
    await this.clock.settle()
  }

  get order(): string {
    return [...this.asked.keys()].join(' ')
  }

  #ask(node: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.asked.set(node, { signal, durable: resolve, fail: (why) => reject(new Error(why)) })
    })
  }

  #keepLate(): (() => void) | null {
    if (this.lateKept >= this.lateMax) return null
    this.lateKept++
    return () => {
      this.lateKept--
    }
  }
}

t.test('CopyRound with as many members as copies', async (t) => {
  t.test('answers at once, with all three, when all are durable', async (t) => {
    const bench = new Bench()
    bench.start('a b c')
    t.equal(bench.order, 'a b c', 'all are contacted at the same time')
    await bench.durable('c', 'a', 'b')
    t.strictSame(bench.written, { replicas: ['c', 'a', 'b'], missing: [] })
    t.equal(bench.clock.pending, 0, 'no timer is left behind')
  })

  t.test('never answers while only one copy is durable', async (t) => {
    const bench = new Bench()
    bench.start('a b c')
    await bench.durable('a')
    await bench.clock.advance(60_000)
    t.equal(bench.written, null)
    await bench.fail('b')
    t.equal(bench.failed, null, 'the third copy may still become durable')
    await bench.durable('c')
    t.strictSame(bench.written, { replicas: ['a', 'c'], missing: ['b'] })
  })

  t.test('waits for the third no longer than the grace, and lets it finish in the background', async (t) => {
    const bench = new Bench()
    bench.start('a b c')
    await bench.durable('a', 'b')
    await bench.clock.advance(149)
    t.equal(bench.written, null)
    await bench.clock.advance(1)
    t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['c'] })
    t.equal(bench.asked.get('c')?.signal.aborted, false)
    t.equal(bench.lateKept, 1)
    await bench.durable('c')
    t.equal(bench.lateKept, 0)
    t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['c'] })
  })

  t.test('includes the third copy when it is durable within the grace', async (t) => {
    const bench = new Bench()
    bench.start('a b c')
    await bench.durable('a', 'b')
    await bench.clock.advance(100)
    await bench.durable('c')
    t.strictSame(bench.written, { replicas: ['a', 'b', 'c'], missing: [] })
  })

  t.test('aborts a late copy when too many are late already', async (t) => {
    const bench = new Bench()
    bench.lateMax = 0
    bench.start('a b c')
    await bench.durable('a', 'b')
    await bench.clock.advance(150)
    t.equal(bench.asked.get('c')?.signal.aborted, true)
    await bench.fail('c')
    t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['c'] })
  })

  t.test('answers without waiting when the third has failed', async (t) => {
    const bench = new Bench()
    bench.start('a b c')
    await bench.fail('a')
    await bench.durable('b', 'c')
    t.strictSame(bench.written, { replicas: ['b', 'c'], missing: ['a'] })
  })

  t.test('fails as soon as W copies are out of reach, with every cause, and aborts the rest', async (t) => {
    const bench = new Bench()
    bench.start('a b c')
    await bench.fail('a', 'c')
    t.match(bench.failed, CopiesFailedError)
    t.strictSame(
      bench.failed?.errors.map((error: Error) => error.message),
      ['a is down', 'c is down'],
    )
    t.equal(bench.asked.get('b')?.signal.aborted, true)
    await bench.durable('b')
    t.equal(bench.written, null)
  })

  t.test('fails when one copy is durable and the last of the others fails', async (t) => {
    const bench = new Bench()
    bench.start('a b c')
    await bench.durable('a')
    await bench.fail('b')
    await bench.fail('c')
    t.match(bench.failed, CopiesFailedError)
    t.equal(bench.written, null)
  })

  t.test('does not contact a node that is known to be down, and still counts it as missing', async (t) => {
    const bench = new Bench()
    bench.down.add('b')
    bench.start('a b c')
    t.equal(bench.order, 'a c')
    await bench.durable('a', 'c')
    t.strictSame(bench.written, { replicas: ['a', 'c'], missing: ['b'] })
  })

  t.test('contacts nodes that are believed to be down when W copies need them', async (t) => {
    const bench = new Bench()
    bench.down.add('b').add('c')
    bench.start('a b c')
    t.equal(bench.order, 'a b')
    await bench.durable('a')
    await bench.fail('b')
    t.equal(bench.order, 'a b c')
    await bench.durable('c')
    t.strictSame(bench.written, { replicas: ['a', 'c'], missing: ['b'] })
  })
})

t.test('CopyRound with more members than copies', async (t) => {
  t.test('hands a copy to the next member when one fails, and then has none missing', async (t) => {
    const bench = new Bench()
    bench.start('a b c d e')
    t.equal(bench.order, 'a b c')
    await bench.fail('b')
    t.equal(bench.order, 'a b c d')
    await bench.durable('a', 'c', 'd')
    t.strictSame(bench.written, { replicas: ['a', 'c', 'd'], missing: [] })
  })

  t.test('skips a member known to be down at once', async (t) => {
    const bench = new Bench()
    bench.down.add('a')
    bench.start('a b c d e')
    t.equal(bench.order, 'b c d')
    await bench.durable('b', 'c', 'd')
    t.strictSame(bench.written, { replicas: ['b', 'c', 'd'], missing: [] })
  })

  t.test('names the late copy as missing before one that cannot be reached', async (t) => {
    const bench = new Bench()
    bench.start('a b c d')
    await bench.fail('a')
    await bench.durable('b', 'd')
    await bench.clock.advance(150)
    t.strictSame(bench.written, { replicas: ['b', 'd'], missing: ['c'] })
  })

  t.test('contacts no node once it has answered', async (t) => {
    const bench = new Bench()
    bench.start('a b c d e')
    await bench.durable('a', 'b')
    await bench.clock.advance(150)
    await bench.fail('c')
    t.equal(bench.order, 'a b c')
  })
})

t.test('CopyRound on small clusters', async (t) => {
  for (const [nodes, count] of [
    ['a', 1],
    ['a b', 2],
  ] as const) {
    t.test(`needs ${count} of ${count}`, async (t) => {
      const bench = new Bench()
      bench.start(nodes, { wanted: count, needed: count })
      await bench.durable(...nodes.split(' '))
      t.strictSame(bench.written, { replicas: nodes.split(' '), missing: [] })
    })
  }
})

t.test('CopyRound in zones', async (t) => {
  /** a and b are in one zone. */
  const benchOf = (...others: string[]): Bench => {
    const bench = new Bench()
    for (const node of ['a', 'b', ...others]) bench.zones.set(node, 'near')
    return bench
  }

  t.test('waits beyond the grace for a copy in a second zone', async (t) => {
    const bench = benchOf()
    bench.start('a b c')
    await bench.durable('a', 'b')
    await bench.clock.advance(1_999)
    t.equal(bench.written, null)
    await bench.durable('c')
    t.strictSame(bench.written, { replicas: ['a', 'b', 'c'], missing: [] })
    t.equal(bench.clock.pending, 0, 'no timer is left behind')
  })

  t.test(
    'answers after zoneWaitMs with copies in one zone only, and reports the copy in the other zone as missing',
    async (t) => {
      const bench = benchOf()
      bench.start('a b c')
      await bench.durable('a', 'b')
      await bench.clock.advance(2_000)
      await bench.clock.advance(150)
      t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['c'] })
    },
  )

  t.test(
    'contacts further nodes of the other zone when one there fails, although enough copies are in progress',
    async (t) => {
      const bench = benchOf('d')
      bench.start('a c d e b', { wanted: 3 })
      t.equal(bench.order, 'a c d')
      await bench.durable('a', 'd')
      await bench.fail('c')
      t.equal(bench.order, 'a c d e')
      await bench.durable('e')
      t.strictSame(bench.written, { replicas: ['a', 'd', 'e'], missing: [] })
    },
  )

  t.test('counts zones, not copies: three in one zone are not yet enough', async (t) => {
    const bench = benchOf('d')
    bench.start('a b c d')
    await bench.durable('a', 'b')
    await bench.fail('c')
    t.equal(bench.order, 'a b c d', 'no node of another zone is left')
    await bench.durable('d')
    t.strictSame(
      bench.written,
      { replicas: ['a', 'b', 'd'], missing: ['c'] },
      'the other zone is missing a copy',
    )
  })

  t.test('answers at once when every node of the other zone has failed or is known to be down', async (t) => {
    const bench = benchOf()
    bench.down.add('c')
    bench.start('a b c')
    await bench.durable('a', 'b')
    t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['c'] })
  })

  t.test('reports another zone as missing before a late copy of the same zone', async (t) => {
    const bench = benchOf('d')
    bench.down.add('c')
    bench.start('a b d c')
    await bench.durable('a', 'b')
    await bench.clock.advance(2_150)
    t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['c'] })
  })

  t.test('does not require more zones than there are, nor more than W', async (t) => {
    const one = benchOf('c')
    one.start('a b c')
    await one.durable('a', 'b')
    await one.clock.advance(150)
    t.strictSame(one.written, { replicas: ['a', 'b'], missing: ['c'] })
    const alone = benchOf()
    alone.start('a b', { wanted: 2, needed: 1 })
    await alone.durable('a')
    await alone.clock.advance(150)
    t.strictSame(alone.written, { replicas: ['a'], missing: ['b'] })
  })
})

t.test('CopyRound with full disks', async (t) => {
  t.test(
    'never contacts a full node, answers at once without it, and reports its copy as missing',
    async (t) => {
      const bench = new Bench()
      bench.full.add('c')
      bench.start('a b c')
      t.equal(bench.order, 'a b')
      await bench.durable('a', 'b')
      t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['c'] })
    },
  )

  t.test('reports nothing as missing when other nodes have space for all copies', async (t) => {
    const bench = new Bench()
    bench.full.add('d')
    bench.start('a b c d')
    await bench.durable('a', 'b', 'c')
    t.strictSame(bench.written, { replicas: ['a', 'b', 'c'], missing: [] })
  })

  t.test('fails without contacting any node when too few have space', async (t) => {
    const bench = new Bench()
    for (const node of ['b', 'c']) bench.full.add(node)
    bench.start('a b c')
    await bench.clock.settle()
    t.ok(bench.failed)
    t.equal(bench.order, '')
    t.equal(bench.clock.pending, 0)
  })

  t.test('does not wait for a zone whose disks are full, and reports its copy as missing', async (t) => {
    const bench = new Bench()
    for (const node of ['a', 'b', 'c']) bench.zones.set(node, 'near')
    bench.full.add('far')
    bench.start('a b c far')
    t.equal(bench.order, 'a b c')
    await bench.durable('a', 'b')
    await bench.clock.advance(150)
    t.strictSame(bench.written, { replicas: ['a', 'b'], missing: ['far'] })
  })
})
