/** What a leader makes of the costs that travel with forwarded proposals, and of their absence. */
import t from 'tap'
import { Batcher } from '../../cluster/node/proposals/batcher.ts'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { decodeCommandEntry, encodeProposals, type Proposal } from '../../cluster/node/base/log-entry.ts'
import { proposeHandler } from '../../cluster/node/proposals/propose-call.ts'

/** The sequences of each entry that a leader makes of one call. */
async function entriesOf(header: unknown): Promise<number[][]> {
  const entries: number[][] = []
  const limits = { ...DEFAULT_NODE_LIMITS, batchCostMax: 100 }
  const batcher: Batcher = new Batcher({
    stamp: () => 1,
    limits,
    isLogBusy: () => false,
    objection: () => null,
    submit: (input) => {
      if (input.type !== 'propose') throw new Error(`The batcher submits ${input.type}`)
      entries.push(decodeCommandEntry(input.data).proposals.map(({ sequence }) => sequence))
      batcher.onAccepted(input.proposalId, 7, entries.length)
      queueMicrotask(() => batcher.onCommitted(entries.length))
    },
  })
  const proposals = [1, 2, 3, 4].map((sequence): Proposal => {
    const command = new Uint8Array(10)
    return { nodeId: 'n2', incarnation: 'i2', boot: 1, sequence, ackedBelow: 0, command, cost: 60 }
  })
  const body = (async function* () {
    yield encodeProposals(proposals)
  })()
  const handler = proposeHandler(batcher, limits, () => true)
  const answer = await handler({ from: 'n2', header, body })
  t.same(answer.header, { term: 7, refused: [] })
  return entries
}

t.test('a propose call', async (t) => {
  t.test('carries what each proposal costs, and batches end by it', async (t) => {
    t.same(await entriesOf({ costs: [60, 60, 30, 100] }), [[1], [2, 3], [4]])
  })

  t.test('of an older version carries no costs: they are guessed from the bytes', async (t) => {
    t.same(await entriesOf(null), [[1, 2, 3, 4]])
  })

  t.test('with costs that are none is taken all the same', async (t) => {
    for (const costs of [60, [-1, 1.5, 'many'], [], [null, null, null, null, 9_999]])
      t.same(await entriesOf({ costs }), [[1, 2, 3, 4]], JSON.stringify(costs))
  })
})
