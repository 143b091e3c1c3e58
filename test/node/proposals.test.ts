/**
 * Proposals of one process: the intents that follow from each input, and how each proposal ends.
 */
import t from 'tap'
import { DEFAULT_NODE_LIMITS } from '../../cluster/node/base/limits.ts'
import { encodeProposals } from '../../cluster/node/base/log-entry.ts'
import type { NodeView } from '../../cluster/node/base/node-view.ts'
import type { ForwardAnswer, ForwardIntent, ProposalOutcome } from '../../cluster/node/proposals/intents.ts'
import { PROPOSE_METHOD } from '../../cluster/node/proposals/propose-call.ts'
import { Proposals } from '../../cluster/node/proposals/proposals.ts'
import { Condition } from '../../cluster/base/types.ts'
import { command } from '../helpers/memory-state-machine.ts'
import { NodeWorld } from '../helpers/node-world.ts'

const LIMITS = {
  ...DEFAULT_NODE_LIMITS,
  batchProposalsMax: 4,
  forwardsInflightMax: 2,
  proposalsPendingMax: 100,
}
const REFUSED: ProposalOutcome = { accepted: false, reason: 'leaderNotReady' }

/** Proposals in a node whose view the test sets. */
class ProposalsBench {
  readonly proposals = new Proposals(LIMITS, { nodeId: 'n1', incarnation: 'i1', boot: 1 })
  readonly calls: ForwardIntent[] = []
  /** How each proposal has ended, by its sequence: `true`, or the code of its error. */
  readonly ends = new Map<number, unknown>()
  view: NodeView = {
    now: 0,
    leaderView: { term: 1, leaderId: 'n2', isLeader: false },
    unreadable: null,
    hasLeft: false,
  }
  #proposed = 0

  /** The sequences of each call. */
  get carried(): number[][] {
    return this.calls.map(({ proposals }) => proposals.map(({ sequence }) => sequence))
  }

  see(seen: Partial<NodeView>): void {
    this.view = { ...this.view, ...seen }
  }

  /** So many in one turn; their calls are in `calls`. */
  propose(count: number): void {
    for (let i = 0; i < count; i++) {
      const sequence = ++this.#proposed
      void this.proposals.propose({ command: new Uint8Array(10), spaceRefusal: null }, this.view.now).then(
        () => this.ends.set(sequence, true),
        (error: unknown) => this.ends.set(sequence, error instanceof Condition ? error.code : error),
      )
    }
    this.dispatch()
  }

  dispatch(): void {
    for (const intent of this.proposals.dispatch(this.view))
      if (intent.type === 'forward') this.calls.push(intent)
  }

  /** To the call of this number; by default every proposal is accepted. */
  answer(call: number, answer?: ForwardAnswer['kind'], outcome: ProposalOutcome = taken(1)): void {
    const intent = this.calls[call]
    if (intent === undefined) throw new Error(`There is no call ${call}`)
    const outcomes = new Map(intent.proposals.map(({ sequence }) => [sequence, outcome]))
    const kind = answer ?? 'answered'
    this.proposals.onForwarded(intent.id, kind === 'answered' ? { kind, outcomes } : { kind }, this.view)
    this.dispatch()
  }

  after(ms: number): void {
    this.see({ now: this.view.now + ms })
    this.proposals.onTick(this.view)
    this.dispatch()
  }

  /** The promises of the callers settle in a later microtask. */
  async end(sequence: number): Promise<unknown> {
    await Promise.resolve()
    await Promise.resolve()
    return this.ends.get(sequence)
  }
}

function taken(term: number): ProposalOutcome {
  return { accepted: true, term }
}

t.test('Proposals of a follower', async (t) => {
  t.test('gathers proposals during a call into the next one', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.propose(2)
    bench.propose(1)
    t.strictSame(bench.carried, [[1]])
    bench.answer(0)
    t.strictSame(bench.carried, [[1], [2, 3, 4]])
    bench.answer(1)
    t.equal(bench.calls.length, 2)
  })

  t.test('sends a second call beside the first when more proposals wait than one can carry', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.propose(6)
    t.strictSame(bench.carried, [[1], [2, 3, 4, 5]])
    bench.propose(6)
    t.equal(bench.calls.length, 2, 'never more calls than the limit')
    bench.answer(0)
    t.strictSame(bench.carried.at(-1), [6, 7, 8, 9])
  })

  t.test('that has left keeps no caller waiting', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.see({ hasLeft: true, unreadable: 'this node was removed' })
    bench.proposals.onTick(bench.view)
    t.equal(await bench.end(1), 'commit_unknown')
  })

  t.test('asks again when the answer is of an earlier term', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.see({ leaderView: { term: 2, leaderId: 'n2', isLeader: false } })
    bench.proposals.onLeaderView(bench.view.leaderView)
    // The call was answered in term 1, and proposals accepted then may have been lost with it.
    bench.answer(0)
    bench.after(LIMITS.retryMaxMs)
    t.strictSame(bench.carried, [[1], [1]])
  })

  t.test('aborts the calls to a former leader, and asks the next leader', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.see({ leaderView: { term: 2, leaderId: 'n3', isLeader: false } })
    bench.proposals.onLeaderView(bench.view.leaderView)
    t.equal(bench.calls[0]?.signal.aborted, true)
    bench.propose(1)
    t.strictSame(bench.carried, [[1]], 'the call counts until it has ended')
    bench.answer(0, 'unknown')
    t.match(bench.calls[1], { leader: 'n3' })
    bench.after(LIMITS.retryMinMs)
    bench.answer(1)
    t.strictSame(bench.carried, [[1], [2], [1]])
  })

  t.test('repeats refused proposals, after pauses that grow', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.answer(0, 'answered', REFUSED)
    bench.after(LIMITS.retryMinMs - 1)
    t.equal(bench.calls.length, 1)
    bench.after(1)
    bench.answer(1, 'refused')
    bench.after(LIMITS.retryMinMs)
    t.equal(bench.calls.length, 2)
    bench.after(LIMITS.retryMinMs)
    t.equal(bench.calls.length, 3)
  })

  t.test('commit_unknown or leader_not_ready: at the deadline, by whether it may be in a log', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.answer(0, 'answered', REFUSED)
    bench.propose(1)
    bench.answer(1, 'unknown')
    bench.see({ leaderView: { term: 1, leaderId: null, isLeader: false } })
    bench.after(LIMITS.proposalDeadlineMs)
    t.equal(await bench.end(1), 'leader_not_ready')
    t.equal(await bench.end(2), 'commit_unknown')
    t.strictSame(bench.proposals.counts, { proposed: 2, failed: 2 })
  })

  t.test('disk_full: refuses at once when no disk has space', async (t) => {
    const { proposals } = new ProposalsBench()
    const request = { command: new Uint8Array(1), spaceRefusal: 'the disk of this node is full' }
    t.throws(() => proposals.propose(request, 0), { code: 'disk_full' })
    t.equal(proposals.pendingCount, 0)
  })

  t.test('proposes nothing while there is no state here that could answer', async (t) => {
    const bench = new ProposalsBench()
    bench.see({ unreadable: 'its state is being replaced' })
    bench.propose(1)
    t.equal(bench.calls.length, 0)
    bench.after(LIMITS.proposalDeadlineMs)
    t.equal(await bench.end(1), 'leader_not_ready')
  })

  t.test('shutting_down: takes nothing more after `refuse`, and finishes running proposals', async (t) => {
    const bench = new ProposalsBench()
    bench.propose(1)
    bench.proposals.refuse(new Condition('shutting_down', 'This node is stopping'))
    const request = { command: new Uint8Array(10), spaceRefusal: null }
    t.throws(() => bench.proposals.propose(request, 0), { code: 'shutting_down' })
    t.equal(bench.proposals.pendingCount, 1)
    bench.proposals.onApplied(1, new Uint8Array(0))
    t.equal(await bench.end(1), true)
  })
})

t.test('Proposals of a leader', async (t) => {
  t.test('offers every due proposal, and an accepted one only once in a term', async (t) => {
    const bench = new ProposalsBench()
    bench.see({ leaderView: { term: 1, leaderId: 'n1', isLeader: true } })
    bench.propose(6)
    bench.see({ leaderView: { term: 2, leaderId: 'n1', isLeader: true } })
    bench.proposals.onLeaderView(bench.view.leaderView)
    t.strictSame(bench.proposals.dispatch(bench.view), [], 'the batcher still has them')
    bench.proposals.onOutcome(1, taken(2), bench.view)
    bench.proposals.onOutcome(2, REFUSED, bench.view)
    bench.see({ now: LIMITS.retryMinMs })
    const offers = bench.proposals.dispatch(bench.view)
    t.match(offers, [{ type: 'offer', proposals: [{ sequence: 2, ackedBelow: 1, need: 'growth' }] }])
  })

  t.test('ignores the outcome of a proposal that has ended', async (t) => {
    const bench = new ProposalsBench()
    bench.see({ leaderView: { term: 1, leaderId: 'n1', isLeader: true } })
    bench.propose(1)
    bench.proposals.onApplied(1, new Uint8Array(0))
    bench.proposals.onOutcome(1, REFUSED, bench.view)
    bench.see({ now: LIMITS.retryMaxMs })
    t.strictSame(bench.proposals.dispatch(bench.view), [])
  })
})

t.test('a leader', async (t) => {
  t.test('bad_request: takes no proposal that a node makes in the name of another', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [client = '', other = ''] = world.followers
    const { incarnation, boot } = world.host(other)
    const proposal = { sequence: 100, ackedBelow: 0, command: command('append forged') }
    const body = encodeProposals([{ nodeId: other, incarnation, boot, ...proposal }])
    const { transport } = world.process(client)
    const outcome = world.run(transport.call(leader, PROPOSE_METHOD, { header: null, body }))
    await t.rejects(outcome, { code: 'bad_request' })
    await world.stopAll()
  })
})
