/**
 * Watches a whole test network and throws at the first broken promise.
 *
 * Owns: what is known of all members at once: leaders and votes per term, committed entries, reads under way.
 * Knows nothing of: why something happened. It judges what leaves a member against what that member's disk holds.
 */
import { decodeConfiguration } from '../../cluster/raft/configuration.ts'
import type {
  Configuration,
  Entry,
  LogIndex,
  Message,
  NodeId,
  RequestVoteResponse,
  Term,
} from '../../cluster/raft/types.ts'
import type { TestNode } from './test-node.ts'

export class Checker {
  readonly #nodes: ReadonlyMap<NodeId, TestNode>
  readonly #leaders = new Map<Term, NodeId>()
  readonly #votes = new Map<string, NodeId>()
  /** Key of every entry that some leader has counted as committed. */
  readonly #committed: string[] = []
  readonly #committedTerms = new Set<Term>()
  #handedIndex: LogIndex = 0
  /** Members that led at the end of their last step. */
  readonly #leading = new Set<NodeId>()
  readonly #terms = new Map<NodeId, Term>()
  readonly #commits = new Map<NodeId, LogIndex>()
  /** Read -> the index that it must at least see. */
  readonly #reads = new Map<number, LogIndex>()

  constructor(nodes: ReadonlyMap<NodeId, TestNode>) {
    this.#nodes = nodes
  }

  /** Highest index that was ever handed to a state machine: only such an index can have been acknowledged. */
  get committedIndex(): LogIndex {
    return this.#handedIndex
  }

  get openReads(): number {
    return this.#reads.size
  }

  becameLeader(node: TestNode, term: Term): void {
    const other = this.#leaders.get(term)
    check(other === undefined || other === node.id, `${other ?? ''} and ${node.id} lead term ${term}`)
    this.#leaders.set(term, node.id)
    this.#voted(node, term, node.id)
    for (let index = node.log.base.index + 1; index <= this.#committed.length; index += 1) {
      check(
        this.#isCommitted(index, node.log.entryAt(index)),
        `leader ${node.id} does not have committed entry ${index}`,
      )
    }
  }

  /** Right after a step, before anything of it takes effect: what a leader commits must be durable on its quorum. */
  committing(node: TestNode): void {
    const status = node.raft?.status()
    // A leader that commits its own removal is a follower at the end of the same step.
    if (status === undefined || (status.role !== 'leader' && !this.#leading.has(node.id))) return
    this.#configurationFollowsOwnCommit(node, status.term)
    while (this.#committed.length < status.commitIndex) {
      const index = this.#committed.length + 1
      const entry = node.log.entryAt(index)
      check(entry !== null, `leader ${node.id} commits ${index}, which it does not hold`)
      check(this.#isOnQuorum(status.configuration, entry), `entry ${index} is committed without a quorum`)
      this.#committed.push(keyOf(entry))
      this.#committedTerms.add(entry.term)
    }
  }

  /** Or the majorities of two leaders' configurations need not meet [raft-dev 2015]. */
  #configurationFollowsOwnCommit(node: TestNode, term: Term): void {
    const last = node.log.entries.at(-1)
    if (last?.kind !== 'configuration' || last.term !== term) return
    check(
      this.#committedTerms.has(term),
      `${node.id} changes the members before it has committed in its term`,
    )
  }

  leaving(node: TestNode, message: Message): void {
    const { hardState } = node.disk
    switch (message.type) {
      case 'RequestVoteResponse':
        if (message.granted && !message.preVote) this.#voteLeaves(node, message)
        break
      case 'RequestVote':
        if (message.preVote) break
        check(
          hardState.currentTerm === message.term && hardState.votedFor === node.id,
          'asks before its vote is durable',
        )
        check(node.disk.lastIndex >= message.lastLogIndex, 'asks for votes in the name of a log it may lose')
        this.#voted(node, message.term, node.id)
        break
      case 'AppendEntriesResponse':
        check(hardState.currentTerm >= message.term, 'answers in a term that is not durable')
        if (message.success)
          check(node.durableIndex >= message.index, `${node.id} acks ${message.index} before its disk`)
        break
      case 'InstallSnapshotResponse':
        check(node.durableIndex >= message.index, 'acknowledges a snapshot that it may lose')
        break
      default:
    }
  }

  handedOut(node: TestNode, entries: readonly Entry[]): void {
    for (const entry of entries) {
      check(
        entry.index === node.handedIndex + 1,
        `${node.id} hands out ${entry.index} after ${node.handedIndex}`,
      )
      check(node.disk.lastIndex >= entry.index, `${node.id} applies ${entry.index} before it is durable`)
      node.handedIndex = entry.index
      check(
        entry.index <= this.#committed.length,
        `${node.id} applies ${entry.index}, which no leader committed`,
      )
      check(this.#isCommitted(entry.index, entry), `${node.id} applies another entry at ${entry.index}`)
      this.#handedIndex = Math.max(this.#handedIndex, entry.index)
    }
  }

  /** After every input: no value that only rises may fall. */
  stepped(node: TestNode): void {
    if (node.raft === null) return
    const { role, term, commitIndex } = node.raft.status()
    if (role === 'leader') this.#leading.add(node.id)
    else this.#leading.delete(node.id)
    check(term >= (this.#terms.get(node.id) ?? 0), `the term of ${node.id} falls`)
    check(commitIndex >= (this.#commits.get(node.id) ?? 0), `the commit index of ${node.id} falls`)
    this.#terms.set(node.id, term)
    this.#commits.set(node.id, commitIndex)
  }

  crashed(node: TestNode): void {
    this.#terms.set(node.id, node.disk.hardState.currentTerm)
    this.#commits.delete(node.id)
    this.#leading.delete(node.id)
    for (const readId of node.openReads) this.#reads.delete(readId)
    node.openReads.clear()
  }

  /** The disk of the member is an older one: rising values start again there. */
  restored(node: TestNode): void {
    this.#terms.set(node.id, node.disk.hardState.currentTerm)
    this.#commits.delete(node.id)
  }

  readBegins(node: TestNode, readId: number): void {
    this.#reads.set(readId, this.committedIndex)
    node.openReads.add(readId)
  }

  /** `index` null: refused. */
  readEnds(node: TestNode, readId: number, index: LogIndex | null): void {
    const floor = this.#reads.get(readId)
    check(floor !== undefined && node.openReads.delete(readId), `read ${readId} is answered twice`)
    this.#reads.delete(readId)
    check(index === null || index >= floor, `read ${readId} sees ${index ?? ''}, acknowledged was ${floor}`)
  }

  /** Log matching [thesis 3.5]: equal (index, term) means equal logs up to there. */
  compareLogs(): void {
    const nodes = [...this.#nodes.values()]
    for (const a of nodes) {
      for (const b of nodes) if (a.id < b.id) compareLogs(a, b)
      compareConfiguration(a)
    }
  }

  #voteLeaves(node: TestNode, message: RequestVoteResponse): void {
    const { hardState } = node.disk
    check(
      hardState.currentTerm === message.term && hardState.votedFor === message.to,
      'votes before it is durable',
    )
    this.#voted(node, message.term, message.to)
  }

  /** One vote per term, over all lives of a member on one disk. */
  #voted(node: TestNode, term: Term, candidate: NodeId): void {
    const vote = `${node.id}/${node.former.length}/${term}`
    const before = this.#votes.get(vote)
    check(before === undefined || before === candidate, `${node.id} votes twice in term ${term}`)
    this.#votes.set(vote, candidate)
  }

  #isCommitted(index: LogIndex, entry: Entry | null): boolean {
    return entry !== null && this.#committed[index - 1] === keyOf(entry)
  }

  #isOnQuorum({ voters, outgoing }: Configuration, entry: Entry): boolean {
    return [voters, outgoing].every((half) => {
      const holders = half.filter((nodeId) => this.#nodes.get(nodeId)?.holds(entry) === true)
      return half.length === 0 || holders.length > half.length / 2
    })
  }
}

/** The latest configuration in the log is in force, committed or not [thesis 4.1]. */
function compareConfiguration(node: TestNode): void {
  if (node.raft === null || node.fetch !== null) return
  const { configuration, configurationIndex } = node.raft.status()
  const latest = node.log.entries.findLast((entry) => entry.kind === 'configuration')
  const inLog = latest !== undefined && latest.index > node.machine.index
  const expected = inLog ? decodeConfiguration(latest.data) : node.machine.configuration
  const isInForce = JSON.stringify(configuration) === JSON.stringify(expected)
  check(isInForce, `${node.id} is not in the configuration of its log, but in that of ${configurationIndex}`)
}

function compareLogs(a: TestNode, b: TestNode): void {
  const from = Math.max(a.log.base.index, b.log.base.index) + 1
  let mustEqual = false
  for (let index = Math.min(a.log.lastIndex, b.log.lastIndex); index >= from; index -= 1) {
    const [left, right] = [a.log.entryAt(index), b.log.entryAt(index)]
    if (left?.term === right?.term) mustEqual = true
    const isEqual = left !== null && right !== null && keyOf(left) === keyOf(right)
    check(!mustEqual || isEqual, `logs of ${a.id} and ${b.id} differ at ${index} below an equal entry`)
  }
}

export function keyOf(entry: Entry): string {
  return `${entry.term}:${entry.kind}:${entry.data.join('.')}`
}

export function check(condition: boolean, broken: string): asserts condition {
  if (!condition) throw new Error(`Safety broken: ${broken}`)
}
