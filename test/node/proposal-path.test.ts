/**
 * ProposalPath: the turns in which proposals are dispatched and sealed, and that each intent is carried out.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Condition } from '../../cluster/base/types.ts'
import { TurnEnd } from '../../cluster/transport/turn-end.ts'
import { PathBench } from './path-bench.ts'

const COMMAND = new Uint8Array(10)
const why = new Condition('shutting_down', 'This node is stopping')

/** Of a proposal that may end so late that the test has looked elsewhere meanwhile. */
function ignored(proposed: Promise<unknown>): void {
  proposed.catch(() => undefined)
}

t.test('ProposalPath', async (t) => {
  t.test('dispatches in the microtask after the turn, and seals in the one after that', async (t) => {
    const { path, entries } = new PathBench()
    ignored(path.propose(COMMAND))
    await Promise.resolve()
    t.strictSame(entries, [], 'dispatched')
    ignored(path.propose(COMMAND))
    await Promise.resolve()
    t.strictSame(entries, [[1]], 'later proposals are not in the entry')
    path.close(why)
  })

  t.test('makes one entry of the proposals of this node and a peer in one turn', async (t) => {
    const bench = new PathBench()
    ignored(bench.path.propose(COMMAND))
    await Promise.resolve()
    const session = { nodeId: 'n2', incarnation: 'i2', boot: 1, sequence: 9, ackedBelow: 0 }
    const outcome = bench.path.offer({ ...session, command: COMMAND, need: 'growth' })
    t.strictSame(await outcome, { accepted: true, term: 7 })
    t.strictSame(bench.entries, [[1, 9]])
    bench.path.close(why)
  })

  t.test('resolves with the reply that is applied here', async (t) => {
    const bench = new PathBench()
    const reply = bench.path.propose(COMMAND)
    await bench.clock.settle()
    bench.path.own.onApplied(1, Uint8Array.of(5))
    t.strictSame(await reply, Uint8Array.of(5))
  })

  t.test('seals the next entry when the one before is committed', async (t) => {
    const bench = new PathBench()
    for (let i = 0; i < 3; i++) {
      ignored(bench.path.propose(COMMAND))
      await bench.clock.settle()
    }
    t.strictSame(bench.entries, [[1]])
    bench.commit()
    t.strictSame(bench.entries, [[1], [2, 3]])
    bench.path.close(why)
  })

  t.test('makes one entry of all that a turn brings, before what the turn says leaves', async (t) => {
    const turn = new TurnEnd()
    const bench = new PathBench({}, turn)
    const left: number[][][] = []
    turn.make(() => left.push([...bench.entries]))
    for (let i = 0; i < 3; i++) {
      ignored(bench.path.propose(COMMAND))
      await Promise.resolve()
    }
    t.strictSame(bench.entries, [], 'the turn has not ended')
    await nextTurn()
    t.strictSame(left, [[[1, 2, 3]]])
    ignored(bench.path.propose(COMMAND))
    await nextTurn()
    t.strictSame(bench.entries, [[1, 2, 3]], 'the entry before is not committed')
    bench.commit()
    ignored(bench.path.propose(COMMAND))
    turn.make(() => left.push([...bench.entries]))
    await nextTurn()
    t.strictSame(
      left[1],
      [
        [1, 2, 3],
        [4, 5],
      ],
      'the commit and what came after it in its turn',
    )
    bench.path.close(why)
  })

  t.test('seals the next entry when the log has caught up', async (t) => {
    const bench = new PathBench()
    bench.path.onAppend(1)
    ignored(bench.path.propose(COMMAND))
    await bench.clock.settle()
    t.strictSame(bench.entries, [])
    bench.path.onDurable(1)
    bench.path.seal()
    t.strictSame(bench.entries, [[1]])
    bench.path.close(why)
  })

  t.test('disk_full and backlogFull: asks the disk before the state that is behind', async (t) => {
    const bench = new PathBench()
    bench.room.full = 'the disk of this node is full'
    await t.rejects(bench.path.propose(COMMAND), { code: 'disk_full' })
    bench.flow.objection = 'backlogFull'
    const session = { nodeId: 'n2', incarnation: 'i2', boot: 1, sequence: 9, ackedBelow: 0 }
    const proposal = { ...session, command: COMMAND, need: 'growth' as const }
    t.strictSame(await bench.path.offer(proposal), { accepted: false, reason: 'diskFull' })
    bench.room.full = null
    t.strictSame(await bench.path.offer(proposal), { accepted: false, reason: 'backlogFull' })
  })

  t.test('commit_unknown: a proposal in the batcher of a node that closes may be in a log', async (t) => {
    const bench = new PathBench()
    bench.path.onAppend(1)
    const proposed = bench.path.propose(COMMAND)
    await bench.clock.settle()
    bench.path.close(why)
    await t.rejects(proposed, { code: 'commit_unknown' })
    await t.rejects(bench.path.propose(COMMAND), { code: 'shutting_down' })
  })
})
