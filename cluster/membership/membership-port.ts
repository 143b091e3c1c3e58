/**
 * What the service may ask and order about the members of the group.
 *
 * Owns: how this node answers the calls of the others, and the directory as it is told. Knows nothing of: why somebody joins or
 * leaves, phases, operations. Rule: it changes nothing by itself; an order is followed at the leader or refused.
 */
import { type Expulsion, expulsionIn } from '../node/base/expulsion.ts'
import type { Node } from '../node/node.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { CertificateNameError } from '../transport/certificate-identity.ts'
import { handshakeAdvice } from '../transport/handshake-advice.ts'
import { codeOf } from '../transport/handshake-refusals.ts'
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
  type NodeIdentity,
  type PeerAddress,
  type Place,
} from '../base/types.ts'
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
  readonly file: Pick<MemberFile, 'write'>
  readonly transport: Pick<Transport, 'call' | 'handle'> & {
    lastContact(peer: NodeId): number | null
    readonly fingerprint: string | null
  }
  /** host:port for nodes, as configured. */
  readonly listen: PeerAddress
  readonly incarnation: string
  readonly version: string
  readonly heartbeatMs: number
  readonly hasTls: boolean
  readonly clock: Clock
  readonly logger: Logger
}

const INQUIRE_EVERY_MS = 1_000
/** While it waits to be taken in. Those that do not know its name yet write a line each time. */
const WAITING_CALL_EVERY_MS = 30_000
/** While it hears no leader: a learner that was removed meanwhile asks for no votes, and would never be told. */
const LONELY_CALL_EVERY_MS = 2_000

export class MembershipRoom implements MembershipPort {
  readonly #parts: MembershipPartsNeeded
  /** Members that answered last that nobody hears them. */
  readonly #expelled = new Map<NodeId, Expulsion>()
  #nextInquiry = 0
  #nextCall: Timer | null = null

  /** Registers its calls, so it comes before the transport's start. */
  constructor(parts: MembershipPartsNeeded) {
    this.#parts = parts
    const { transport, node, directory, logger } = parts
    if (directory.isJoining)
      logger.info({ ...this.identity, hears: directory.names }, 'node waits to be taken in')
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
      const target = readTarget(header)
      try {
        await node.transferLeadership(target)
      } catch (cause) {
        if (!(cause instanceof Condition)) throw cause
        throw new PeerRefusedError(cause.code, cause.message)
      }
      return { header: null }
    })
  }

  /** A node to which nobody speaks asks the others now and then whether they would hear it. The transport has started. */
  start(): void {
    const { clock, directory } = this.#parts
    if (directory.expelled !== null) return
    if (directory.isJoining || this.#isLonely()) this.#callOnAll()
    const everyMs = directory.isJoining ? WAITING_CALL_EVERY_MS : LONELY_CALL_EVERY_MS
    this.#nextCall = clock.after(everyMs, () => this.start())
  }

  stop(): void {
    this.#nextCall?.cancel()
  }

  get isJoining(): boolean {
    return this.#parts.directory.isJoining
  }

  get identity(): NodeIdentity {
    const { directory, incarnation, listen, transport } = this.#parts
    const { nodeId } = directory
    return { nodeId, incarnation, peerAddress: listen, fingerprint: transport.fingerprint }
  }

  get ownPlace(): Place | null {
    return this.#parts.directory.ownPlace
  }

  local(): MemberStatus {
    const { node, directory, incarnation, version, heartbeatMs, transport, clock } = this.#parts
    const {
      term,
      leaderId,
      role,
      commitIndex,
      appliedIndex,
      configuration,
      configurationIndex,
      peers,
      suspects,
    } = node.status()
    const levels = node.featureLevels
    const now = clock.now()
    const heard = directory.names.flatMap((peer) => {
      const last = transport.lastContact(peer)
      return last === null ? [] : [[peer, Math.max(0, now - last)] as const]
    })
    return {
      nodeId: directory.nodeId,
      incarnation,
      version,
      featureLevel: levels.known,
      stateLevel: levels.state,
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
      doubts: [
        ...suspects.map((suspect) => ({ nodeId: suspect.nodeId, what: suspect.doubt })),
        ...[...this.#expelled].map(([expelled, what]) => ({ nodeId: expelled, what })),
      ],
      checksums: node.checksums(),
    }
  }

  async ask(nodeId: NodeId): Promise<MemberStatus | null> {
    const { directory, transport, logger } = this.#parts
    if (nodeId === directory.nodeId) return this.local()
    try {
      const status = await askStatus(transport, nodeId)
      this.#expelled.delete(nodeId)
      return status
    } catch (err) {
      this.#noteExpelled(nodeId, err)
      logger.debug({ peer: nodeId, err }, 'member does not say how it stands')
      return null
    }
  }

  #noteExpelled(nodeId: NodeId, error: unknown): void {
    const isSaid = error instanceof PeerRefusedError && error.code === 'expelled'
    const expulsion = isSaid ? expulsionIn(nodeId, error.message) : null
    if (expulsion === null) this.#expelled.delete(nodeId)
    else this.#expelled.set(nodeId, expulsion)
  }

  async memberStatuses(): Promise<ReadonlyMap<NodeId, MemberStatus | null>> {
    const { names } = this.#parts.directory
    return new Map(await Promise.all(names.map(async (name) => [name, await this.ask(name)] as const)))
  }

  newcomer(nodeId: NodeId, address: PeerAddress, isWelcome: boolean): Promise<NewcomerStatus | string> {
    const { directory, transport } = this.#parts
    if (!this.#isUsable(address)) return Promise.resolve('unusable_address')
    return directory.asking(nodeId, address, async () => {
      try {
        const said = await greet(transport, nodeId, isWelcome ? this.#known() : null)
        // The data directory that owns the name, as far as this node has applied.
        return { ...said, registered: this.#parts.node.registered(nodeId)?.incarnation ?? null }
      } catch (error) {
        if (error instanceof PeerRefusedError) return error.code
        if (error instanceof PeerUnreachableError) return this.#silence(nodeId, address, error)
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

  /** The others never hear this data directory again: the next process on it is to know that from its beginning. */
  onExpelled(code: string): void {
    const { directory, file, logger } = this.#parts
    directory.expel(code)
    file.write(directory.present).catch((err: unknown) => logger.error({ code, err }, 'not written down'))
  }

  /**
   * Somebody speaks of whom this node has not heard: while it was away somebody may have joined, and may lead by now. Then only the
   * others can tell. Asks all of them, once in a while.
   */
  onStranger(): void {
    const { clock } = this.#parts
    if (this.#nextInquiry > clock.now()) return
    this.#nextInquiry = clock.now() + INQUIRE_EVERY_MS
    this.#callOnAll()
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

  #isLonely(): boolean {
    const { node } = this.#parts
    return !node.isMending && node.status().leaderId === null
  }

  #callOnAll(): void {
    const { directory } = this.#parts
    for (const peer of directory.names) if (peer !== directory.nodeId) this.#callOn(peer)
  }

  #callOn(peer: NodeId): void {
    const { node, logger } = this.#parts
    this.#inquire(peer).catch((err: unknown) => {
      logger.debug({ peer, err }, 'members not told')
      if (err instanceof PeerRefusedError) node.onRefused(peer, err.code)
    })
  }

  async #inquire(peer: NodeId): Promise<void> {
    await this.setMembers(await askDirectory(this.#parts.transport, peer), true)
  }

  /** Said in the log as well: the other side sees a connection that ends, and not why. */
  #silence(nodeId: NodeId, address: PeerAddress, err: PeerUnreachableError): string {
    this.#parts.logger.info({ peer: nodeId, address, err }, 'new node does not answer')
    return silenceOf(err)
  }

  #known(): KnownMembers {
    const { members, departed, index } = this.#parts.directory.present
    return { members, departed, index }
  }

  #newcomer(): NewcomerStatus {
    const { node, directory, incarnation, version } = this.#parts
    const { nodeId, isJoining } = directory
    return { nodeId, incarnation, isJoining, featureLevel: node.featureLevels.known, version }
  }
}

/** Why nobody answered, as far as the connection tells: a certificate of somebody else is more than silence. */
function silenceOf(error: PeerUnreachableError): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof CertificateNameError) return cause.code
    const advice = handshakeAdvice(codeOf(cause))
    if (advice !== null) return `unreachable: ${advice.reason}; ${advice.hint}`
  }
  return 'unreachable'
}
