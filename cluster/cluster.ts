/**
 * The composition root of the machine: real clock, real disk, real sockets.
 *
 * Owns: the set of parts and the order in which they open and close. Knows nothing of: how any of them works.
 * Rule: a start that fails half-way closes everything again, so that it leaves neither a listener nor a lock behind.
 */
import { join } from 'node:path'
import { assembleBlobs, type BlobParts } from './blob-parts.ts'
import { DISK_THRESHOLDS } from './base/disk-level.ts'
import { systemFileOps } from './base/file-ops.ts'
import { randomNumbers } from './base/random-numbers.ts'
import { lockDataDir, type DataLock } from './base/data-lock.ts'
import { DiskProofFile } from './disk-proof-file.ts'
import { FirstStart } from './first-start.ts'
import { checkIdentity, openIdentity, type Identity } from './directory/identity.ts'
import { logMetrics } from './log-metrics.ts'
import { openDirectory } from './directory/open-directory.ts'
import type { Directory } from './directory/directory.ts'
import { MemberFile } from './directory/member-file.ts'
import { DirectoryService } from './directory/membership-port.ts'
import { expulsionOf, expulsionText } from './node/base/expulsion.ts'
import { DEFAULT_NODE_LIMITS } from './node/base/limits.ts'
import { Node } from './node/node.ts'
import { RecoveryFile } from './quorum-recovery/recovery-file.ts'
import { SkipFile } from './quorum-recovery/skip-file.ts'
import { SystemClock } from './base/system-clock.ts'
import { StartNotes } from './start-notes.ts'
import { PeerTransport } from './transport/peer-transport.ts'
import { FREE_BYTES_LEAST, missingReserve, type RoomView } from './node/base/room-watch.ts'
import { GossipRounds } from './gossip-rounds.ts'
import { RepairStatuses } from './repair-statuses.ts'
import { SHORT_METHODS } from './short-calls.ts'
import type {
  Cluster,
  ClusterOptions,
  ClusterParts,
  MetricSample,
  Readiness,
  RepairStatus,
} from './base/types.ts'
import { giveUpReserve } from './wal/reserve.ts'
import { ThreadWal } from './wal/thread-wal.ts'

interface Machine extends BlobParts {
  readonly node: Node
  readonly wal: ThreadWal
  readonly transport: PeerTransport
  readonly status: () => RepairStatus
  readonly statuses: RepairStatuses
  readonly gossip: GossipRounds
  readonly directory: Directory
  readonly membership: DirectoryService
  /** The only writer of the identity after the start. */
  readonly notes: StartNotes
}

/** Resolves when peers can reach this node; `readiness` reports the rest. Throws StartError. */
export async function createCluster(options: ClusterOptions, parts: ClusterParts): Promise<Cluster> {
  const { logger } = parts
  if (giveUpReserve(join(options.dataDir, 'raft'), FREE_BYTES_LEAST))
    logger.warn(
      { dataDir: options.dataDir },
      'disk is full, reserve of the log released so that the node can start',
    )
  const file = new MemberFile(options.dataDir)
  const known = await file.read()
  await checkIdentity(options, known)
  const first = await FirstStart.of(options.dataDir)
  const lock = await lockDataDir(options.dataDir)
  let isActive = false
  try {
    const recovery = RecoveryFile.open(options.dataDir)
    const { skips } = SkipFile.open(options.dataDir, options.clusterId)
    for (const { planId, index, term } of skips)
      parts.logger.warn({ planId, index, term }, 'entry is skipped by an order of the operator')
    const directory = await openDirectory(options, file, known)
    const identity = await openIdentity(options)
    const { dataDir, witnessDir = null } = options
    const { incarnation } = identity
    const logger = parts.logger.child({ component: 'node' })
    const diskProof = await DiskProofFile.open({ dataDir, incarnation, witnessDir, logger })
    const machine = assemble(options, parts, { identity, directory, file, recovery, skips, diskProof })
    await open(machine, () => (isActive = true))
    return clusterOf(options, machine, lock)
  } catch (error) {
    const { logger } = parts
    if (!isActive)
      await first
        ?.takeBack()
        .catch((err: unknown) => logger.warn({ err }, 'files of the refused first start not removed'))
    await lock.release()
    throw error
  }
}

async function open(machine: Machine, onContact: () => void): Promise<void> {
  const { node, store, blobs, repair, remover, copies, membership } = machine
  try {
    await node.open()
    await store.open()
    await remover.sweep.open()
    await node.start()
    onContact()
    blobs.start()
    membership.start()
    // The state lists the copies to repair, and may itself need repair first.
    void node.serving.then(() => {
      repair.start()
      remover.start()
      copies.start()
    })
  } catch (error) {
    await node.stop()
    await store.close()
    throw error
  }
}

interface OnDisk {
  readonly identity: Identity
  readonly directory: Directory
  readonly file: MemberFile
  readonly recovery: RecoveryFile
  readonly skips: SkipFile['skips']
  readonly diskProof: DiskProofFile
}

interface Late extends Pick<ClusterParts, 'logger'> {
  readonly clock: SystemClock
  readonly node: () => Node
  readonly membership: () => DirectoryService
}

interface LateDisks {
  readonly wal: ThreadWal
  readonly blobs: () => BlobParts['blobs']
}

function assemble(options: ClusterOptions, parts: ClusterParts, onDisk: OnDisk): Machine {
  const { nodeId, dataDir, heartbeatMs } = options
  const { identity, directory, file, recovery: epochFloor, ...ordered } = onDisk
  const { incarnation, boot, before } = identity
  const { stateMachine, logger, downloads = () => 0 } = parts
  const clock = new SystemClock()
  const wal = walOf(options, onDisk)
  const disk = disksOf(options, { wal, blobs: () => blobParts.blobs })
  const late = { clock, logger, node: () => node, membership: () => membership }
  const transport = transportOf(options, onDisk, late)
  // Without this note the next start must name one more process.
  const notes = new StartNotes(dataDir, identity)
  const confirm = (): Promise<void> =>
    notes.confirm().catch((err: unknown) => logger.warn({ err }, 'registration of this process not noted'))
  const node = new Node(
    {
      ...options,
      incarnation,
      boot,
      before,
      initialConfiguration: directory.first,
      expelled: expulsionOf(directory.expelled),
      random: randomNumbers(),
    },
    {
      clock,
      wal,
      transport,
      stateMachine,
      epochFloor,
      ...ordered,
      logger: logger.child({ component: 'node' }),
      onExpelled: (code) => membership.onExpelled(code),
      onRegistered: () => void confirm(),
      ...disk,
    },
  )
  const readBarrier = (): Promise<void> => node.readBarrier()
  const fail = (error: Error): void => node.fail(error)
  const common = { ...parts, ...disk, identity, transport, clock, readBarrier, fail }
  const blobParts = assembleBlobs(options, { ...common, members: directory.members })
  const status = (): RepairStatus => statusOf(blobParts)
  const sees = { members: () => directory.names, status, disk: () => blobParts.store.usage() }
  const asking = { nodeId, transport, clock, logger, ...sees }
  const statuses = new RepairStatuses(asking)
  const gossip = new GossipRounds({ nodeId, transport, clock, logger, members: () => directory.names })
  const { version = 'unknown', listen, tls } = options
  const own = { incarnation, version, listen, heartbeatMs, hasTls: tls !== null }
  const belonging = { ...own, node, directory, file, transport, clock, downloads }
  const membership = new DirectoryService({
    ...belonging,
    logger: logger.child({ component: 'membership' }),
  })
  return { node, wal, transport, ...blobParts, status, statuses, gossip, directory, membership, notes }
}

function statusOf({ throttle, repair, copies }: BlobParts): RepairStatus {
  const { bytesPerSecond } = throttle
  const { pending, waitingForDisk } = repair
  return { bytesPerSecond, pending, waitingForDisk, ...copies.status() }
}

/** The free space of this disk, the members whose disks are full according to their reports, and the bytes here that are not for copies. */
function disksOf({ dataDir, diskThresholds = DISK_THRESHOLDS }: ClusterOptions, late: LateDisks) {
  const room: RoomView = {
    usage: () => systemFileOps.diskUsage(dataDir),
    scarceFrom: diskThresholds.reserve,
    isScarceAt: (peer) => late.blobs().diskLevelOf(peer) === 'reserve',
  }
  const heldBackBytes = (totalBytes: number): number => missingReserve(late.wal.reserve, totalBytes)
  return { room, heldBackBytes }
}

function walOf({ clusterId, nodeId, dataDir }: ClusterOptions, { identity, diskProof }: OnDisk): ThreadWal {
  const { incarnation } = identity
  const { witness } = diskProof
  const { windowBytesMax: bytesMax, windowEntriesMax: entriesMax } = DEFAULT_NODE_LIMITS.raft
  const window = { bytesMax, entriesMax }
  return new ThreadWal({ dir: join(dataDir, 'raft'), clusterId, nodeId, incarnation, window, witness })
}

/** The transport is created before the parts that it calls. */
function transportOf(
  { clusterId, nodeId, listen, tls }: ClusterOptions,
  { identity: { incarnation }, directory }: OnDisk,
  { clock, logger, node, membership }: Late,
): PeerTransport {
  return new PeerTransport({
    clusterId,
    nodeId,
    incarnation,
    listen,
    addresses: directory.addresses,
    tls,
    clock,
    shortMethods: SHORT_METHODS,
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

function clusterOf({ nodeId, clusterId }: ClusterOptions, machine: Machine, lock: DataLock): Cluster {
  const { node, wal, transport, store, blobs, throttle, repair, remover, copies } = machine
  let stopped: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    machine.membership.stop()
    machine.gossip.stop()
    blobs.stop()
    throttle.close()
    await copies.stop()
    await repair.stop()
    await remover.stop()
    await node.stop()
    await store.close()
    await remover.sweep.keep()
    await machine.notes.written()
    await lock.release()
  }
  const metrics = (): readonly MetricSample[] => [
    ...node.metrics(),
    ...logMetrics(wal.metrics()),
    ...transport.metrics(),
    ...blobs.metrics(),
    ...repair.metrics(),
    ...remover.metrics(),
    ...copies.metrics(),
  ]
  return {
    nodeId,
    clusterId,
    blobs,
    propose: (command, how) => node.propose(command, how),
    time: node.time,
    reachesLevel: (level, withinMs) => node.reachesLevel(level, withinMs),
    readBarrier: () => node.readBarrier(),
    membership: machine.membership,
    gossip: machine.gossip,
    readiness: () => readinessOf(machine),
    isJobRunner: () => node.isJobRunner(),
    placement: (id) => blobs.placement(id),
    demandScrub: (word) => copies.demandScrub(word),
    setRepairRate: (bytesPerSecond) => throttle.setRate(bytesPerSecond),
    repairStatus: () => machine.status(),
    repairStatuses: () => machine.statuses.all(),
    metrics,
    forgetFingerprint: () => machine.notes.forgetFingerprint(),
    stop: () => (stopped ??= stop()),
    failed: node.failed,
  }
}

function readinessOf({ node, directory }: Machine): Readiness {
  const { reasons, expelled = expulsionOf(directory.expelled) } = node.readiness()
  const { nodeId, isJoining } = directory
  const expulsion = expulsionOf(expelled)
  if (expulsion !== null) return { ready: false, reasons: [expulsionText(nodeId, expulsion)], expelled }
  if (!isJoining) return { ready: reasons.length === 0, reasons }
  const blocker = `Node ${nodeId} waits to join the cluster: run 'holdfast cluster join ${nodeId}' against a member`
  return { ready: false, reasons: [blocker, ...reasons] }
}
