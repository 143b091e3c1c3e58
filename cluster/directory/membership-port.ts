/**
 * Questions and orders of the service about the members of the group.
 *
 * Owns: the answers of this node to the calls of other members, and updates of its directory. Knows nothing of: why a node joins or
 * leaves, phases, operations. Rule: it changes nothing by itself; an order is carried out at the leader or refused.
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

export interface ConfigurationPartsNeeded {
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
  /** Downloads that this node serves now. Absent: it counts none. */
  readonly downloads?: () => number
  readonly clock: Clock
  readonly logger: Logger
}

const INQUIRE_EVERY_MS = 1_000
/** While this node waits to join. Each call writes a log line at members that do not know its name yet. */
const WAITING_CALL_EVERY_MS = 30_000
/** While this node has no leader: a learner that was removed meanwhile asks for no votes, and would not learn of its removal. */
const LEADERLESS_CALL_EVERY_MS = 2_000

export class DirectoryService implements MembershipPort {
  readonly #parts: ConfigurationPartsNeeded
  /** Members whose last answer was that the other members have rejected them. */
  readonly #expelled = new Map<NodeId, Expulsion>()
  #nextInquiry = 0
  #nextCall: Timer | null = null

  /** Registers its calls, so it must run before the transport starts. */
  constructor(parts: ConfigurationPartsNeeded) {
    this.#parts = parts
    const { transport, node, directory, logger } = parts
    if (directory.isJoining)
      logger.info({ ...this.identity, members: directory.names }, 'node waits to join the cluster')
    transport.handle(MEMBER_METHODS.status, async () => {
      if (node.isRepairing) throw new PeerRefusedError('mending', 'This node is repairing its log')
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

  /**
   * Starts to call the other members, every few seconds, while this node waits to join or has no leader: their answers show whether
   * they still accept it. The transport must have started.
   */
  start(): void {
    const { clock, directory } = this.#parts
    if (directory.expelled !== null) return
    if (directory.isJoining || this.#isLeaderless()) this.#callAll()
    const everyMs = directory.isJoining ? WAITING_CALL_EVERY_MS : LEADERLESS_CALL_EVERY_MS
    this.#nextCall = clock.after(everyMs, () => this.start(), true)
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

  get stateLevel(): number {
    return this.#parts.node.featureLevels.state
  }

  local(): MemberStatus {
    const { node, directory, incarnation, version, heartbeatMs, transport, clock, downloads } = this.#parts
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
    const silences = directory.names.flatMap((peer) => {
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
      heardMs: Object.fromEntries(silences),
      recoveryEpoch: node.peerStatus().recoveryEpoch,
      doubts: [
        ...suspects.map((suspect) => ({ nodeId: suspect.nodeId, what: suspect.doubt })),
        ...[...this.#expelled].map(([expelled, what]) => ({ nodeId: expelled, what })),
      ],
      ...(downloads === undefined ? {} : { downloads: downloads() }),
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
      this.#recordExpulsion(nodeId, err)
      logger.debug({ peer: nodeId, err }, 'no status from this member')
      return null
    }
  }

  #recordExpulsion(nodeId: NodeId, error: unknown): void {
    const isExpelled = error instanceof PeerRefusedError && error.code === 'expelled'
    const expulsion = isExpelled ? expulsionIn(nodeId, error.message) : null
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
    return directory.withAddress(nodeId, address, async () => {
      try {
        const status = await greet(transport, nodeId, isWelcome ? this.#known() : null)
        // The data directory that owns the name, according to the entries that this node has applied.
        return { ...status, registered: this.#parts.node.registered(nodeId)?.incarnation ?? null }
      } catch (error) {
        if (error instanceof PeerRefusedError) return error.code
        if (error instanceof PeerUnreachableError) return this.#noteUnreachable(nodeId, address, error)
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
    if (leaderId === null) throw new Condition('no_leader', 'Cannot transfer leadership: there is no leader')
    if (leaderId === directory.nodeId) return node.transferLeadership(target)
    try {
      await askTransfer(transport, leaderId, target)
    } catch (cause) {
      throw new Condition(
        'leader_not_ready',
        `Cannot transfer leadership: ${leaderId} did not hand it over`,
        {
          cause,
        },
      )
    }
  }

  async setMembers(known: KnownMembers, isJoining: boolean): Promise<void> {
    const { directory, file, logger } = this.#parts
    if (!directory.replace(known, isJoining)) return
    const { index, departed } = known
    logger.info(
      { index, members: directory.names, departed, isJoining: directory.isJoining },
      'members updated',
    )
    await file.write(directory.present)
  }

  /** The other members reject this data directory for good: records that, so that the next process on it knows from its start. */
  onExpelled(code: string): void {
    const { directory, file, logger } = this.#parts
    directory.expel(code)
    file
      .write(directory.present)
      .catch((err: unknown) => logger.error({ code, err }, 'rejection by the members not recorded'))
  }

  /**
   * A node that this one does not know sends messages: it may have joined while this node was down, and may lead by now. Only the
   * other members know. Asks all of them, at most once in INQUIRE_EVERY_MS.
   */
  onUnknownPeer(): void {
    const { clock } = this.#parts
    if (this.#nextInquiry > clock.now()) return
    this.#nextInquiry = clock.now() + INQUIRE_EVERY_MS
    this.#callAll()
  }

  /** The rule of the transport: without TLS, nodes connect only over loopback. */
  #isUsable(address: PeerAddress): boolean {
    try {
      parsePeerAddress(address)
      if (!this.#parts.hasTls) requireLoopback(address)
      return true
    } catch {
      return false
    }
  }

  #isLeaderless(): boolean {
    const { node } = this.#parts
    return !node.isRepairing && node.status().leaderId === null
  }

  #callAll(): void {
    const { directory } = this.#parts
    for (const peer of directory.names) if (peer !== directory.nodeId) this.#call(peer)
  }

  #call(peer: NodeId): void {
    const { node, logger } = this.#parts
    this.#inquire(peer).catch((err: unknown) => {
      logger.debug({ peer, err }, 'no list of members from this member')
      if (err instanceof PeerRefusedError) node.onRefused(peer, err.code)
    })
  }

  async #inquire(peer: NodeId): Promise<void> {
    await this.setMembers(await askDirectory(this.#parts.transport, peer), true)
  }

  /** Logs the reason as well: the other side sees a connection that ends, and not why. */
  #noteUnreachable(nodeId: NodeId, address: PeerAddress, err: PeerUnreachableError): string {
    this.#parts.logger.info({ peer: nodeId, address, err }, 'new node does not answer')
    return reasonOf(err)
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

/** The reason why there was no answer, as far as the connection shows it: a certificate of another node is reported as such. */
function reasonOf(error: PeerUnreachableError): string {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof CertificateNameError) return cause.code
    const advice = handshakeAdvice(codeOf(cause))
    if (advice !== null) return `unreachable: ${advice.reason}; ${advice.hint}`
  }
  return 'unreachable'
}
