/** How a leader uses the costs that are sent with forwarded proposals, with and without them. */
import t from 'tap'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { encodeProposals, type Proposal } from '../../cluster/node/base/log-entry.ts'
import { proposeHandler } from '../../cluster/node/proposals/propose-handler.ts'
import { PathBench } from './path-bench.ts'

/** The sequences of each entry that a leader makes of one call. */
async function entriesOf(header: unknown): Promise<number[][]> {
  const limits = { ...DEFAULT_NODE_LIMITS, batchCostMax: 100 }
  const bench = new PathBench(limits)
  const proposals = [1, 2, 3, 4].map((sequence): Proposal => {
    const command = new Uint8Array(10)
    return { nodeId: 'n2', incarnation: 'i2', boot: 1, sequence, ackedBelow: 0, command, cost: 60 }
  })
  const body = (async function* () {
    yield encodeProposals(proposals)
  })()
  const handler = proposeHandler(bench.path, limits, { isMute: false })
  const answered = handler({ from: 'n2', header, body })
  for (let i = 0; i < proposals.length; i++) {
    await bench.clock.settle()
    bench.commit()
  }
  const answer = await answered
  t.same(answer.header, { term: 7, refused: [] })
  return bench.entries
}

t.test('a propose call', async (t) => {
  t.test('carries the cost of each proposal, which limits batches', async (t) => {
    t.same(await entriesOf({ costs: [60, 60, 30, 100] }), [[1], [2, 3], [4]])
  })

  t.test('of an older version carries no costs: they are estimated from the bytes', async (t) => {
    t.same(await entriesOf(null), [[1, 2, 3, 4]])
  })

  t.test('with invalid costs is still accepted', async (t) => {
    for (const costs of [60, [-1, 1.5, 'many'], [], [null, null, null, null, 9_999]])
      t.same(await entriesOf({ costs }), [[1, 2, 3, 4]], JSON.stringify(costs))
  })

  t.test('shutting_down: of a node that has failed or stops is refused', async (t) => {
    const { path } = new PathBench()
    const handler = proposeHandler(path, DEFAULT_NODE_LIMITS, { isMute: true })
    const body = (async function* () {
      yield encodeProposals([])
    })()
    await t.rejects(handler({ from: 'n2', header: null, body }), { code: 'shutting_down' })
  })
})
