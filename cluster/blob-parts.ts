/**
 * Everything of the machine that has to do with copies on this node's disk, put together.
 *
 * Owns: which of these parts share what. Knows nothing of: Raft, how any of them works.
 * Rule: all that touch copies share their locks, and all that read them in the background share one rate.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { CopyLocks } from './blobs/copy-locks.ts'
import { DiskBlobStore } from './blobs/disk-blob-store.ts'
import { DISK_THRESHOLDS } from './blobs/disk-level.ts'
import { systemFileOps } from './blobs/file-ops.ts'
import { ReplicatedBlobs } from './blobs/replicated-blobs.ts'
import type { Identity } from './identity.ts'
import type { Clock } from './node/clock.ts'
import { CopyRemover } from './repair/copy-remover.ts'
import { CopyWatch, SCRUB_EVERY_MS } from './repair/copy-watch.ts'
import { RepairEngine } from './repair/repair-engine.ts'
import { ScrubFile } from './repair/scrub-file.ts'
import { StoreMarker } from './repair/store-marker.ts'
import { Throttle } from './repair/throttle.ts'
import type { Transport } from './transport/transport.ts'
import type { ClusterOptions, ClusterParts, Member } from './types.ts'

export interface BlobParts {
  readonly store: DiskBlobStore
  readonly blobs: ReplicatedBlobs
  readonly throttle: Throttle
  readonly repair: RepairEngine
  readonly remover: CopyRemover
  readonly copies: CopyWatch
}

export interface BlobNeeds extends Pick<ClusterParts, 'copyLedger' | 'logger' | 'blobFiles'> {
  readonly identity: Identity
  readonly transport: Transport
  readonly clock: Clock
  /** A live view. */
  readonly members: readonly Member[]
  readonly readBarrier: () => Promise<void>
  /** The node must stop: its disk cannot be trusted any more. */
  readonly fail: (error: Error) => void
}

/** Registers the blob calls, so it comes before the transport's start. Nothing of it runs yet. */
export function assembleBlobs(options: ClusterOptions, needs: BlobNeeds): BlobParts {
  const { nodeId } = options
  const { copyLedger: ledger, clock, transport, identity, members } = needs
  const directory = join(options.dataDir, 'blobs')
  const throttle = new Throttle(clock, null)
  const store = new DiskBlobStore({
    directory,
    logger: needs.logger.child({ room: 'blobs' }),
    thresholds: options.diskThresholds ?? DISK_THRESHOLDS,
    fileOps: needs.blobFiles ?? systemFileOps,
    compactionPace: (bytes, signal) => throttle.pass(bytes, signal),
    onFatal: (cause) =>
      needs.fail(new Error(`Cannot trust the blob disk any more: ${cause.message}`, { cause })),
  })
  const logger = needs.logger.child({ room: 'repair' })
  const common = { nodeId, store, locks: new CopyLocks(), clock }
  const blobs = new ReplicatedBlobs({
    ...common,
    members,
    transport,
    incarnation: identity.incarnation,
    boot: String(identity.boot),
    logger: needs.logger.child({ room: 'blobs' }),
    onFault(ref, holder) {
      ledger
        .lost(holder, [ref])
        .then(() => repair.kick())
        .catch((err: unknown) => logger.warn({ err, blob: ref.id, peer: holder }, 'bad copy not struck off'))
    },
    onJudged: (verdict) => copies.onJudged(verdict),
  })
  const random = (): number => randomBytes(4).readUInt32LE() / 2 ** 32
  const repair = new RepairEngine({ ...common, tasks: ledger, blobs, throttle, logger, random })
  const remover = new CopyRemover({ ...common, ledger, readBarrier: needs.readBarrier, logger })
  const copies = new CopyWatch({
    ...common,
    reopenStore: () => store.reopen(),
    marker: new StoreMarker({ directory, draw: () => randomBytes(16).toString('hex') }),
    scrubFile: new ScrubFile(join(options.dataDir, 'scrub.json')),
    ledger,
    remover,
    throttle,
    logger,
    scrubEveryMs: options.scrubEveryMs ?? SCRUB_EVERY_MS,
    onLost: () => repair.kick(),
  })
  return { store, blobs, throttle, repair, remover, copies }
}
