/**
 * The composition root of the machine: real clock, real disk, real sockets.
 *
 * Owns: which parts there are and the order in which they open and close. Knows nothing of: how any of them works.
 * Rule: what fails half-way is closed again, so that a start that was refused leaves neither a listener nor a lock behind.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { assembleBlobs, type BlobParts } from './blob-parts.ts'
import { DISK_THRESHOLDS } from './base/disk-level.ts'
import { systemFileOps } from './base/file-ops.ts'
import { lockDataDir, type DataLock } from './base/data-lock.ts'
import { DiskProofFile } from './disk-proof-file.ts'
import { FirstStart } from './first-start.ts'
import { checkIdentity, openIdentity, type Identity } from './membership/identity.ts'
import { logMetrics } from './log-metrics.ts'
import { openDirectory } from './membership/beginning.ts'
import type { Directory } from './membership/directory.ts'
import { MemberFile } from './membership/member-file.ts'
import { MembershipRoom } from './membership/membership-port.ts'
import { expulsionOf, expulsionText } from './node/base/expulsion.ts'
import { DEFAULT_NODE_LIMITS } from './node/base/limits.ts'
import { Node } from './node/node.ts'
import { RecoveryFile } from './quorum-recovery/recovery-file.ts'
import { SkipFile } from './quorum-recovery/skip-file.ts'
import { SystemClock } from './base/system-clock.ts'
import { StartNotes } from './start-notes.ts'
import { HttpTransport } from './transport/http-transport.ts'
import { FREE_BYTES_LEAST, missingReserve, type RoomView } from './node/base/room-watch.ts'
import { RepairStatuses } from './repair-statuses.ts'
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
  readonly transport: HttpTransport
  readonly status: () => RepairStatus
  readonly statuses: RepairStatuses
  readonly directory: Directory
  readonly membership: MembershipRoom
  /** Nothing more is written into the identity. */
  readonly notes: StartNotes
}

/** Resolves when peers can talk to this node; ask `readiness` for the rest. Throws StartError. */
export async function createCluster(options: ClusterOptions, parts: ClusterParts): Promise<Cluster> {
  const { logger } = parts
  if (giveUpReserve(join(options.dataDir, 'raft'), FREE_BYTES_LEAST))
    logger.warn({ dataDir: options.dataDir }, 'disk is full, reserve of the log given up to start at all')
  const file = new MemberFile(options.dataDir)
  const known = await file.read()
  await checkIdentity(options, known)
  const first = await FirstStart.of(options.dataDir)
  const lock = await lockDataDir(options.dataDir)
  let isHeard = false
  try {
    const recovery = RecoveryFile.open(options.dataDir)
    const { skips } = SkipFile.open(options.dataDir, options.clusterId)
    for (const { planId, index, term } of skips)
      parts.logger.warn({ planId, index, term }, 'entry is skipped by order of an operator')
    const directory = await openDirectory(options, file, known)
    const identity = await openIdentity(options)
    const { dataDir, witnessDir = null } = options
    const { incarnation } = identity
    const logger = parts.logger.child({ room: 'node' })
    const diskProof = await DiskProofFile.open({ dataDir, incarnation, witnessDir, logger })
    const machine = assemble(options, parts, { identity, directory, file, recovery, skips, diskProof })
    await open(machine, () => (isHeard = true))
    return clusterOf(options, machine, lock)
  } catch (error) {
    const { logger } = parts
    if (!isHeard)
      await first?.takeBack().catch((err: unknown) => logger.warn({ err }, 'first start not taken back'))
    await lock.release()
    throw error
  }
}

async function open(machine: Machine, onHeard: () => void): Promise<void> {
  const { node, store, blobs, repair, remover, copies, membership } = machine
  try {
    await node.open()
    await store.open()
    await remover.sweep.open()
    await node.start()
    onHeard()
    blobs.start()
    membership.start()
    // What is to be repaired stands in the state, which may have to be mended first.
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
  readonly membership: () => MembershipRoom
}

interface LateDisks {
  readonly wal: ThreadWal
  readonly blobs: () => BlobParts['blobs']
}

function assemble(options: ClusterOptions, parts: ClusterParts, onDisk: OnDisk): Machine {
  const { nodeId, dataDir, heartbeatMs } = options
  const { identity, directory, file, recovery: epochFloor, ...ordered } = onDisk
  const { incarnation, boot, before } = identity
  const { stateMachine, logger } = parts
  const clock = new SystemClock()
  const wal = walOf(options, onDisk)
  const disk = disksOf(options, { wal, blobs: () => blobParts.blobs })
  const late = { clock, logger, node: () => node, membership: () => membership }
  const transport = transportOf(options, onDisk, late)
  // Not written down it is one process more to name at the next start.
  const notes = new StartNotes(dataDir, identity)
  const confirm = (): Promise<void> =>
    notes.confirm().catch((err: unknown) => logger.warn({ err }, 'start not confirmed'))
  const node = new Node(
    {
      ...options,
      incarnation,
      boot,
      before,
      initialConfiguration: directory.first,
      expelled: expulsionOf(directory.expelled),
      random: () => randomBytes(4).readUInt32LE(),
    },
    {
      clock,
      wal,
      transport,
      stateMachine,
      epochFloor,
      ...ordered,
      logger: logger.child({ room: 'node' }),
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
  const { version = 'unknown', listen, tls } = options
  const own = { incarnation, version, listen, heartbeatMs, hasTls: tls !== null }
  const belonging = { ...own, node, directory, file, transport, clock }
  const membership = new MembershipRoom({ ...belonging, logger: logger.child({ room: 'membership' }) })
  return {
    node,
    wal,
    transport,
    ...blobParts,
    status,
    statuses,
    directory,
    membership,
    notes,
  }
}

function statusOf({ throttle, repair, copies }: BlobParts): RepairStatus {
  const { bytesPerSecond } = throttle
  const { pending, waitingForDisk } = repair
  return { bytesPerSecond, pending, waitingForDisk, ...copies.status() }
}

/** How full the disks of all are, and what of this one is not for copies. The others have said it. */
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

/** It listens before the rooms that it asks are made. */
function transportOf(
  { clusterId, nodeId, listen, tls }: ClusterOptions,
  { identity: { incarnation }, directory }: OnDisk,
  { clock, logger, node, membership }: Late,
): HttpTransport {
  return new HttpTransport({
    clusterId,
    nodeId,
    incarnation,
    listen,
    addresses: directory.addresses,
    tls,
    clock,
    logger: logger.child({ room: 'transport' }),
    standing: () => node().standing(),
    knows(peer) {
      const isKnown = directory.knows(peer)
      if (!isKnown) membership().onStranger()
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
  const told = expulsionOf(expelled)
  if (told !== null) return { ready: false, reasons: [expulsionText(nodeId, told)], expelled }
  if (!isJoining) return { ready: reasons.length === 0, reasons }
  const waits = `Node ${nodeId} waits to be taken in: ask a member with 'holdfast cluster join ${nodeId}'`
  return { ready: false, reasons: [waits, ...reasons] }
}
