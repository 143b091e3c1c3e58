/**
 * Drives backups: the metadata of one cut, then the chunks that the target does not have, then the manifest. [docs/adr/0086-backups.md]
 *
 * Owns: the order, the pace, the place in the cursor. Knows nothing of: the files' formats, which chunks may be collected.
 * Rules: the cursor moves by compare and set behind what is durable in the target, so another node continues there; of two nodes that write at
 * the same time one wins the cursor, and each has files of its own; the manifest is written last, and only of what the target lists.
 */
import { randomBytes } from 'node:crypto'
import { type Cluster, type Logger, recordFacts, type StateCut } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { ChunkEntry } from '../backup/format/chunk-list.ts'
import { decodeChunks } from '../backup/format/chunk-list.ts'
import { type BackupCut, backupKeyContext, encodeManifest } from '../backup/format/manifest.ts'
import { backupFolder, newAttempt } from '../backup/format/names.ts'
import { readManifest } from '../backup/read/backup-reader.ts'
import { copyChunks, heldIn } from '../backup/run/chunk-copier.ts'
import { writeCut } from '../backup/run/cut-writer.ts'
import { endBackup } from '../backup/run/backup-end.ts'
import { once, SealedFiles } from '../backup/run/sealed-files.ts'
import type { OpenTarget } from '../backup/targets/open-target.ts'
import { type BackupTarget, TargetError } from '../backup/targets/target.ts'
import { VERSION } from '../base/version.ts'
import type { Propose } from '../commands/propose.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import type {
  BackupRun,
  LongOperation,
  LongOperationProgress,
} from '../state-machine/long-operations/records.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { Abandoned } from './base/abandoned.ts'
import { chunkStep } from './base/chunk-step.ts'
import { RetryWait } from './base/retry-wait.ts'

export interface BackingUpParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'clusterId' | 'nodeId' | 'blobs' | 'readBarrier' | 'time'>
  readonly state: StateReader
  readonly propose: Propose
  /** A cut of the state of this node. */
  readonly snapshot: () => Promise<StateCut>
  readonly masterKey: Pick<MasterKey, 'open' | 'seal'>
  readonly openTarget: OpenTarget
  /** Monotonic, ms. */
  readonly now: () => number
  readonly logger: Logger
}

type Backup = LongOperation & { readonly backup: BackupRun }

/** What of a backup is open on this node. */
interface Opened {
  readonly operationId: string
  readonly attempt: string
  readonly cut: BackupCut
  readonly backupKey: Uint8Array
  shard: {
    readonly at: number
    readonly entries: readonly ChunkEntry[]
    readonly held: Map<string, number>
  } | null
}

export class BackingUp {
  readonly #parts: BackingUpParts
  readonly #retry = new RetryWait()
  #target: { readonly text: string; readonly target: BackupTarget } | null = null
  #opened: Opened | null = null
  #notBefore = 0

  constructor(parts: BackingUpParts) {
    this.#parts = parts
  }

  /** One step of the backup under way; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state, now } = this.#parts
    const operation = cluster.isJobRunner() ? unfinishedOperations(state).find(isWorkable) : undefined
    if (operation === undefined) {
      await this.close()
      return false
    }
    if (!this.#retry.isDue(now()) || this.#notBefore > now()) return false
    try {
      const isMore = await this.#step(operation)
      this.#retry.ended()
      return isMore
    } catch (error) {
      return await this.#failed(operation, error)
    }
  }

  /** Ends the connections to the target. */
  async close(): Promise<void> {
    const { target } = this.#target ?? {}
    this.#target = null
    this.#opened = null
    await target?.close()
  }

  async #failed(operation: Backup, error: unknown): Promise<boolean> {
    if (error instanceof Abandoned) return false
    await this.close()
    if (!(error instanceof TargetError)) throw error
    const { propose, logger, now } = this.#parts
    const { operationId } = operation
    if (error.isRetryable) {
      const { failures, isNews } = this.#retry.failed(now(), error.name)
      if (isNews) logger.warn({ err: error, failures, operation: operationId }, 'backup waits for its target')
      return false
    }
    logger.error({ err: error, operation: operationId }, 'backup failed')
    await propose({
      type: 'setOperationStatus',
      operationId,
      action: 'fail',
      error: error.message.slice(0, 1024),
    })
    return true
  }

  async #step(operation: Backup): Promise<boolean> {
    const [step, attempt = '', shard = '', done = ''] = operation.cursor.split('/')
    if (step === '') return this.#cut(operation)
    const opened = await this.#open(operation, attempt)
    if (step === 'chunks') return this.#copy(operation, opened, { at: Number(shard), done: Number(done) })
    return this.#end(operation, opened)
  }

  async #cut(operation: Backup): Promise<boolean> {
    const { cluster, snapshot, masterKey, logger } = this.#parts
    const { tenantId } = operation
    const { backupId } = operation.backup
    const { clusterId } = cluster
    const [attempt, backupKey] = [newAttempt(), randomBytes(32)]
    const target = this.#targetOf(operation)
    const folder = backupFolder(clusterId, backupId)
    const files = new SealedFiles({ target, folder, backupKey })
    await cluster.readBarrier()
    const cut = await snapshot()
    try {
      const { index, term, featureLevel } = recordFacts(cut.record)
      const cutAt = cluster.time.now()
      const check = (): void => this.#check(operation)
      const written = await writeCut({ cut, tenantId, files, attempt, check })
      const facts: BackupCut = {
        format: 1,
        backupId,
        clusterId,
        ...(tenantId === null ? {} : { tenantId }),
        version: VERSION,
        cutAt,
        index,
        term,
        featureLevel,
        attempt,
        ...written,
        key: Buffer.from(masterKey.seal(backupKey, backupKeyContext(backupId))).toString('base64'),
      }
      const text = encodeManifest(facts, backupKey)
      await target.put(`${folder}${attempt}/cut.json`, once(text), text.length)
      logger.info({ operation: operation.operationId, index, chunks: written.chunks }, 'backup has its cut')
      const counted = { blobsTotal: written.chunks, bytesTotal: written.chunkBytes }
      return await this.#advance(operation, `chunks/${attempt}/0/0`, 'copying chunks', counted)
    } finally {
      await cut.release()
    }
  }

  async #copy(
    operation: Backup,
    opened: Opened,
    { at, done }: { readonly at: number; readonly done: number },
  ): Promise<boolean> {
    const { attempt, cut } = opened
    if (cut.chunkFiles[at] === undefined)
      return this.#advance(operation, `end/${attempt}`, 'checking the target', {})
    const { cluster, state, now } = this.#parts
    const { entries, held } = await this.#shard(operation, opened, at)
    const step = chunkStep(entries, done, operation.maxBytesPerSecond)
    const parts = {
      target: this.#targetOf(operation),
      clusterId: cluster.clusterId,
      blobs: cluster.blobs,
      state,
    }
    const { sent, sentBytes, present, presentBytes, missing, missingBytes } = await copyChunks(
      parts,
      step,
      held,
    )
    const rate = operation.maxBytesPerSecond
    if (rate !== null) this.#notBefore = now() + (sentBytes / rate) * 1000
    const reached = done + step.length
    const isLast = reached >= entries.length
    const next = isLast ? `chunks/${attempt}/${at + 1}/0` : `chunks/${attempt}/${at}/${reached}`
    return this.#advance(operation, next, 'copying chunks', {
      blobsDone: sent,
      bytesMoved: sentBytes,
      skipped: present,
      checksumFailures: missing,
      bytesTotal: -(presentBytes + missingBytes),
    })
  }

  async #end(operation: Backup, { cut, backupKey }: Opened): Promise<boolean> {
    const { cluster, propose, logger } = this.#parts
    const { operationId, progress, startedAt, createdAt } = operation
    const files = this.#filesOf(operation, backupKey)
    const target = this.#targetOf(operation)
    const ended = await endBackup({
      target,
      files,
      cut,
      backupKey,
      check: () => this.#check(operation),
      run: {
        startedAt: startedAt ?? createdAt,
        finishedAt: cluster.time.now(),
        sentChunks: progress.blobsDone,
        sentBytes: progress.bytesMoved,
      },
    })
    const { missingCount } = ended
    const error =
      missingCount === 0
        ? null
        : `${missingCount} chunks could not be read from any copy; the manifest names them`
    const reply = await propose({ type: 'setOperationStatus', operationId, action: 'finish', error })
    await this.close()
    if (missingCount > 0)
      logger.error({ operation: operationId, missing: missingCount }, 'backup is incomplete')
    else logger.info({ operation: operationId, sent: progress.bytesMoved }, 'backup done')
    return reply.ok
  }

  /** A refusal is fine: another node was first, or the operation is over; the next round sees it. */
  async #advance(
    { operationId, cursor: from }: Backup,
    cursor: string,
    phase: string,
    counted: Partial<Omit<LongOperationProgress, 'tasksOpen'>>,
  ): Promise<boolean> {
    const { propose } = this.#parts
    const reply = await propose({ type: 'advanceOperation', operationId, from, cursor, phase, counted })
    if (!reply.ok && /no longer held/.test(reply.message))
      await propose({ type: 'setOperationStatus', operationId, action: 'fail', error: reply.message })
    return reply.ok
  }

  async #open(operation: Backup, attempt: string): Promise<Opened> {
    const present = this.#opened
    if (present?.operationId === operation.operationId && present.attempt === attempt) return present
    const { cluster, masterKey } = this.#parts
    const { operationId, backup } = operation
    const name = `${backupFolder(cluster.clusterId, backup.backupId)}${attempt}/cut.json`
    const { manifest, backupKey } = await readManifest<BackupCut>(this.#targetOf(operation), name, masterKey)
    this.#opened = { operationId, attempt, cut: manifest, backupKey, shard: null }
    return this.#opened
  }

  async #shard(operation: Backup, opened: Opened, at: number): Promise<NonNullable<Opened['shard']>> {
    if (opened.shard?.at === at) return opened.shard
    const file = opened.cut.chunkFiles[at]
    if (file === undefined) throw new Error('the cursor names a shard of the cut')
    const entries = decodeChunks(file.name, await this.#filesOf(operation, opened.backupKey).read(file))
    const held = await heldIn(this.#targetOf(operation), this.#parts.cluster.clusterId, file.shard)
    opened.shard = { at, entries, held }
    return opened.shard
  }

  #filesOf(operation: Backup, backupKey: Uint8Array): SealedFiles {
    const folder = backupFolder(this.#parts.cluster.clusterId, operation.backup.backupId)
    return new SealedFiles({ target: this.#targetOf(operation), folder, backupKey })
  }

  #targetOf({ backup: { target: text } }: Backup): BackupTarget {
    if (this.#target?.text !== text) this.#target = { text, target: this.#parts.openTarget(text) }
    return this.#target.target
  }

  /** Throws Abandoned. */
  #check({ operationId }: Backup): void {
    const { cluster, state } = this.#parts
    const present = state.get(longOperationKeys.operation(operationId))
    if (!cluster.isJobRunner() || present === undefined || !isWorkable(present)) throw new Abandoned()
  }
}

function isWorkable(operation: LongOperation): operation is Backup {
  return operation.kind === 'backup' && (operation.status === 'queued' || operation.status === 'running')
}
