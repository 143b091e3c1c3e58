/**
 * The composition root of the machine: the half that agrees and the half of the state, with the port between them.
 *
 * Owns: the set of parts and the order in which they open and close. Knows nothing of: how any of them works.
 * Rule: a start that fails half-way closes everything again, so that it leaves neither a listener nor a lock behind.
 */
import { join } from 'node:path'
import { assembleBlobs, type BlobParts } from './blob-parts.ts'
import { lockDataDir, type DataLock } from './base/data-lock.ts'
import { DOCTOR_REPORT, HISTORY_REPORT } from './base/report-port.ts'
import { SystemClock } from './base/system-clock.ts'
import type { PeerTraces } from './base/peer-traces.ts'
import type { Cluster, ClusterOptions, ClusterParts, MetricSample, RepairStatus } from './base/types.ts'
import type { Membership } from './directory/directory.ts'
import { checkIdentity } from './directory/identity.ts'
import { MemberFile } from './directory/member-file.ts'
import { FirstStart } from './first-start.ts'
import { GossipRounds } from './gossip-rounds.ts'
import { MemberReports } from './member-reports.ts'
import { FREE_BYTES_LEAST } from './node/base/room-watch.ts'
import { openRaftHalf } from './raft-half/raft-half.ts'
import type { RaftPort, StatePort } from './raft-half/raft-port.ts'
import { openRaftThread } from './raft-thread/raft-thread.ts'
import { DiskOrders } from './disk-orders.ts'
import { RepairStatuses } from './repair-statuses.ts'
import { TraceNotes } from './trace-notes.ts'
import { SHORT_METHODS } from './short-calls.ts'
import { giveUpReserve } from './wal/reserve.ts'

interface Machine extends BlobParts {
  readonly raft: RaftPort
  readonly status: () => RepairStatus
  readonly statuses: RepairStatuses
  readonly diskOrders: DiskOrders
  readonly gossip: GossipRounds
  readonly histories: MemberReports
  readonly doctors: MemberReports
  /** Null: this node takes part in no trace. */
  readonly notes: TraceNotes | null
}

/** Resolves when peers can reach this node; `readiness` reports the rest. Throws StartError. */
export async function createCluster(options: ClusterOptions, parts: ClusterParts): Promise<Cluster> {
  const { logger } = parts
  if (giveUpReserve(join(options.dataDir, 'raft'), FREE_BYTES_LEAST))
    logger.warn(
      { dataDir: options.dataDir },
      'disk is full, reserve of the log released so that the node can start',
    )
  const known = await new MemberFile(options.dataDir).read()
  await checkIdentity(options, known)
  const first = await FirstStart.of(options.dataDir)
  const lock = await lockDataDir(options.dataDir)
  let isActive = false
  try {
    const machine = await assemble(options, parts, known)
    await open(machine, () => (isActive = true))
    return clusterOf(options, machine, { lock, traces: parts.peerTraces ?? null })
  } catch (error) {
    if (!isActive)
      await first
        ?.takeBack()
        .catch((err: unknown) => logger.warn({ err }, 'files of the refused first start not removed'))
    await lock.release()
    throw error
  }
}

async function open(machine: Machine, onContact: () => void): Promise<void> {
  const { raft, store, blobs, repair, remover, copies, drain, evenOut } = machine
  try {
    await raft.open()
    await store.open()
    await remover.sweep.open()
    await raft.start()
    onContact()
    blobs.start()
    // The state lists the copies to repair, and may itself need repair first.
    void raft.serving.then(() => {
      repair.start()
      remover.start()
      copies.start()
      drain?.start()
      evenOut?.start()
    })
  } catch (error) {
    await raft.stop()
    await store.close()
    throw error
  }
}

async function assemble(
  options: ClusterOptions,
  parts: ClusterParts,
  known: Membership | null,
): Promise<Machine> {
  const { nodeId } = options
  const { stateMachine, logger, downloads = () => 0 } = parts
  const state: StatePort = {
    stateMachine,
    logger,
    downloads,
    isScarceAt: (peer) => blobParts.blobs.diskLevelOf(peer) === 'reserve',
  }
  const openRaft = options.raftThread === true ? openRaftThread : openRaftHalf
  const raft: RaftPort = await openRaft({ ...options, shortMethods: SHORT_METHODS }, known, state)
  const clock = new SystemClock()
  const { transport, identity } = raft
  const blobParts: BlobParts = assembleBlobs(options, {
    ...parts,
    identity,
    transport,
    clock,
    members: raft.members,
    readBarrier: () => raft.readBarrier(),
    fail: (error) => raft.fail(error),
    heldBackBytes: (totalBytes) => raft.heldBackBytes(totalBytes),
  })
  const members = (): readonly string[] => raft.members.map((member) => member.nodeId)
  const status = (): RepairStatus => statusOf(blobParts)
  const sees = { members, status, disk: () => blobParts.store.usage() }
  const statuses = new RepairStatuses({ nodeId, transport, clock, logger, ...sees })
  const diskOrders = new DiskOrders({
    nodeId,
    transport,
    logger,
    drains: blobParts.drains ?? null,
    sizeOf: (name) => parts.copyLedger.find(name)?.size ?? null,
    onMarked: () => blobParts.copies.onTrouble(),
  })
  const gossip = new GossipRounds({ nodeId, transport, clock, logger, members })
  const asking = { nodeId, transport, clock, logger, members }
  const histories = new MemberReports(HISTORY_REPORT, asking)
  const doctors = new MemberReports(DOCTOR_REPORT, asking)
  const { peerTraces: traces = null } = parts
  const entryTimes: RaftPort['entryTimes'] = (wanted) => raft.entryTimes(wanted)
  const notes =
    traces === null ? null : new TraceNotes({ nodeId, transport, clock, logger, members, traces, entryTimes })
  return { raft, ...blobParts, status, statuses, diskOrders, gossip, histories, doctors, notes }
}

function statusOf({ throttle, repair, copies }: BlobParts): RepairStatus {
  const { bytesPerSecond } = throttle
  const { pending, waitingForDisk } = repair
  return { bytesPerSecond, pending, waitingForDisk, ...copies.status() }
}

/** A change that a traced request proposes names its span, and what became of it is said to the members. */
function proposeOf({ raft, notes }: Machine, traces: PeerTraces | null): Cluster['propose'] {
  if (traces === null || notes === null) return (command, how) => raft.propose(command, how)
  return async (command, how) => {
    const trace = traces.present()
    if (trace === null) return raft.propose(command, how)
    const reply = await raft.propose(command, { ...how, trace })
    void notes.onReply(trace)
    return reply
  }
}

interface Held {
  readonly lock: DataLock
  readonly traces: PeerTraces | null
}

function clusterOf({ nodeId, clusterId }: ClusterOptions, machine: Machine, { lock, traces }: Held): Cluster {
  const { raft, store, blobs, throttle, repair, remover, copies, drain, evenOut } = machine
  let stopped: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    machine.gossip.stop()
    machine.notes?.stop()
    blobs.stop()
    throttle.close()
    await copies.stop()
    await drain?.stop()
    await evenOut?.stop()
    await repair.stop()
    await remover.stop()
    await raft.stop()
    await store.close()
    await remover.sweep.keep()
    await lock.release()
  }
  const metrics = async (): Promise<readonly MetricSample[]> => [
    ...(await raft.metrics()),
    ...blobs.metrics(),
    ...repair.metrics(),
    ...remover.metrics(),
    ...copies.metrics(),
    ...(machine.drain?.metrics() ?? []),
    ...(machine.evenOut?.metrics() ?? []),
  ]
  return {
    nodeId,
    clusterId,
    blobs,
    propose: proposeOf(machine, traces),
    time: raft.time,
    reachesLevel: (level, withinMs) => raft.reachesLevel(level, withinMs),
    readBarrier: () => raft.readBarrier(),
    membership: raft.membership,
    gossip: machine.gossip,
    histories: machine.histories,
    doctors: machine.doctors,
    readiness: () => raft.readiness(),
    isJobRunner: () => raft.isJobRunner(),
    placement: (id) => blobs.placement(id),
    demandScrub: (word) => copies.demandScrub(word),
    setRepairRate: (bytesPerSecond) => throttle.setRate(bytesPerSecond),
    repairStatus: () => machine.status(),
    repairStatuses: () => machine.statuses.all(),
    orderDisk: (member, order) => machine.diskOrders.order(member, order),
    diskPlaces: (member, names) => machine.diskOrders.places(member, names),
    metrics,
    forgetFingerprint: () => raft.forgetFingerprint(),
    stop: () => (stopped ??= stop()),
    failed: raft.failed,
  }
}
