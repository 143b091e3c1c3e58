/**
 * The half of the machine that agrees: Raft with its log, its timers, its peers and its members.
 *
 * Owns: these parts and the order in which they open and close. Knows nothing of: LevelDB, commands, blobs, repair, on which thread it
 * runs. Rule: it reaches the state through StatePort and nothing else.
 */
import { join } from 'node:path'
import { DISK_THRESHOLDS } from '../base/disk-level.ts'
import { systemFileOps } from '../base/file-ops.ts'
import type { EntryReport, EntryWanted } from '../base/peer-traces.ts'
import { randomNumbers } from '../base/random-numbers.ts'
import { SystemClock } from '../base/system-clock.ts'
import type {
  ClusterOptions,
  ClusterTimePort,
  Member,
  MemberStatus,
  MetricSample,
  ProposeOptions,
  Readiness,
} from '../base/types.ts'
import type { Directory, Membership } from '../directory/directory.ts'
import { openIdentity, type Identity } from '../directory/identity.ts'
import { MemberFile } from '../directory/member-file.ts'
import { DirectoryService } from '../directory/membership-port.ts'
import { openDirectory } from '../directory/open-directory.ts'
import { expulsionOf, expulsionText } from '../node/base/expulsion.ts'
import { DEFAULT_NODE_LIMITS } from '../node/base/limits.ts'
import { missingReserve, type RoomView } from '../node/base/room-watch.ts'
import { EntryTimes } from '../node/base/entry-times.ts'
import { Node } from '../node/node.ts'
import { RecoveryFile } from '../quorum-recovery/recovery-file.ts'
import { SkipFile } from '../quorum-recovery/skip-file.ts'
import { PeerTransport } from '../transport/peer-transport.ts'
import { ThreadWal } from '../wal/thread-wal.ts'
import { DiskProofFile } from './disk-proof-file.ts'
import { logMetrics } from './log-metrics.ts'
import type { RaftPort, StatePort } from './raft-port.ts'
import { StartNotes } from './start-notes.ts'

export interface RaftHalfOptions extends ClusterOptions {
  /** Methods of calls whose bodies are short: they share a connection with the messages of Raft. */
  readonly shortMethods: readonly string[]
}

interface OnDisk {
  readonly identity: Identity
  readonly directory: Directory
  readonly file: MemberFile
  readonly recovery: RecoveryFile
  readonly skips: SkipFile['skips']
  readonly diskProof: DiskProofFile
}

interface Parts {
  readonly node: Node
  readonly wal: ThreadWal
  readonly transport: PeerTransport
  readonly directory: Directory
  readonly membership: DirectoryService
  /** The only writer of the identity after the start. */
  readonly notes: StartNotes
  readonly identity: Identity
  /** Null: single entries are not measured. */
  readonly entryTimes: EntryTimes | null
}

/** `known`: what the data directory had of the members. The caller has checked the identity and holds the lock. Throws StartError. */
export async function openRaftHalf(
  options: RaftHalfOptions,
  known: Membership | null,
  state: StatePort,
): Promise<RaftHalf> {
  const file = new MemberFile(options.dataDir)
  const recovery = RecoveryFile.open(options.dataDir)
  const { skips } = SkipFile.open(options.dataDir, options.clusterId)
  for (const { planId, index, term } of skips)
    state.logger.warn({ planId, index, term }, 'entry is skipped by an order of the operator')
  const directory = await openDirectory(options, file, known)
  const identity = await openIdentity(options)
  const { dataDir, witnessDir = null } = options
  const { incarnation } = identity
  const logger = state.logger.child({ component: 'node' })
  const diskProof = await DiskProofFile.open({ dataDir, incarnation, witnessDir, logger })
  return new RaftHalf(assemble(options, state, { identity, directory, file, recovery, skips, diskProof }))
}

export class RaftHalf implements RaftPort {
  readonly #parts: Parts
  #isOpen = false
  #stopped: Promise<void> | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get identity(): Identity {
    return this.#parts.identity
  }

  get members(): readonly Member[] {
    return this.#parts.directory.members
  }

  get transport(): PeerTransport {
    return this.#parts.transport
  }

  get membership(): DirectoryService {
    return this.#parts.membership
  }

  get time(): ClusterTimePort {
    return this.#parts.node.time
  }

  get serving(): Promise<void> {
    return this.#parts.node.serving
  }

  get failed(): Promise<Error> {
    return this.#parts.node.failed
  }

  /** Throws StartError. */
  async open(): Promise<void> {
    await this.#parts.node.open()
    this.#isOpen = true
  }

  /** Throws StartError. */
  async start(): Promise<void> {
    await this.#parts.node.start()
    this.#parts.membership.start()
  }

  /** Throws Condition. */
  propose(command: Uint8Array, how?: ProposeOptions): Promise<Uint8Array> {
    return this.#parts.node.propose(command, how)
  }

  /** Throws Condition. */
  readBarrier(): Promise<void> {
    return this.#parts.node.readBarrier()
  }

  /** Throws Condition. */
  reachesLevel(level: number, withinMs: number): Promise<boolean> {
    return this.#parts.node.reachesLevel(level, withinMs)
  }

  isJobRunner(): boolean {
    return this.#parts.node.isJobRunner()
  }

  readiness(): Readiness {
    const { node, directory } = this.#parts
    const { reasons, expelled = expulsionOf(directory.expelled) } = node.readiness()
    const { nodeId, isJoining } = directory
    const expulsion = expulsionOf(expelled)
    if (expulsion !== null) return { ready: false, reasons: [expulsionText(nodeId, expulsion)], expelled }
    if (!isJoining) return { ready: reasons.length === 0, reasons }
    const blocker = `Node ${nodeId} waits to join the cluster: run 'holdfast cluster join ${nodeId}' against a member`
    return { ready: false, reasons: [blocker, ...reasons] }
  }

  async metrics(): Promise<readonly MetricSample[]> {
    const { node, wal, transport } = this.#parts
    return [...node.metrics(), ...logMetrics(wal.metrics()), ...transport.metrics()]
  }

  async entryTimes(wanted: EntryWanted): Promise<EntryReport | null> {
    return this.#parts.entryTimes?.of(wanted) ?? null
  }

  forgetFingerprint(): Promise<void> {
    return this.#parts.notes.forgetFingerprint()
  }

  /** Null: this node takes no part yet. */
  localStatus(): MemberStatus | null {
    const { node, membership } = this.#parts
    return this.#isOpen && !node.isRepairing ? membership.local() : null
  }

  /** Of the log. */
  get reserve(): { readonly bytes: number; readonly isHeld: boolean } {
    const { reserve } = this.#parts.wal
    return { bytes: reserve.bytes, isHeld: reserve.isHeld() }
  }

  heldBackBytes(totalBytes: number): number {
    return missingReserve(this.#parts.wal.reserve, totalBytes)
  }

  fail(error: Error): void {
    this.#parts.node.fail(error)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#parts.membership.stop()
    await this.#parts.node.stop()
    await this.#parts.notes.written()
  }
}

interface Late {
  readonly clock: SystemClock
  readonly node: () => Node
  readonly membership: () => DirectoryService
}

function assemble(options: RaftHalfOptions, state: StatePort, onDisk: OnDisk): Parts {
  const { dataDir, heartbeatMs } = options
  const { identity, directory, file } = onDisk
  const { incarnation } = identity
  const { logger } = state
  const clock = new SystemClock()
  const wal = walOf(options, onDisk)
  const late = { clock, node: () => node, membership: () => membership }
  const transport = transportOf(options, { ...onDisk, ...state }, late)
  // Without this note the next start must name one more process.
  const notes = new StartNotes(dataDir, identity)
  const confirm = (): Promise<void> =>
    notes.confirm().catch((err: unknown) => logger.warn({ err }, 'registration of this process not noted'))
  const entryTimes = options.timesEntries === true ? new EntryTimes(clock) : null
  const node = nodeOf(options, onDisk, {
    clock,
    entryTimes,
    wal,
    transport,
    stateMachine: state.stateMachine,
    logger: logger.child({ component: 'node' }),
    onExpelled: (code) => membership.onExpelled(code),
    onRegistered: () => void confirm(),
    room: roomOf(options, state),
  })
  const { version = 'unknown', listen, tls } = options
  const own = { incarnation, version, listen, heartbeatMs, hasTls: tls !== null }
  const downloads = (): number => state.downloads()
  const belonging = { ...own, node, directory, file, transport, clock, downloads }
  const membership = new DirectoryService({
    ...belonging,
    logger: logger.child({ component: 'membership' }),
  })
  return { node, wal, transport, directory, membership, notes, identity, entryTimes }
}

function nodeOf(
  options: RaftHalfOptions,
  { identity, directory, recovery: epochFloor, skips, diskProof }: OnDisk,
  parts: ConstructorParameters<typeof Node>[1],
): Node {
  const { incarnation, boot, before } = identity
  const own = {
    ...options,
    incarnation,
    boot,
    before,
    initialConfiguration: directory.first,
    expelled: expulsionOf(directory.expelled),
    random: randomNumbers(),
  }
  return new Node(own, { ...parts, epochFloor, skips, diskProof })
}

/** The free space of this disk, and the members whose disks are full according to their reports. */
function roomOf({ dataDir, diskThresholds = DISK_THRESHOLDS }: ClusterOptions, state: StatePort): RoomView {
  return {
    usage: () => systemFileOps.diskUsage(dataDir),
    scarceFrom: diskThresholds.reserve,
    isScarceAt: (peer) => state.isScarceAt(peer),
  }
}

function walOf(
  { clusterId, nodeId, dataDir, metadataKey = null }: ClusterOptions,
  { identity, diskProof }: OnDisk,
): ThreadWal {
  const { incarnation } = identity
  const { witness } = diskProof
  const { windowBytesMax: bytesMax, windowEntriesMax: entriesMax } = DEFAULT_NODE_LIMITS.raft
  const window = { bytesMax, entriesMax }
  const dir = join(dataDir, 'raft')
  return new ThreadWal({ dir, clusterId, nodeId, incarnation, window, witness, metadataKey })
}

/** The transport is created before the parts that it calls. */
function transportOf(
  { clusterId, nodeId, listen, tls, shortMethods }: RaftHalfOptions,
  { identity: { incarnation }, directory, logger }: OnDisk & Pick<StatePort, 'logger'>,
  { clock, node, membership }: Late,
): PeerTransport {
  return new PeerTransport({
    clusterId,
    nodeId,
    incarnation,
    listen,
    addresses: directory.addresses,
    tls,
    clock,
    shortMethods,
    logger: logger.child({ component: 'transport' }),
    peerStatus: () => node().peerStatus(),
    knows(peer) {
      const isKnown = directory.knows(peer)
      if (!isKnown) membership().onUnknownPeer()
      return isKnown
    },
    judge: (claims) => node().staleness(claims) ?? directory.objectionTo(claims) ?? node().judge(claims),
  })
}
