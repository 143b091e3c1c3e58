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
import { checkIdentity, openIdentity, type Identity } from './identity.ts'
import { logMetrics } from './log-metrics.ts'
import { Node } from './node/node.ts'
import { SystemClock } from './node/system-clock.ts'
import { HttpTransport } from './transport/http-transport.ts'
import { RepairStatuses } from './repair-statuses.ts'
import type { Cluster, ClusterOptions, ClusterParts, MetricSample, RepairStatus } from './types.ts'
import { ThreadWal } from './wal/thread-wal.ts'

interface Machine extends BlobParts {
  readonly node: Node
  readonly wal: ThreadWal
  readonly transport: HttpTransport
  readonly status: () => RepairStatus
  readonly statuses: RepairStatuses
}

/** Resolves when peers can talk to this node; ask `readiness` for the rest. Throws StartError. */
export async function createCluster(options: ClusterOptions, parts: ClusterParts): Promise<Cluster> {
  await checkIdentity(options)
  const lock = await lockDataDir(options.dataDir)
  try {
    const machine = assemble(options, parts, await openIdentity(options))
    await open(machine)
    return clusterOf(options, machine, lock)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function open({ node, store, blobs, repair, remover, copies }: Machine): Promise<void> {
  try {
    await node.open()
    await store.open()
    await node.start()
    blobs.start()
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

function assemble(options: ClusterOptions, parts: ClusterParts, identity: Identity): Machine {
  const { clusterId, nodeId, dataDir, members } = options
  const { incarnation, boot } = identity
  const { stateMachine, logger } = parts
  const clock = new SystemClock()
  const wal = new ThreadWal({ dir: join(dataDir, 'raft'), clusterId, nodeId, incarnation })
  const transport = new HttpTransport({
    clusterId,
    nodeId,
    incarnation,
    listen: options.listen,
    addresses: new Map(members.map((member) => [member.nodeId, member.peerAddress])),
    tls: options.tls,
    clock,
    logger: logger.child({ room: 'transport' }),
    standing: () => node.standing(),
    judge: (claims) => node.judge(claims),
  })
  const node = new Node(
    {
      ...options,
      incarnation,
      boot,
      initialConfiguration: { voters: members.map((member) => member.nodeId), learners: [], outgoing: [] },
      random: () => randomBytes(4).readUInt32LE(),
    },
    { clock, wal, transport, stateMachine, logger: logger.child({ room: 'node' }) },
  )
  const readBarrier = (): Promise<void> => node.readBarrier()
  const fail = (error: Error): void => node.fail(error)
  const needs = { ...parts, identity, transport, clock, readBarrier, fail }
  const blobParts = assembleBlobs(options, needs)
  const { throttle, repair, copies, store } = blobParts
  const status = (): RepairStatus => {
    const { bytesPerSecond } = throttle
    const { pending, waitingForDisk } = repair
    return { bytesPerSecond, pending, waitingForDisk, ...copies.status() }
  }
  const names = members.map((member) => member.nodeId)
  const asking = { nodeId, members: names, transport, status, disk: () => store.usage(), clock, logger }
  return { node, wal, transport, ...blobParts, status, statuses: new RepairStatuses(asking) }
}

function clusterOf({ nodeId, clusterId }: ClusterOptions, machine: Machine, lock: DataLock): Cluster {
  const { node, wal, transport, store, blobs, throttle, repair, remover, copies } = machine
  let stopped: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    blobs.stop()
    throttle.close()
    await copies.stop()
    await repair.stop()
    await remover.stop()
    await node.stop()
    await store.close()
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
    readBarrier: () => node.readBarrier(),
    readiness: () => node.readiness(),
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
