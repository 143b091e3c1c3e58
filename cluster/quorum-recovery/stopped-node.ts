/**
 * The data directory of a node that does not run: its facts about the group, its log and its copies.
 *
 * Owns: the lock, the order in which files are opened. Knows nothing of: the choice of the winner, what rows mean.
 * Rules: reading changes no entry, no promise and no row; a damaged directory is reported as it is and never repaired here, because
 * repair needs entries of other nodes and there is no quorum to confirm them.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DiskBlobStore } from '../blobs/disk/disk-blob-store.ts'
import { readDiskIdentity } from '../blobs/disks/disk-identity.ts'
import { type KnownDisk, readDiskRecord } from '../blobs/disks/disk-record.ts'
import { listOf } from '../blobs/disks/list-of-disks.ts'
import { lockDataDir, type DataLock } from '../base/data-lock.ts'
import { cipherOf, type MetadataCipher } from '../base/metadata-cipher.ts'
import { checkIdentity, type Expected, findIdentity, type Identity } from '../directory/identity.ts'
import type { Membership } from '../directory/directory.ts'
import { MemberFile } from '../directory/member-file.ts'
import { decodedOrNull } from '../node/base/log-entry.ts'
import { missingLogOf } from '../node/lifecycle/log-repair-plan.ts'
import { recover, type Recovered } from '../node/log/log-recovery.ts'
import { decodeConfiguration } from '../raft/configuration.ts'
import type { Configuration, LogIndex } from '../raft/types.ts'
import { type BlobName, type Logger, StartError, type StateMachine } from '../base/types.ts'
import { nodeFileOps } from '../wal/file-ops.ts'
import { recoverLog } from '../wal/recovery.ts'
import { openedContent } from '../wal/sealed-entries.ts'
import type { WalContent } from '../wal/wal.ts'
import type { NodeFacts } from './node-facts.ts'
import { RecoveryFile } from './recovery-file.ts'
import { type Rehearsal, rehearsed } from './rehearsal.ts'
import { SkipFile } from './skip-file.ts'

const NAMES_PER_READ = 1024

export interface StoppedNodeParts {
  readonly stateMachine: StateMachine
  readonly logger: Logger
  /** As in ClusterOptions. */
  readonly metadataKey?: Uint8Array | null
}

export class StoppedNode {
  readonly dataDir: string
  readonly identity: Identity
  readonly recovery: RecoveryFile
  readonly skipFile: SkipFile
  readonly members: Membership
  readonly memberFile: MemberFile
  /** The log as it is on the disk. */
  readonly log: WalContent
  /** Of the log; null: it is not sealed. */
  readonly cipher: MetadataCipher | null
  /** Null: a node could not start with the log and the state on the disk. */
  readonly recovered: Recovered | null
  readonly #fault: string | null
  readonly #parts: StoppedNodeParts
  readonly #lock: DataLock

  private constructor(found: OnDisk, parts: StoppedNodeParts, lock: DataLock) {
    this.dataDir = found.dataDir
    this.identity = found.identity
    this.recovery = found.recovery
    this.skipFile = found.skipFile
    this.members = found.members
    this.memberFile = found.memberFile
    this.log = found.log
    this.cipher = cipherOf(parts.metadataKey, 'log')
    this.recovered = found.recovered
    this.#fault = found.fault
    this.#parts = parts
    this.#lock = lock
  }

  /** Throws StartError: another process uses the directory, it belongs to another node, or it cannot be read. */
  static async open(expected: Expected, parts: StoppedNodeParts): Promise<StoppedNode> {
    const { dataDir } = expected
    const memberFile = new MemberFile(dataDir)
    const members = await memberFile.read()
    await checkIdentity(expected, members)
    const identity = await findIdentity(dataDir)
    if (identity === null || members === null || !existsSync(join(dataDir, 'raft'))) throw neverRan(dataDir)
    const lock = await lockDataDir(dataDir)
    try {
      const recovery = RecoveryFile.open(dataDir)
      const skipFile = SkipFile.open(dataDir, identity.clusterId)
      const dir = join(dataDir, 'raft')
      const { content } = recoverLog(nodeFileOps, { ...identity, dir })
      const log = openedContent(content, cipherOf(parts.metadataKey, 'log'), dir)
      const state = await openState(log, members.first, parts.stateMachine)
      const found = { dataDir, identity, recovery, skipFile, members, memberFile, log, ...state }
      return new StoppedNode(found, parts, lock)
    } catch (error) {
      await parts.stateMachine.close()
      await lock.release()
      throw error
    }
  }

  /**
   * `rehearsal`: the state as it was opened; when this resolves, it has applied the entries of the log as far as they can be applied.
   * Entries with an order to skip them are skipped.
   */
  async facts(rehearsal: () => Rehearsal): Promise<NodeFacts> {
    const { identity, recovery, log, recovered, members } = this
    const { clusterId, nodeId, incarnation, boot } = identity
    const entries = recovered?.restored.entries ?? log.entries
    const hardState = recovered?.restored.hardState ?? log.hardState
    const base = recovered?.restored.base ?? log.base
    const record = recovered?.record
    const { index, term } = entries.at(-1) ?? base
    const committed = {
      configuration: record?.configuration ?? members.first,
      index: record?.configurationIndex ?? 0,
    }
    const { epoch, planId } = recovery.mark
    const { skips } = this.skipFile
    const outcome =
      recovered === null
        ? { checksums: [], obstacle: null }
        : await rehearsed(recovered, rehearsal(), { ...this.#parts, skips })
    const stateEpoch = record?.recoveryEpoch ?? 0
    return {
      clusterId,
      nodeId,
      incarnation,
      boot,
      recoveryEpoch: Math.max(epoch, stateEpoch),
      pendingPlan: epoch > stateEpoch ? planId : null,
      term: hardState.currentTerm,
      votedFor: hardState.votedFor,
      base,
      last: { index, term },
      applied: { index: record?.appliedIndex ?? 0, term: record?.appliedTerm ?? 0 },
      committed,
      latest: latestIn(entries, committed),
      fault: this.#fault,
      holes: log.holes,
      ...outcome,
      skips: skips.map((skip) => ({ planId: skip.planId, index: skip.index, term: skip.term })),
      registered: (record?.sessions ?? []).map((session) => ({ nodeId: session.nodeId, boot: session.boot })),
      members: members.members.map((member) => member.nodeId),
    }
  }

  /** The commands of an entry; null: it cannot be decoded, or the log does not hold it. */
  commandsAt(at: LogIndex): readonly Uint8Array[] | null {
    const entry = this.log.entries.find(({ index, kind }) => index === at && kind === 'command')
    const decoded = entry === undefined ? null : decodedOrNull(entry.data)
    return decoded?.proposals.map(({ command }) => command) ?? null
  }

  /** The copies that have a file or a whole record on a disk of the node, in the order of their names; their bytes are not read. */
  async *copies(): AsyncGenerator<readonly BlobName[]> {
    const known = await readDiskRecord(this.dataDir)
    const fatal: Error[] = []
    const stores: DiskBlobStore[] = []
    try {
      for (const directory of await this.#directoriesOf(known)) {
        const store = this.#restingStore(directory, (error) => fatal.push(error))
        const fault = await store.open().then(
          () => null,
          (cause: unknown) => cause,
        )
        if (fault === null) stores.push(store)
        else if (known.length === 0) throw fault
        else
          this.#parts.logger.warn(
            { directory, err: fault },
            'disk of blobs not readable, its copies do not count',
          )
      }
      for (let after: BlobName | null = null; stores.length > 0; ) {
        const names: readonly BlobName[] = await listOf(stores, after, NAMES_PER_READ)
        if (fatal[0] !== undefined) throw fatal[0]
        yield names
        after = names.at(-1) ?? null
        if (after === null || names.length < NAMES_PER_READ) return
      }
    } finally {
      await Promise.all(stores.map((store) => store.close()))
    }
  }

  /** Only those with a disk of this node: opening a store writes into its directory, and an empty mount point is left alone. */
  async #directoriesOf(known: readonly KnownDisk[]): Promise<readonly string[]> {
    const single = join(this.dataDir, 'blobs')
    if (known.length === 0) return existsSync(single) ? [single] : []
    const { clusterId, nodeId } = this.identity
    const own: string[] = []
    for (const { directory } of known) {
      const identity = await readDiskIdentity(directory).catch(() => null)
      if (identity?.clusterId === clusterId && identity.nodeId === nodeId) own.push(directory)
      else this.#parts.logger.warn({ directory }, 'no disk of this node is there, its copies do not count')
    }
    return own
  }

  #restingStore(directory: string, onFatal: (error: Error) => void): DiskBlobStore {
    return new DiskBlobStore({ directory, logger: this.#parts.logger, isResting: true, onFatal })
  }

  async close(): Promise<void> {
    await this.#parts.stateMachine.close()
    await this.#lock.release()
  }
}

interface OnDisk
  extends Pick<
    StoppedNode,
    'dataDir' | 'identity' | 'recovery' | 'skipFile' | 'members' | 'memberFile' | 'log' | 'recovered'
  > {
  readonly fault: string | null
}

async function openState(
  log: WalContent,
  first: Configuration,
  stateMachine: StateMachine,
): Promise<Pick<OnDisk, 'recovered' | 'fault'>> {
  const { record, fault: known } = await stateMachine.open()
  const fault = known ?? (await stateMachine.verify())
  const missing = missingLogOf({ log, record, fault })
  if (missing !== null) return { recovered: null, fault: missingText(missing, log) }
  return { recovered: recover(log, record, first), fault: null }
}

function missingText(missing: NonNullable<ReturnType<typeof missingLogOf>>, { holes }: WalContent): string {
  if (missing.of === 'state') return `its state cannot be used (${missing.why})`
  return `its log is damaged at ${holes.map(({ index }) => index).join(', ')}`
}

function latestIn(entries: WalContent['entries'], committed: NodeFacts['committed']): NodeFacts['latest'] {
  const last = entries.findLast(({ kind }) => kind === 'configuration')
  if (last === undefined || last.index <= committed.index) return committed
  return { configuration: decodeConfiguration(last.data), index: last.index }
}

function neverRan(dataDir: string): StartError {
  return new StartError('data_dir_unusable', `No node has ever run on ${dataDir}`, {
    hint: 'Name the configuration of the node whose data directory is to be read.',
  })
}
