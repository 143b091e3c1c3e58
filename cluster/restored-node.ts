/**
 * Lays out the data directory of a founder whose first state comes from a backup. [docs/adr/0086-backups.md]
 *
 * Owns: the order of the files, the first configuration, the place where the log begins. Knows nothing of: what rows mean, where a backup lies.
 * Rules: every founder gets the same record and the same rows, as if all of them had installed one snapshot, so the log continues behind its index;
 * the identity is written last, so no node starts on a directory that is half laid out; a directory with any other content is refused.
 */
import { randomBytes } from 'node:crypto'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { BLOB_LIMITS } from './blobs/base/blob-limits.ts'
import { METADATA_KEY_FILE } from './base/metadata-cipher.ts'
import { type DataLock, lockDataDir } from './base/data-lock.ts'
import { errorCode, systemFileOps } from './base/file-ops.ts'
import { SystemClock } from './base/system-clock.ts'
import { replaceFile } from './base/replace-file.ts'
import {
  type BlobId,
  type BlobName,
  type ClusterOptions,
  type Logger,
  type NodeId,
  StartError,
} from './base/types.ts'
import { writeIdentity } from './directory/identity.ts'
import { MemberFile } from './directory/member-file.ts'
import { directoryAtStart } from './directory/open-directory.ts'
import { type NodeStore, nodeStore } from './node-store.ts'
import { decodeMachineRecord, encodeMachineRecord } from './node/base/machine-record.ts'
import { FEATURE_LEVEL } from './node/base/feature-level.ts'
import { placeReplicas } from './placement/rendezvous.ts'
import { nodeFileOps } from './wal/file-ops.ts'
import { SegmentedLog } from './wal/segmented-log.ts'

const MARKER = 'restoring.json'
/** What a restore that was cut short may have left, and what file systems make. */
const OWN_NAMES: readonly string[] = [
  MARKER,
  'disks.json',
  `${MARKER}.tmp`,
  'lock',
  METADATA_KEY_FILE,
  'state',
  'blobs',
  'lost+found',
]
/** All but the copies is made again. */
const MADE_AGAIN: readonly string[] = ['state', 'raft', 'members.json', 'disk-proof.json', 'disk-marker']

export type RestoredOptions = Pick<
  ClusterOptions,
  'clusterId' | 'nodeId' | 'dataDir' | 'blobDirectories' | 'members' | 'fingerprint' | 'metadataKey'
>

/** What a record says of the state that it belongs to. */
export interface RecordFacts {
  readonly index: number
  readonly term: number
  readonly featureLevel: number
  /** Of the log. ms since 1970 */
  readonly time: number
}

export function recordFacts(record: Uint8Array): RecordFacts {
  const { appliedIndex: index, appliedTerm: term, featureLevel, lastTime: time } = decodeMachineRecord(record)
  return { index, term, featureLevel, time }
}

/** The record with which founders begin: the same place in the log, no process and no member of the cluster before. */
export function foundersRecord(record: Uint8Array, founders: readonly NodeId[]): Uint8Array {
  const decoded = decodeMachineRecord(record)
  const configuration = { voters: founders.toSorted(), learners: [], outgoing: [] }
  return encodeMachineRecord({
    ...decoded,
    configuration,
    configurationIndex: 0,
    sessions: [],
    recoveryEpoch: 0,
  })
}

/** Where the founders keep the copies of a blob: the same on each of them. */
export function foundersPlacement(members: RestoredOptions['members'], blobId: BlobId): readonly NodeId[] {
  return placeReplicas({ blobId, members, copies: BLOB_LIMITS.copiesWanted })
}

export class RestoredNode {
  readonly stateDir: string
  readonly #options: RestoredOptions
  readonly #blobs: NodeStore['store']
  readonly #lock: DataLock
  readonly #faults: readonly Error[]

  private constructor(
    options: RestoredOptions,
    blobs: NodeStore['store'],
    lock: DataLock,
    faults: readonly Error[],
  ) {
    this.stateDir = join(options.dataDir, 'state')
    this.#options = options
    this.#blobs = blobs
    this.#lock = lock
    this.#faults = faults
  }

  /** `backup`: names what is restored; a directory on which the restore of it was cut short is continued. Throws StartError. */
  static async begin(options: RestoredOptions, backup: string, logger: Logger): Promise<RestoredNode> {
    const { dataDir, clusterId, nodeId } = options
    const mark = JSON.stringify({ format: 1, clusterId, nodeId, backup })
    await requireEmpty(dataDir, mark)
    const lock = await lockDataDir(dataDir)
    try {
      await replaceFile(join(dataDir, MARKER), mark, systemFileOps)
      for (const name of MADE_AGAIN) await rm(join(dataDir, name), { recursive: true, force: true })
      const faults: Error[] = []
      const { store: blobs } = nodeStore(options, {
        clock: new SystemClock(),
        logger,
        heldBackBytes: () => 0,
        onUnknown: () => undefined,
        onTrouble: () => undefined,
        fail: (error) => faults.push(error),
      })
      await blobs.open()
      return new RestoredNode(options, blobs, lock, faults)
    } catch (error) {
      await lock.release()
      throw error
    }
  }

  /** Durable when it resolves. A copy that an earlier try has written is read back instead. */
  async writeCopy(name: BlobName, bytes: Uint8Array, checksum: string): Promise<void> {
    await this.#blobs.write(name, once(bytes), { size: bytes.length, checksum })
    const [fault] = this.#faults
    if (fault !== undefined) throw fault
  }

  /** The state lies in `stateDir` and is closed, and the directory was declared current; `record`: that of the state. From here on a node can start. */
  async finish(record: Uint8Array): Promise<void> {
    const { dataDir, clusterId, nodeId, fingerprint } = this.#options
    await this.#blobs.close()
    const incarnation = randomBytes(10).toString('hex')
    await new MemberFile(dataDir).write(directoryAtStart(this.#options, null))
    beginLog({ dataDir, clusterId, nodeId, incarnation }, recordFacts(record))
    await rm(join(dataDir, MARKER))
    await writeIdentity(dataDir, { clusterId, nodeId, incarnation, fingerprint, boot: 0, before: [] })
  }

  /** After `finish`, or instead of it. */
  async close(): Promise<void> {
    await this.#blobs.close()
    await this.#lock.release()
  }
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}

function beginLog(
  {
    dataDir,
    ...identity
  }: Pick<RestoredOptions, 'dataDir' | 'clusterId' | 'nodeId'> & { readonly incarnation: string },
  { index, term, featureLevel }: RecordFacts,
): void {
  if (featureLevel > FEATURE_LEVEL)
    throw new StartError(
      'feature_level_too_high',
      `Cannot restore: the backup is at feature level ${featureLevel}, this version knows ${FEATURE_LEVEL}`,
      { hint: 'Restore it with the version that made it, or a later one.' },
    )
  const log = new SegmentedLog({ ...identity, dir: join(dataDir, 'raft'), files: nodeFileOps, now: () => 0 })
  try {
    log.open()
    const hardState = { currentTerm: Math.max(1, term), votedFor: null }
    log.append([{ sequence: 0, hardState, base: { index, term }, entries: [] }])
  } finally {
    log.close()
  }
}

async function requireEmpty(dataDir: string, mark: string): Promise<void> {
  const names = await namesIn(dataDir)
  // The key is made before, and kept by a restore that continues.
  if (names.every((name) => name === 'lost+found' || name === METADATA_KEY_FILE)) return
  const isMine = names.includes(MARKER) && (await readFile(join(dataDir, MARKER), 'utf8')) === mark
  const strays = names.filter((name) => !OWN_NAMES.includes(name) && !MADE_AGAIN.includes(name))
  if (isMine && strays.length === 0) return
  const shown = (strays.length > 0 ? strays : names).slice(0, 5).join("', '")
  throw new StartError('data_not_empty', `Cannot restore: ${dataDir} is not empty, it holds '${shown}'`, {
    hint: 'A backup is restored into an empty data directory, and into a cluster that does not exist yet. Nothing was changed.',
  })
}

async function namesIn(dataDir: string): Promise<readonly string[]> {
  try {
    return await readdir(dataDir)
  } catch (cause) {
    if (errorCode(cause) === 'ENOENT') return []
    throw cause
  }
}
