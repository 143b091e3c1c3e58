/**
 * The members of the group as this node knows them now: names, addresses, zones, weights, and the names that left forever.
 *
 * Owns: the live views that other components read, and whether this node still waits to join. Knows nothing of: votes, phases, files.
 * Rule: the views stay the same objects and change in place, all at once; a copy of them goes out of date.
 */
import type { Configuration } from '../raft/types.ts'
import type { PeerClaims, PeerObjection } from '../transport/peer-identity.ts'
import type { KnownMembers, Member, NodeId, PeerAddress, Place } from '../base/types.ts'

/** By node: its place in the configuration of an operator. */
export type Places = Readonly<Record<NodeId, Place>>

export interface Membership extends KnownMembers {
  /** This node is not a member yet. */
  readonly isJoining: boolean
  /** As configured at the last start: a difference at the next start is a change by the operator. */
  readonly configured: Places
  /** The places that an operator changed so, until the members row has the same. */
  readonly moved: Places
  /** In force until the log has another one. Never changes in the life of a data directory. */
  readonly first: Configuration
  /** The code with which the other members have rejected this data directory for good. Absent: they have not. */
  readonly expelled?: string | null
}

export class Directory {
  readonly nodeId: NodeId
  readonly first: Configuration
  readonly #members: Member[] = []
  readonly #addresses = new Map<NodeId, PeerAddress>()
  readonly #departed = new Set<NodeId>()
  /** Nodes that are called before they are members: as many as there are calls under way. */
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

  /** Null: this node is a member, or waits to join. Otherwise the code with which the members reject it. */
  get expelled(): string | null {
    return this.#departed.has(this.nodeId) ? 'member_removed' : this.#expelled
  }

  /** Records that other members have rejected this node; a rejection is final. */
  expel(code: string): void {
    this.#expelled ??= code
  }

  /** True if anything was new. A replayed state may have members from before the present leader joined: an older index changes nothing. */
  replace({ members, departed, index }: KnownMembers, isJoining: boolean): boolean {
    const isNews = index > this.#index
    const hasJoined = this.#isJoining && !isJoining
    if (hasJoined) this.#isJoining = false
    if (isNews) {
      this.#index = index
      this.#fill(members, departed)
    }
    return isNews || hasJoined
  }

  /** This node's own place, if an operator changed it and no other member knows it yet. */
  get ownPlace(): Place | null {
    return this.#moved[this.nodeId] ?? null
  }

  /** True if messages of this node are read at all. A waiting node accepts the first member that proves the cluster's name. */
  knows(nodeId: NodeId): boolean {
    return this.#isJoining || this.#addresses.has(nodeId) || this.#departed.has(nodeId)
  }

  objectionTo({ nodeId }: PeerClaims): PeerObjection | null {
    if (!this.#departed.has(nodeId)) return null
    return {
      code: 'member_removed',
      message: `Node ${nodeId} was removed from this cluster, or declared lost, for good`,
    }
  }

  /** Maps the name to this address until the call has ended; a member keeps its own address. */
  async withAddress<T>(nodeId: NodeId, address: PeerAddress, call: () => Promise<T>): Promise<T> {
    const isGuest = !this.#addresses.has(nodeId)
    if (isGuest) {
      this.#guests.set(nodeId, address)
      this.#addresses.set(nodeId, address)
    }
    try {
      return await call()
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

/** A leaving member has weight 0, regardless of its configured weight. What the group holds over a file holds over a newer file. */
function placedAs(member: Member, place: Place | undefined): Member {
  if (place === undefined) return member
  if (member.file !== undefined) return { ...member, peerAddress: place.peerAddress }
  return { ...member, ...place, weight: member.weight === 0 ? 0 : place.weight }
}

function isPlaced(member: Member, place: Place): boolean {
  const { file } = member
  if (file !== undefined)
    return (
      member.peerAddress === place.peerAddress && file.zone === place.zone && file.weight === place.weight
    )
  const { peerAddress, zone, weight } = placedAs(member, place)
  return member.peerAddress === peerAddress && member.zone === zone && member.weight === weight
}
