/**
 * Builds the parts of the machine that handle copies on this node's disk.
 *
 * Owns: what these parts share. Knows nothing of: Raft, how any of them works.
 * Rule: all parts that touch copies share their locks, and all that read copies in the background share one rate.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { CopyLocks } from './blobs/disk/copy-locks.ts'
import { systemFileOps } from './base/file-ops.ts'
import { ReplicatedBlobs } from './blobs/replication/replicated-blobs.ts'
import { SWEEP_FILE, type Identity } from './directory/identity.ts'
import type { Clock } from './base/clock.ts'
import { CopyRemover } from './repair/copy-remover.ts'
import { CopyWatch, SCRUB_EVERY_MS } from './repair/copy-watch.ts'
import { DiskDrain } from './repair/disk-drain.ts'
import { EvenOutDisks } from './repair/even-out-disks.ts'
import { RepairEngine } from './repair/repair-engine.ts'
import { ScrubFile } from './repair/scrub-file.ts'
import { SweepFile } from './repair/sweep-file.ts'
import { StoreMarker } from './repair/store-marker.ts'
import { Throttle } from './repair/throttle.ts'
import { nodeStore, type NodeStore } from './node-store.ts'
import type { PeerCalls } from './transport/transport.ts'
import type { ClusterOptions, ClusterParts, Member } from './base/types.ts'

export interface BlobParts extends NodeStore {
  /** Null: the node has one disk. */
  readonly drain: DiskDrain | null
  readonly evenOut: EvenOutDisks | null
  readonly blobs: ReplicatedBlobs
  readonly throttle: Throttle
  readonly repair: RepairEngine
  readonly remover: CopyRemover
  readonly copies: CopyWatch
}

export interface BlobNeeds
  extends Pick<ClusterParts, 'copyLedger' | 'logger' | 'blobFiles' | 'trace' | 'peerTraces'> {
  readonly identity: Identity
  readonly transport: PeerCalls
  readonly clock: Clock
  /** Always the present members. */
  readonly members: readonly Member[]
  readonly readBarrier: () => Promise<void>
  /** The free bytes of a disk of this size that belong to the reserve of the log. */
  readonly heldBackBytes?: (totalBytes: number) => number
  /** Stops the node: its disk cannot be trusted any more. */
  readonly fail: (error: Error) => void
}

/** Registers the blob calls, so it must run before the transport starts. Starts nothing. */
export function assembleBlobs(options: ClusterOptions, needs: BlobNeeds): BlobParts {
  const { nodeId } = options
  const { copyLedger: ledger, clock, transport, identity, members } = needs
  const directory = join(options.dataDir, 'blobs')
  const throttle = new Throttle(clock, null)
  const { store, ...disks } = nodeStore(options, {
    clock,
    logger: needs.logger.child({ component: 'blobs' }),
    heldBackBytes: needs.heldBackBytes ?? (() => 0),
    fileOps: needs.blobFiles ?? systemFileOps,
    onWrite: (name) => remover.sweep.onWrite(name),
    onUnknown: () => remover.sweep.onStoreUnknown(),
    compactionPace: (bytes, signal) => throttle.pass(bytes, signal),
    fail: needs.fail,
    onTrouble: () => copies.onTrouble(),
  })
  const logger = needs.logger.child({ component: 'repair' })
  const common = { nodeId, store, locks: new CopyLocks(), clock }
  const blobs = new ReplicatedBlobs({
    ...common,
    members,
    transport,
    trace: needs.trace ?? null,
    peerTraces: needs.peerTraces ?? null,
    incarnation: identity.incarnation,
    boot: String(identity.boot),
    logger: needs.logger.child({ component: 'blobs' }),
    onFault(ref, holder) {
      ledger
        .lost(holder, [ref])
        .then(() => repair.kick())
        .catch((err: unknown) =>
          logger.warn({ err, blob: ref.id, peer: holder }, 'bad copy not recorded as lost'),
        )
    },
    onJudged: (verdict) => copies.onJudged(verdict),
  })
  const random = (): number => randomBytes(4).readUInt32LE() / 2 ** 32
  const repair = new RepairEngine({ ...common, tasks: ledger, blobs, throttle, logger, random })
  const sweepFile = new SweepFile(join(options.dataDir, SWEEP_FILE), identity)
  const { readBarrier } = needs
  const remover: CopyRemover = new CopyRemover({ ...common, ledger, sweepFile, readBarrier, logger })
  const copies = new CopyWatch({
    ...common,
    ...disks,
    marker: new StoreMarker({ directory, draw: () => randomBytes(16).toString('hex') }),
    scrubFile: new ScrubFile(join(options.dataDir, 'scrub.json')),
    ledger,
    remover,
    throttle,
    logger,
    scrubEveryMs: options.scrubEveryMs ?? SCRUB_EVERY_MS,
    onLost: () => repair.kick(),
  })
  const { mover } = disks
  const moving = mover === undefined ? null : { ...common, disks: mover, throttle, logger }
  const drain = moving && new DiskDrain(moving)
  const evenOut = moving && new EvenOutDisks(moving)
  return { store, drain, evenOut, ...disks, blobs, throttle, repair, remover, copies }
}
