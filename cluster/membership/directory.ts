/**
 * Who belongs to the group as this node knows it now: names, addresses, zones, weights, and the names that left for ever.
 *
 * Owns: the live views that the other rooms read, and whether this node still waits to be taken in. Knows nothing of: votes, phases,
 * files. Rule: the views are the same objects for ever and change in place, all at once; whoever keeps a copy keeps an old truth.
 */
import type { Configuration } from '../raft/types.ts'
import type { PeerClaims, PeerObjection } from '../transport/peer-identity.ts'
import type { KnownMembers, Member, NodeId, PeerAddress } from '../types.ts'

export interface Membership extends KnownMembers {
  /** This node has not been made a member yet. */
  readonly isJoining: boolean
  /** In force until the log says otherwise. Never changes in the life of a data directory. */
  readonly first: Configuration
}

export class Directory {
  readonly nodeId: NodeId
  readonly first: Configuration
  readonly #members: Member[] = []
  readonly #addresses = new Map<NodeId, PeerAddress>()
  readonly #departed = new Set<NodeId>()
  /** Nodes that are asked before they belong: as many as there are questions under way. */
  readonly #guests = new Map<NodeId, PeerAddress>()
  #isJoining: boolean
  #index: number

  constructor(nodeId: NodeId, { members, departed, index, isJoining, first }: Membership) {
    this.nodeId = nodeId
    this.first = first
    this.#isJoining = isJoining
    this.#index = index
    this.#fill(members, departed)
  }

  get members(): readonly Member[] {
    return this.#members
  }

  get names(): readonly NodeId[] {
    return this.#members.map(({ nodeId }) => nodeId)
  }

  get addresses(): ReadonlyMap<NodeId, PeerAddress> {
    return this.#addresses
  }

  get isJoining(): boolean {
    return this.#isJoining
  }

  get present(): Membership {
    const { first } = this
    return {
      members: [...this.#members],
      departed: [...this.#departed],
      index: this.#index,
      isJoining: this.#isJoining,
      first: {
        voters: [...first.voters],
        learners: [...first.learners],
        outgoing: [...first.outgoing],
      },
    }
  }

  /** Null: this node belongs, or waits to. */
  get farewell(): string | null {
    if (!this.#departed.has(this.nodeId)) return null
    return `Node ${this.nodeId} was removed from the cluster: stop it; what it holds is not needed any more`
  }

  /** Whether anything of it is new. A state that is being replayed tells of times when a leader of today was no member yet. */
  replace({ members, departed, index }: KnownMembers, isJoining: boolean): boolean {
    const isNews = index > this.#index
    const isTakenIn = this.#isJoining && !isJoining
    if (isTakenIn) this.#isJoining = false
    if (isNews) {
      this.#index = index
      this.#fill(members, departed)
    }
    return isNews || isTakenIn
  }

  /** Whose words are looked at at all. A node that waits is taken in by whoever comes first and proves the cluster's name. */
  knows(nodeId: NodeId): boolean {
    return this.#isJoining || this.#addresses.has(nodeId) || this.#departed.has(nodeId)
  }

  objectionTo({ nodeId }: PeerClaims): PeerObjection | null {
    if (!this.#departed.has(nodeId)) return null
    return { code: 'member_tombstoned', message: `Node ${nodeId} was removed from this cluster for ever` }
  }

  /** The name leads to this address until the question has ended; a member keeps its own. */
  async asking<T>(nodeId: NodeId, address: PeerAddress, question: () => Promise<T>): Promise<T> {
    const isGuest = !this.#addresses.has(nodeId)
    if (isGuest) {
      this.#guests.set(nodeId, address)
      this.#addresses.set(nodeId, address)
    }
    try {
      return await question()
    } finally {
      const isStillGuest = isGuest && this.#guests.delete(nodeId)
      if (isStillGuest && !this.#members.some((member) => member.nodeId === nodeId))
        this.#addresses.delete(nodeId)
    }
  }

  #fill(members: readonly Member[], departed: readonly NodeId[]): void {
    this.#members.splice(0, this.#members.length, ...members)
    this.#departed.clear()
    for (const nodeId of departed) this.#departed.add(nodeId)
    this.#addresses.clear()
    for (const [nodeId, address] of this.#guests) this.#addresses.set(nodeId, address)
    for (const { nodeId, peerAddress } of members) this.#addresses.set(nodeId, peerAddress)
  }
}
