/**
 * The composition root of the machine: real clock, real disk, real sockets.
 *
 * Owns: which parts there are and the order in which they open and close. Knows nothing of: how any of them works.
 * Rule: what fails half-way is closed again, so that a start that was refused leaves neither a listener nor a lock behind.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { assembleBlobs, type BlobParts } from './blob-parts.ts'
import { lockDataDir, type DataLock } from './data-lock.ts'
import { checkIdentity, confirmIdentity, openIdentity, type Identity } from './identity.ts'
import { logMetrics } from './log-metrics.ts'
import { openDirectory } from './membership/beginning.ts'
import type { Directory } from './membership/directory.ts'
import { MemberFile } from './membership/member-file.ts'
import { MembershipRoom } from './membership/membership-port.ts'
import { expulsionOf, expulsionText } from './node/expulsion.ts'
import { Node } from './node/node.ts'
import { RecoveryFile } from './recovery/recovery-file.ts'
import { SystemClock } from './node/system-clock.ts'
import { HttpTransport } from './transport/http-transport.ts'
import { RepairStatuses } from './repair-statuses.ts'
import type { Cluster, ClusterOptions, ClusterParts, MetricSample, Readiness, RepairStatus } from './types.ts'
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
  readonly confirmed: () => Promise<void>
}

/** Resolves when peers can talk to this node; ask `readiness` for the rest. Throws StartError. */
export async function createCluster(options: ClusterOptions, parts: ClusterParts): Promise<Cluster> {
  const file = new MemberFile(options.dataDir)
  const known = await file.read()
  await checkIdentity(options, known)
  const lock = await lockDataDir(options.dataDir)
  try {
    const recovery = RecoveryFile.open(options.dataDir)
    const directory = await openDirectory(options, file, known)
    const identity = await openIdentity(options)
    const machine = assemble(options, parts, { identity, directory, file, recovery })
    await open(machine)
    return clusterOf(options, machine, lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function open({ node, store, blobs, repair, remover, copies, membership }: Machine): Promise<void> {
  try {
    await node.open()
    await store.open()
    await node.start()
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
}

interface Late extends Pick<ClusterParts, 'logger'> {
  readonly clock: SystemClock
  readonly node: () => Node
  readonly membership: () => MembershipRoom
}

function assemble(options: ClusterOptions, parts: ClusterParts, onDisk: OnDisk): Machine {
  const { clusterId, nodeId, dataDir, heartbeatMs } = options
  const { identity, directory, file, recovery: epochFloor } = onDisk
  const { incarnation, boot, before } = identity
  const { stateMachine, logger } = parts
  const clock = new SystemClock()
  const wal = new ThreadWal({ dir: join(dataDir, 'raft'), clusterId, nodeId, incarnation })
  const late = { clock, logger, node: () => node, membership: () => membership }
  const transport = transportOf(options, onDisk, late)
  // Not written down it is one process more to name at the next start.
  const confirm = (): Promise<void> =>
    confirmIdentity(dataDir, identity).catch((err: unknown) => logger.warn({ err }, 'start not confirmed'))
  let confirming = Promise.resolve()
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
      logger: logger.child({ room: 'node' }),
      onExpelled: (code) => membership.onExpelled(code),
      onRegistered: () => (confirming = confirm()),
    },
  )
  const readBarrier = (): Promise<void> => node.readBarrier()
  const fail = (error: Error): void => node.fail(error)
  const needs = { ...parts, identity, members: directory.members, transport, clock, readBarrier, fail }
  const blobParts = assembleBlobs(options, needs)
  const status = (): RepairStatus => statusOf(blobParts)
  const names = (): readonly string[] => directory.names
  const { store } = blobParts
  const asking = { nodeId, members: names, transport, status, disk: () => store.usage(), clock, logger }
  const statuses = new RepairStatuses(asking)
  const { version = 'unknown' } = options
  const hasTls = options.tls !== null
  const { listen } = options
  const own = { incarnation, version, listen, heartbeatMs, hasTls }
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
    confirmed: () => confirming,
  }
}

function statusOf({ throttle, repair, copies }: BlobParts): RepairStatus {
  const { bytesPerSecond } = throttle
  const { pending, waitingForDisk } = repair
  return { bytesPerSecond, pending, waitingForDisk, ...copies.status() }
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
    await machine.confirmed()
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
    propose: (command) => node.propose(command),
    reachesLevel: (level, withinMs) => node.reachesLevel(level, withinMs),
    readBarrier: () => node.readBarrier(),
    membership: machine.membership,
    readiness: () => readinessOf(machine),
    isOnDuty: () => node.isOnDuty(),
    placement: (id) => blobs.placement(id),
    demandScrub: (word) => copies.demandScrub(word),
    setRepairRate: (bytesPerSecond) => throttle.setRate(bytesPerSecond),
    repairStatus: () => machine.status(),
    repairStatuses: () => machine.statuses.all(),
    metrics,
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
