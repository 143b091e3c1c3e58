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
import { CopyWatch, SCRUB_EVERY_MS } from './repair/copy-watch.ts'
import { RepairEngine } from './repair/repair-engine.ts'
import { ScrubFile } from './repair/scrub-file.ts'
import { StoreMarker } from './repair/store-marker.ts'
import { Throttle } from './repair/throttle.ts'
import { HttpTransport } from './transport/http-transport.ts'
import type { Cluster, ClusterOptions, ClusterParts, MetricSample } from './types.ts'
import { ThreadWal } from './wal/thread-wal.ts'

interface Machine {
  readonly node: Node
  readonly wal: ThreadWal
  readonly transport: HttpTransport
  readonly store: DiskBlobStore
  readonly blobs: ReplicatedBlobs
  readonly throttle: Throttle
  readonly repair: RepairEngine
  readonly copies: CopyWatch
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

async function open({ node, store, repair, copies }: Machine): Promise<void> {
  try {
    await node.open()
    await store.open()
    await node.start()
    // What is to be repaired stands in the state, which may have to be mended first.
    void node.serving.then(() => {
      repair.start()
      copies.start()
    })
  } catch (error) {
    await node.stop()
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
): Pick<Machine, 'store' | 'blobs' | 'throttle' | 'repair' | 'copies'> {
  const { nodeId, dataDir, members } = options
  const { clock, transport, node, copyLedger, logger } = parts
  const { incarnation, boot } = parts.identity
  const directory = join(dataDir, 'blobs')
  const locks = new CopyLocks()
  const throttle = new Throttle(clock, null)
  const store = new DiskBlobStore({
    directory,
    onFatal: (cause) =>
      node.fail(new Error(`Cannot trust the blob disk any more: ${cause.message}`, { cause })),
  })
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
    onJudged: (verdict) => copies.onJudged(verdict),
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
  const copies = new CopyWatch({
    nodeId,
    store,
    reopenStore: () => store.open(),
    marker: new StoreMarker({ directory, draw: () => randomBytes(16).toString('hex') }),
    scrubFile: new ScrubFile(join(dataDir, 'scrub.json')),
    ledger: copyLedger,
    locks,
    throttle,
    clock,
    logger: logger.child({ room: 'repair' }),
    scrubEveryMs: options.scrubEveryMs ?? SCRUB_EVERY_MS,
    onLost: () => repair.kick(),
  })
  return { store, blobs, throttle, repair, copies }
}

function clusterOf({ nodeId, clusterId }: ClusterOptions, machine: Machine, lock: DataLock): Cluster {
  const { node, wal, transport, blobs, throttle, repair, copies } = machine
  let stopped: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    blobs.stop()
    throttle.close()
    await copies.stop()
    await repair.stop()
    await node.stop()
    await lock.release()
  }
  const metrics = (): readonly MetricSample[] => [
    ...node.metrics(),
    ...logMetrics(wal.metrics()),
    ...transport.metrics(),
    ...blobs.metrics(),
    ...repair.metrics(),
    ...copies.metrics(),
  ]
  return {
    nodeId,
    clusterId,
    blobs,
    propose: (command) => node.propose(command),
    readBarrier: () => node.readBarrier(),
    readiness: () => node.readiness(),
    metrics,
    stop: () => (stopped ??= stop()),
    distrustState: (error) => node.distrustState(error),
    failed: node.failed,
  }
}
