/**
 * Who belongs to the group as this node knows it now: names, addresses, zones, weights, and the names that left for ever.
 *
 * Owns: the live views that the other rooms read, and whether this node still waits to be taken in. Knows nothing of: votes, phases,
 * files. Rule: the views are the same objects for ever and change in place, all at once; whoever keeps a copy keeps an old truth.
 */
import type { Configuration } from '../raft/types.ts'
import type { PeerClaims, PeerObjection } from '../transport/peer-identity.ts'
import type { KnownMembers, Member, NodeId, PeerAddress, Place } from '../base/types.ts'

/** By node: what an operator says of it in the configuration. */
export type Places = Readonly<Record<NodeId, Place>>

export interface Membership extends KnownMembers {
  /** This node has not been made a member yet. */
  readonly isJoining: boolean
  /** As they were configured at the last start: what differs at the next was changed by the operator. */
  readonly configured: Places
  /** What an operator changed so, until the members row says the same. */
  readonly moved: Places
  /** In force until the log says otherwise. Never changes in the life of a data directory. */
  readonly first: Configuration
  /** The code with which the others have said that they never hear this data directory again. Absent: nobody has. */
  readonly expelled?: string | null
}

export class Directory {
  readonly nodeId: NodeId
  readonly first: Configuration
  readonly #members: Member[] = []
  readonly #addresses = new Map<NodeId, PeerAddress>()
  readonly #departed = new Set<NodeId>()
  /** Nodes that are asked before they belong: as many as there are questions under way. */
  readonly #guests = new Map<NodeId, PeerAddress>()
  readonly #configured: Places
  #moved: Places
  #isJoining: boolean
  #index: number
  #expelled: string | null

  constructor(nodeId: NodeId, membership: Membership) {
    const { members, departed, index, isJoining, first, configured, moved } = membership
    this.nodeId = nodeId
    this.first = first
    this.#configured = configured
    this.#moved = moved
    this.#isJoining = isJoining
    this.#index = index
    this.#expelled = membership.expelled ?? null
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
      configured: this.#configured,
      moved: this.#moved,
      first: {
        voters: [...first.voters],
        learners: [...first.learners],
        outgoing: [...first.outgoing],
      },
      expelled: this.#expelled,
    }
  }

  /** Null: this node belongs, or waits to. Otherwise why nobody hears it any more, as a code. */
  get expelled(): string | null {
    return this.#departed.has(this.nodeId) ? 'member_removed' : this.#expelled
  }

  /** Others have said so; it is never taken back. */
  expel(code: string): void {
    this.#expelled ??= code
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

  /** What an operator has changed of this node itself, and nobody else knows yet. */
  get ownPlace(): Place | null {
    return this.#moved[this.nodeId] ?? null
  }

  /** Whose words are looked at at all. A node that waits is taken in by whoever comes first and proves the cluster's name. */
  knows(nodeId: NodeId): boolean {
    return this.#isJoining || this.#addresses.has(nodeId) || this.#departed.has(nodeId)
  }

  objectionTo({ nodeId }: PeerClaims): PeerObjection | null {
    if (!this.#departed.has(nodeId)) return null
    return {
      code: 'member_removed',
      message: `Node ${nodeId} was removed from this cluster, or called lost, for ever`,
    }
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
    const moved = members.flatMap((member) => {
      const place = this.#moved[member.nodeId]
      return place === undefined || isPlaced(member, place) ? [] : [[member.nodeId, place] as const]
    })
    this.#moved = Object.fromEntries(moved)
    const placed = members.map((member) => placedAs(member, this.#moved[member.nodeId]))
    this.#members.splice(0, this.#members.length, ...placed)
    this.#departed.clear()
    for (const nodeId of departed) this.#departed.add(nodeId)
    this.#addresses.clear()
    for (const [nodeId, address] of this.#guests) this.#addresses.set(nodeId, address)
    for (const { nodeId, peerAddress } of placed) this.#addresses.set(nodeId, peerAddress)
  }
}

/** A member that leaves has weight 0 whatever was configured. */
function placedAs(member: Member, place: Place | undefined): Member {
  if (place === undefined) return member
  return { ...member, ...place, weight: member.weight === 0 ? 0 : place.weight }
}

function isPlaced(member: Member, place: Place): boolean {
  const { peerAddress, zone, weight } = placedAs(member, place)
  return member.peerAddress === peerAddress && member.zone === zone && member.weight === weight
}
