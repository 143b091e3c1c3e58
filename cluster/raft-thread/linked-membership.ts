/**
 * MembershipPort over the link. Rule: what it answers at once is the last that Raft said.
 */
import type {
  KnownMembers,
  MemberStatus,
  MembershipPort,
  NewcomerStatus,
  NodeId,
  NodeIdentity,
  PeerAddress,
  Place,
} from '../base/types.ts'
import type { Link } from './link.ts'
import type { Published, RaftCalls } from './raft-calls.ts'

export class LinkedMembership implements MembershipPort {
  readonly #link: Link<RaftCalls>
  readonly #said: () => Published

  constructor(link: Link<RaftCalls>, said: () => Published) {
    this.#link = link
    this.#said = said
  }

  get isJoining(): boolean {
    return this.#said().isJoining
  }

  get identity(): NodeIdentity {
    return this.#said().identity
  }

  get ownPlace(): Place | null {
    return this.#said().ownPlace
  }

  get stateLevel(): number {
    return this.#said().stateLevel
  }

  local(): MemberStatus {
    const { local } = this.#said()
    if (local === null) throw new Error('This node takes no part yet: its log is being repaired')
    return local
  }

  ask(nodeId: NodeId): Promise<MemberStatus | null> {
    return this.#link.call('askMember', nodeId)
  }

  async memberStatuses(): Promise<ReadonlyMap<NodeId, MemberStatus | null>> {
    return new Map(await this.#link.call('memberStatuses', null))
  }

  newcomer(nodeId: NodeId, address: PeerAddress, isWelcome: boolean): Promise<NewcomerStatus | string> {
    return this.#link.call('newcomer', { nodeId, address, isWelcome })
  }

  async change(
    { voters, learners }: { readonly voters: readonly NodeId[]; readonly learners: readonly NodeId[] },
    index: number,
  ): Promise<void> {
    await this.#link.call('change', { voters, learners, index })
  }

  async transfer(target: NodeId | null): Promise<void> {
    await this.#link.call('transfer', target)
  }

  async setMembers(known: KnownMembers, isJoining: boolean): Promise<void> {
    await this.#link.call('setMembers', { known, isJoining })
  }
}
