/**
 * The store of all blobs of this node: on one disk, as it always was, or on several.
 *
 * Owns: the choice between the two. Knows nothing of: copies, rows.
 * Rule: a node whose settings name no directories has `blobs/` in its data directory and nothing else, and a flush that fails there ends it.
 */
import { statSync } from 'node:fs'
import type { BlobStore } from './blobs/base/blob-store.ts'
import { DiskBlobStore, type DiskBlobStoreOptions } from './blobs/disk/disk-blob-store.ts'
import { BlobDisks } from './blobs/disks/blob-disks.ts'
import type { CopyMover } from './blobs/disks/copy-mover.ts'
import type { DiskDrains } from './blobs/disks/disk-drains.ts'
import { DiskSet } from './blobs/disks/disk-set.ts'
import { firstDirectory } from './blobs/disks/found-disks.ts'
import type { Clock } from './base/clock.ts'
import { DISK_THRESHOLDS } from './base/disk-level.ts'
import type { ClusterOptions, Logger } from './base/types.ts'

export interface NodeStore {
  readonly store: BlobStore & Pick<DiskBlobStore, 'open' | 'close'>
  /** Of one disk: makes its directories again where they are missing. */
  readonly reopenStore: () => Promise<void>
  /** Of several disks: moves copies between them. */
  readonly mover?: CopyMover
  /** Of several disks: orders about single ones. */
  readonly drains?: DiskDrains
  /** Of several disks: takes disks out and in. True: copies may be gone, or be there again. */
  readonly lookAtDisks?: () => Promise<boolean>
}

export interface NodeStoreParts
  extends Pick<DiskBlobStoreOptions, 'fileOps' | 'onWrite' | 'compactionPace'>,
    Required<Pick<DiskBlobStoreOptions, 'onUnknown' | 'heldBackBytes'>> {
  readonly clock: Clock
  readonly logger: Logger
  /** Stops the node: its disk cannot be trusted any more. */
  readonly fail: (error: Error) => void
  /** One of several disks fails: `lookAtDisks` should run soon. */
  readonly onTrouble: () => void
}

type Options = Pick<
  ClusterOptions,
  'clusterId' | 'nodeId' | 'dataDir' | 'blobDirectories' | 'diskThresholds' | 'directIoFromBytes'
>

export function nodeStore(options: Options, parts: NodeStoreParts): NodeStore {
  const { dataDir, diskThresholds: thresholds = DISK_THRESHOLDS, blobDirectories: directories = [] } = options
  const { directIoFromBytes } = options
  const { fail, onTrouble, clock, ...common } = parts
  const storeAt = (directory: string, onFatal: (cause: Error) => void): DiskBlobStore =>
    new DiskBlobStore({
      ...common,
      now: () => clock.now(),
      directory,
      thresholds,
      directIoFromBytes,
      onFatal,
      heldBackBytes: heldBackAt(directory),
    })
  const heldBackAt = (directory: string): NodeStoreParts['heldBackBytes'] =>
    directories.length === 0 || isSameDevice(dataDir, directory) ? common.heldBackBytes : () => 0
  if (directories.length === 0) {
    const store = storeAt(firstDirectory(dataDir), (cause) =>
      fail(new Error(`Cannot trust the blob disk any more: ${cause.message}`, { cause })),
    )
    return { store, reopenStore: () => store.reopen() }
  }
  const expected = { clusterId: options.clusterId, nodeId: options.nodeId, dataDir, directories }
  const { logger, onUnknown } = parts
  const disks = new DiskSet({ expected, storeAt, clock, logger, onUnknown, onTrouble })
  const store = new BlobDisks(disks, { expected, thresholds })
  return {
    store,
    reopenStore: async () => undefined,
    lookAtDisks: () => disks.look(),
    mover: store.mover,
    drains: store.drains,
  }
}

/** The space for the log is held back only on the disk that has the log. */
function isSameDevice(one: string, other: string): boolean {
  try {
    return statSync(one).dev === statSync(other).dev
  } catch {
    return true
  }
}
