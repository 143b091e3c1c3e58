/**
 * The order of inputs and effects where the core is stepped, and its end: after `mute` no input and no effect passes.
 */
import t from 'tap'
import { CoreLoop } from '../../cluster/node/base/core-loop.ts'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { Raft } from '../../cluster/raft/raft.ts'
import type { Effect } from '../../cluster/raft/types.ts'

/** The only voter of its group: it leads once its own vote is durable. */
function loopOf(begin: (effect: Effect, loop: CoreLoop) => void): CoreLoop {
  const configuration = { voters: ['a'], learners: [], outgoing: [] }
  const raft = new Raft(
    { nodeId: 'a', electionTicks: 10, random: () => 0, limits: DEFAULT_NODE_LIMITS.raft },
    {
      hardState: { currentTerm: 0, votedFor: null },
      base: { index: 0, term: 0 },
      entries: [],
      configuration,
      configurationIndex: 0,
      appliedIndex: 0,
    },
  )
  const loop: CoreLoop = new CoreLoop(raft, {
    begin: (effect) => begin(effect, loop),
    onBug: (error) => {
      throw error
    },
  })
  return loop
}

/** Its disk answers at once. */
function lead(loop: CoreLoop): void {
  for (let i = 0; i < 100 && loop.status().role !== 'leader'; i += 1) loop.submit({ type: 'tick' })
}

t.test('CoreLoop', async (t) => {
  t.test('starts all effects of one input before it takes the next', async (t) => {
    const started: string[] = []
    const loop = loopOf((effect, self) => {
      started.push(effect.type)
      if (effect.type === 'appendWal') self.submit({ type: 'walDone', sequence: effect.sequence })
    })
    lead(loop)
    t.equal(loop.status().role, 'leader')
    started.length = 0
    loop.submit({ type: 'propose', proposalId: 1, data: new Uint8Array(1) })
    t.strictSame(started, ['appendWal', 'proposalAccepted', 'apply'])
  })

  t.test('takes no input after it was muted', async (t) => {
    const loop = loopOf((effect, self) => {
      if (effect.type === 'appendWal') self.submit({ type: 'walDone', sequence: effect.sequence })
    })
    lead(loop)
    const { lastIndex } = loop.status()
    loop.mute()
    loop.submit({ type: 'propose', proposalId: 1, data: new Uint8Array(1) })
    t.equal(loop.status().lastIndex, lastIndex)
  })

  t.test('starts no effect after it was muted in the middle of the effects of one input', async (t) => {
    let isLast = false
    const started: string[] = []
    const loop = loopOf((effect, self) => {
      started.push(effect.type)
      if (isLast) return self.mute()
      if (effect.type === 'appendWal') self.submit({ type: 'walDone', sequence: effect.sequence })
    })
    lead(loop)
    started.length = 0
    isLast = true
    loop.submit({ type: 'propose', proposalId: 1, data: new Uint8Array(1) })
    t.strictSame(started, ['appendWal'])
  })
})
