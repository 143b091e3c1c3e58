/**
 * What the service may ask and order about the members of the group.
 *
 * Owns: how this node answers the calls of the others, and the directory as it is told. Knows nothing of: why somebody joins or
 * leaves, phases, operations. Rule: it changes nothing by itself; an order is followed at the leader or refused.
 */
import type { Node } from '../node/node.ts'
import { FEATURE_LEVEL } from '../node/feature-level.ts'
import type { Clock } from '../node/clock.ts'
import { parsePeerAddress, requireLoopback } from '../transport/peer-address.ts'
import { PeerRefusedError, PeerUnreachableError, type Transport } from '../transport/transport.ts'
import {
  Condition,
  type KnownMembers,
  type Logger,
  type MemberStatus,
  type MembershipPort,
  type NewcomerStatus,
  type NodeId,
  type PeerAddress,
  type Place,
} from '../types.ts'
import type { Directory } from './directory.ts'
import {
  askDirectory,
  askStatus,
  askTransfer,
  greet,
  MEMBER_METHODS,
  readKnown,
  readTarget,
} from './member-calls.ts'
import type { MemberFile } from './member-file.ts'

export interface MembershipPartsNeeded {
  readonly node: Node
  readonly directory: Directory
  readonly file: MemberFile
  readonly transport: Pick<Transport, 'call' | 'handle'> & { lastContact(peer: NodeId): number | null }
  readonly incarnation: string
  readonly version: string
  readonly heartbeatMs: number
  readonly hasTls: boolean
  readonly clock: Clock
  readonly logger: Logger
}

const INQUIRE_EVERY_MS = 1_000

export class MembershipRoom implements MembershipPort {
  readonly #parts: MembershipPartsNeeded
  #nextInquiry = 0

  /** Registers its calls, so it comes before the transport's start. */
  constructor(parts: MembershipPartsNeeded) {
    this.#parts = parts
    const { transport, node, directory, incarnation, logger } = parts
    if (directory.isJoining) logger.info({ incarnation, hears: directory.names }, 'node waits to be taken in')
    transport.handle(MEMBER_METHODS.status, async () => {
      if (node.isMending) throw new PeerRefusedError('mending', 'This node is being mended')
      return { header: this.local() }
    })
    transport.handle(MEMBER_METHODS.greet, async ({ header }) => {
      if (header !== null && parts.directory.isJoining) await this.setMembers(readKnown(header), true)
      return { header: this.#newcomer() }
    })
    transport.handle(MEMBER_METHODS.directory, async () => ({ header: this.#known() }))
    transport.handle(MEMBER_METHODS.transfer, async ({ header }) => {
      await node.transferLeadership(readTarget(header))
      return { header: null }
    })
  }

  get isJoining(): boolean {
    return this.#parts.directory.isJoining
  }

  get ownPlace(): Place | null {
    return this.#parts.directory.ownPlace
  }

  local(): MemberStatus {
    const { node, directory, incarnation, version, heartbeatMs, transport, clock } = this.#parts
    const { term, leaderId, role, commitIndex, appliedIndex, configuration, configurationIndex, peers } =
      node.status()
    const now = clock.now()
    const heard = directory.names.flatMap((peer) => {
      const last = transport.lastContact(peer)
      return last === null ? [] : [[peer, Math.max(0, now - last)] as const]
    })
    return {
      nodeId: directory.nodeId,
      incarnation,
      version,
      featureLevel: FEATURE_LEVEL,
      isJoining: directory.isJoining,
      isReady: node.readiness().ready,
      isLeader: role === 'leader',
      term,
      leaderId,
      commitIndex,
      appliedIndex,
      configuration,
      configurationIndex,
      peers: peers.map(({ nodeId, matchIndex, silentTicks, lagEntries, lagBytes }) => {
        return { nodeId, matchIndex, silentMs: silentTicks * heartbeatMs, lagEntries, lagBytes }
      }),
      heardMs: Object.fromEntries(heard),
      recoveryEpoch: node.standing().recoveryEpoch,
      checksums: node.checksums(),
    }
  }

  async ask(nodeId: NodeId): Promise<MemberStatus | null> {
    const { directory, transport, logger } = this.#parts
    if (nodeId === directory.nodeId) return this.local()
    try {
      return await askStatus(transport, nodeId)
    } catch (err) {
      logger.debug({ peer: nodeId, err }, 'member does not say how it stands')
      return null
    }
  }

  async survey(): Promise<ReadonlyMap<NodeId, MemberStatus | null>> {
    const { names } = this.#parts.directory
    return new Map(await Promise.all(names.map(async (name) => [name, await this.ask(name)] as const)))
  }

  newcomer(nodeId: NodeId, address: PeerAddress, isWelcome: boolean): Promise<NewcomerStatus | string> {
    const { directory, transport } = this.#parts
    if (!this.#isUsable(address)) return Promise.resolve('unusable_address')
    return directory.asking(nodeId, address, async () => {
      try {
        return await greet(transport, nodeId, isWelcome ? this.#known() : null)
      } catch (error) {
        if (error instanceof PeerRefusedError) return error.code
        if (error instanceof PeerUnreachableError) return 'unreachable'
        throw error
      }
    })
  }

  change(
    target: { readonly voters: readonly NodeId[]; readonly learners: readonly NodeId[] },
    index: number,
  ) {
    return this.#parts.node.changeConfiguration(target, index)
  }

  async transfer(target: NodeId | null): Promise<void> {
    const { node, directory, transport } = this.#parts
    const { leaderId } = node.status()
    if (leaderId === null) throw new Condition('no_leader', 'Cannot hand over the lead: nobody leads')
    if (leaderId === directory.nodeId) return node.transferLeadership(target)
    try {
      await askTransfer(transport, leaderId, target)
    } catch (cause) {
      throw new Condition('leader_not_ready', `Cannot hand over the lead: ${leaderId} did not do it`, {
        cause,
      })
    }
  }

  async setMembers(known: KnownMembers, isJoining: boolean): Promise<void> {
    const { directory, file, logger } = this.#parts
    if (!directory.replace(known, isJoining)) return
    const { index, departed } = known
    logger.info(
      { index, members: directory.names, departed, isJoining: directory.isJoining },
      'members known',
    )
    await file.write(directory.present)
  }

  /**
   * Somebody speaks of whom this node has not heard: while it was away somebody may have joined, and may lead by now. Then only the
   * others can tell. Asks all of them, once in a while.
   */
  onStranger(): void {
    const { clock, directory, logger } = this.#parts
    if (this.#nextInquiry > clock.now()) return
    this.#nextInquiry = clock.now() + INQUIRE_EVERY_MS
    for (const peer of directory.names.filter((name) => name !== directory.nodeId))
      this.#inquire(peer).catch((err: unknown) => logger.debug({ peer, err }, 'members not told'))
  }

  /** As the transport will find it: without TLS nodes speak on loopback alone. */
  #isUsable(address: PeerAddress): boolean {
    try {
      parsePeerAddress(address)
      if (!this.#parts.hasTls) requireLoopback(address)
      return true
    } catch {
      return false
    }
  }

  async #inquire(peer: NodeId): Promise<void> {
    await this.setMembers(await askDirectory(this.#parts.transport, peer), true)
  }

  #known(): KnownMembers {
    const { members, departed, index } = this.#parts.directory.present
    return { members, departed, index }
  }

  #newcomer(): NewcomerStatus {
    const { directory, incarnation, version } = this.#parts
    const { nodeId, isJoining } = directory
    return { nodeId, incarnation, isJoining, featureLevel: FEATURE_LEVEL, version }
  }
}
