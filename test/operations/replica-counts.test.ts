/** Copies of members, counted from the rows: exact, of bounded cost, and without delaying a caller. */
import t from 'tap'
import { ReplicaCounter } from '../../src/operations/base/replica-counts.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import { type Deferred, deferred } from '../helpers/async.ts'
import { type LogLine, recordingLogger } from '../helpers/loggers.ts'
import type { RowPage } from '../../src/store/reads/state-reader.ts'

class Bench {
  now = 1_000
  walks = 0
  /** Pages of replicas. */
  pages: readonly (readonly string[])[][] = [[]]
  gate: Deferred | null = null
  fault: Error | null = null
  readonly lines: LogLine[] = []
  readonly replicaCounts = new ReplicaCounter({
    state: { page: async (_chunks, { after }) => (await this.#chunks(Number(after))) as RowPage<never> },
    now: () => this.now,
    // No caller waits longer than a moment.
    wait: async () => undefined,
    logger: recordingLogger(this.lines),
  })

  async #chunks(page: number): Promise<RowPage<ChunkRecord>> {
    if (page === 0) this.walks++
    await this.gate?.promise
    if (this.fault !== null) throw this.fault
    const items = (this.pages[page] ?? []).map((replicas) => ({ replicas }) as ChunkRecord)
    return { items, names: [], next: page + 1 < this.pages.length ? String(page + 1) : null }
  }

  /** The result of the count in progress. */
  async figures(): Promise<Record<string, string>> {
    await this.replicaCounts.look()
    for (let n = 0; n < 20; n++) await Promise.resolve()
    const { held } = (await this.replicaCounts.look()) ?? { held: new Map() }
    return Object.fromEntries(
      [...held].map(([node, { replicas, lastCopies }]) => [node, `${replicas} ${lastCopies}`]),
    )
  }
}

t.test('counts the listed copies, and the chunks without another copy', async (t) => {
  const bench = new Bench()
  bench.pages = [
    [['n1', 'n2', 'n3'], ['n1']],
    [['n3', 'n2'], [], ['n1']],
  ]
  t.same(await bench.figures(), { n1: '3 2', n2: '2 0', n3: '2 0' })
})

t.test('a caller during a count gets the last count, with its age', async (t) => {
  const bench = new Bench()
  bench.gate = deferred()
  t.equal(await bench.replicaCounts.look(), null, 'nothing was counted yet')
  t.equal(await bench.replicaCounts.look(), null)
  t.equal(bench.walks, 1, 'one count at a time')
  bench.pages = [[['n1']]]
  bench.gate.resolve()
  t.same(await bench.figures(), { n1: '1 1' })
  bench.gate = deferred()
  bench.now += 10
  bench.pages = [[['n1', 'n2']]]
  t.match(await bench.replicaCounts.look(), { countedAt: 1_000, held: new Map([['n1', { replicas: 1 }]]) })
  bench.gate.resolve()
  t.same(await bench.figures(), { n1: '1 0', n2: '1 0' })
})

t.test('after a long count the next one waits long, for any caller', async (t) => {
  const bench = new Bench()
  bench.gate = deferred()
  await bench.replicaCounts.look()
  bench.now += 1_000
  bench.gate.resolve()
  await bench.figures()
  const rested = bench.now + 50_000
  for (bench.now += 100; bench.now < rested; bench.now += 5_000) await bench.figures()
  t.equal(bench.walks, 1)
  bench.now = rested
  await bench.figures()
  t.ok(bench.walks > 1)
})

t.test('a failed count keeps the last one', async (t) => {
  const bench = new Bench()
  bench.pages = [[['n1']]]
  await bench.figures()
  bench.now += 1
  bench.fault = new Error('the state is being replaced')
  t.same(await bench.figures(), { n1: '1 1' })
  t.match(bench.lines[0], { message: 'copies of the members not counted' })
  bench.fault = null
  bench.pages = [[['n2']]]
  t.same(await bench.figures(), { n2: '1 1' })
})
