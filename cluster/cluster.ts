/**
 * The composition root of the machine: real clock, real disk, real sockets.
 *
 * Owns: which parts there are and the order in which they open and close. Knows nothing of: how any of them works.
 * Rule: what fails half-way is closed again, so that a start that was refused leaves neither a listener nor a lock behind.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { CopyLocks } from './blobs/copy-locks.ts'
import { DiskBlobStore } from './blobs/disk-blob-store.ts'
import { ReplicatedBlobs } from './blobs/replicated-blobs.ts'
import { lockDataDir, type DataLock } from './data-lock.ts'
import { checkIdentity, openIdentity, type Identity } from './identity.ts'
import { logMetrics } from './log-metrics.ts'
import { Node } from './node/node.ts'
import { SystemClock } from './node/system-clock.ts'
import { CopyRemover } from './repair/copy-remover.ts'
import { RepairEngine } from './repair/repair-engine.ts'
import { Throttle } from './repair/throttle.ts'
import { HttpTransport } from './transport/http-transport.ts'
import type { Cluster, ClusterOptions, ClusterParts, Logger, MetricSample } from './types.ts'
import { ThreadWal } from './wal/thread-wal.ts'

interface Machine {
  readonly node: Node
  readonly wal: ThreadWal
  readonly transport: HttpTransport
  readonly store: DiskBlobStore
  readonly blobs: ReplicatedBlobs
  readonly throttle: Throttle
  readonly repair: RepairEngine
  readonly remover: CopyRemover
}

type Base = Pick<Machine, 'node' | 'transport'> & { readonly clock: SystemClock }

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

async function open({ node, store, repair, remover }: Machine): Promise<void> {
  try {
    await node.open()
    await store.open()
    await node.start()
    // What is to be repaired stands in the state, which may have to be mended first.
    void node.serving.then(() => {
      repair.start()
      remover.start()
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
  const base: Base = { clock, transport, node }
  return { node, wal, transport, ...assembleBlobs(options, { ...parts, ...base, identity }) }
}

/** All that has to do with copies on this node's disk shares their locks, and all that reads them in the background one rate. */
function assembleBlobs(
  options: ClusterOptions,
  parts: ClusterParts & Base & { readonly identity: Identity },
): Pick<Machine, 'store' | 'blobs' | 'throttle' | 'repair' | 'remover'> {
  const { nodeId, dataDir, members } = options
  const { clock, transport, node, copyLedger, logger } = parts
  const { incarnation, boot } = parts.identity
  const locks = new CopyLocks()
  const throttle = new Throttle(clock, null)
  const store = blobStore(dataDir, logger, (error) => node.fail(error))
  const blobs = new ReplicatedBlobs({
    nodeId,
    members,
    store,
    locks,
    transport,
    clock,
    incarnation,
    boot: String(boot),
    logger: logger.child({ room: 'blobs' }),
    onFault(ref, holder) {
      copyLedger
        .lost(holder, [ref])
        .then(() => repair.kick())
        .catch((err: unknown) => logger.warn({ err, blob: ref.id, peer: holder }, 'bad copy not struck off'))
    },
  })
  const repair = new RepairEngine({
    nodeId,
    tasks: copyLedger,
    store,
    blobs,
    locks,
    throttle,
    clock,
    logger: logger.child({ room: 'repair' }),
    random: () => randomBytes(4).readUInt32LE() / 2 ** 32,
  })
  const remover = new CopyRemover({
    nodeId,
    ledger: copyLedger,
    store,
    locks,
    readBarrier: () => node.readBarrier(),
    clock,
    logger: logger.child({ room: 'repair' }),
  })
  return { store, blobs, throttle, repair, remover }
}

function blobStore(dataDir: string, logger: Logger, fail: (error: Error) => void): DiskBlobStore {
  return new DiskBlobStore({
    directory: join(dataDir, 'blobs'),
    logger: logger.child({ room: 'blobs' }),
    onFatal: (cause) => fail(new Error(`Cannot trust the blob disk any more: ${cause.message}`, { cause })),
  })
}

function clusterOf({ nodeId, clusterId }: ClusterOptions, machine: Machine, lock: DataLock): Cluster {
  const { node, wal, transport, store, blobs, throttle, repair, remover } = machine
  let stopped: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    blobs.stop()
    throttle.close()
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
  ]
  return {
    nodeId,
    clusterId,
    blobs,
    propose: (command) => node.propose(command),
    readBarrier: () => node.readBarrier(),
    readiness: () => node.readiness(),
    isOnDuty: () => node.isOnDuty(),
    metrics,
    stop: () => (stopped ??= stop()),
    distrustState: (error) => node.distrustState(error),
    failed: node.failed,
  }
}
