/**
 * Drives the verification of a backup: its rows, then shard after shard each of its chunks, then the versions that need what is damaged. [docs/adr/0095-parts-of-backups.md]
 *
 * Owns: the order, the pace, the place in the cursor. Knows nothing of: the files' formats, what is wrong with them.
 * Rules: it only reads the backup; what is found is in the target before the cursor moves, and the cursor names it, so another node continues there; a
 * backup that was removed meanwhile is not called damaged.
 */
import { type Cluster, gauge, type Logger, type MetricSample } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import type { ChunkEntry } from '../backup/format/chunk-list.ts'
import { scopeOf } from '../backup/format/manifest.ts'
import { BackupReader, damageOf } from '../backup/read/backup-reader.ts'
import {
  type Found,
  keepFound,
  readFound,
  VERSIONS_NAMED_MAX,
  withFound,
  writeReport,
} from '../backup/checks/check-report.ts'
import { type Damage, Verification } from '../backup/read/verification.ts'
import { lostVersions } from '../backup/restore/lost-versions.ts'
import type { OpenTarget } from '../backup/targets/open-target.ts'
import { type BackupTarget, TargetError } from '../backup/targets/target.ts'
import type { Propose } from '../commands/propose.ts'
import { checksOf } from '../state-machine/backup-plans/checks.ts'
import type { BackupCheck } from '../state-machine/backup-plans/records.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import type {
  BackupVerify,
  LongOperation,
  LongOperationProgress,
} from '../state-machine/long-operations/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { Abandoned } from './base/abandoned.ts'
import { chunkStep } from './base/chunk-step.ts'
import { RetryWait } from './base/retry-wait.ts'

/** Each holds one chunk in memory. */
const AT_ONCE = 2
const ERROR_MAX = 1024
/** In the cursor, where nothing was found. */
const NOTHING = '-'

export interface BackupVerifyingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'clusterId' | 'time'>
  readonly state: StateReader
  readonly propose: Propose
  readonly masterKey: Pick<MasterKey, 'open'>
  readonly openTarget: OpenTarget
  /** Monotonic, ms. */
  readonly now: () => number
  readonly logger: Logger
}

type Verify = LongOperation & { readonly verify: BackupVerify }

/** What of a verification is open on this node. */
interface Opened {
  readonly operationId: string
  readonly target: BackupTarget
  readonly reader: BackupReader
  readonly verification: Verification
  found: Found
  /** As the cursor names what was found. */
  name: string
  shard: { readonly at: number; readonly entries: readonly ChunkEntry[] } | null
}

export class BackupVerifying {
  readonly #parts: BackupVerifyingParts
  readonly #retry = new RetryWait()
  #opened: Opened | null = null
  #notBefore = 0
  #stopping: AbortSignal | null = null

  constructor(parts: BackupVerifyingParts) {
    this.#parts = parts
  }

  /** One step of the verification under way; resolves with true when there is more to do at once. `stopping` ends it. Throws Condition. */
  async round(stopping: AbortSignal | null = null): Promise<boolean> {
    this.#stopping = stopping
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

  /** Of the state that this node has: the same at every node. */
  metrics(): readonly MetricSample[] {
    const { state } = this.#parts
    return state.usable === null ? [] : checkSamples(state.cut(checksOf))
  }

  /** Ends the connections to the target, and forgets the keys. */
  async close(): Promise<void> {
    const { target } = this.#opened ?? {}
    this.#opened = null
    await target?.close()
  }

  async #failed(operation: Verify, error: unknown): Promise<boolean> {
    await this.close()
    if (error instanceof Abandoned) return false
    if (!(error instanceof TargetError)) throw error
    const { propose, logger, now } = this.#parts
    const { operationId, verify } = operation
    if (error.isRetryable) {
      const { failures, isNews } = this.#retry.failed(now(), error.name)
      if (isNews)
        logger.warn({ err: error, failures, operation: operationId }, 'verification waits for its target')
      return false
    }
    logger.error({ err: error, operation: operationId }, 'verification of a backup failed')
    // Its manifest was there when it was asked for.
    if (damageOf(error) === 'damaged')
      await propose({
        type: 'recordBackupCheck',
        operationId,
        check: { ...verify, tenantId: null, cutAt: 0, chunks: 0, damageCount: 1 },
      })
    await this.#end(operation, error.message)
    return true
  }

  async #step(operation: Verify): Promise<boolean> {
    const [step, shard = '', done = '', name = NOTHING] = operation.cursor.split('/')
    if (step === '') return this.#learn(operation)
    const opened = await this.#open(operation, name)
    if (step === 'chunks') return this.#check(operation, opened, { at: Number(shard), done: Number(done) })
    return this.#report(operation, opened)
  }

  async #learn(operation: Verify): Promise<boolean> {
    await this.close()
    const opened = await this.#begin(operation)
    const { chunks, chunkBytes } = opened.reader.manifest
    const name = await this.#note(opened, opened.found.damages, [])
    return this.#advance(operation, `chunks/0/0/${name}`, 'reading chunks', {
      blobsTotal: chunks,
      bytesTotal: chunkBytes,
      checksumFailures: opened.found.damages.length,
    })
  }

  async #check(
    operation: Verify,
    opened: Opened,
    { at, done }: { readonly at: number; readonly done: number },
  ): Promise<boolean> {
    const { reader, verification } = opened
    const file = reader.manifest.chunkFiles[at]
    if (file === undefined)
      return this.#advance(operation, `end/0/0/${opened.name}`, 'looking for what needs them', {})
    const damages: Damage[] = []
    if (opened.shard?.at !== at) {
      const listed = await verification.list(file)
      damages.push(...listed.damages)
      opened.shard = { at, entries: listed.entries }
    }
    const { entries } = opened.shard
    const rate = operation.maxBytesPerSecond
    const step = chunkStep(entries, done, rate)
    const broken: ChunkEntry[] = []
    let [bytes, whole] = [0, 0]
    const left = [...step]
    const work = async (): Promise<void> => {
      for (let entry = left.shift(); entry !== undefined; entry = left.shift()) {
        this.#mustBeMine(operation)
        const checked = await verification.check(entry)
        bytes += checked.bytes
        if (checked.damage === null) whole++
        else {
          damages.push(checked.damage)
          broken.push(entry)
        }
      }
    }
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
    const { now } = this.#parts
    if (rate !== null) this.#notBefore = now() + (bytes / rate) * 1000
    const name = await this.#note(opened, damages, broken)
    const reached = done + step.length
    const next = reached >= entries.length ? `chunks/${at + 1}/0` : `chunks/${at}/${reached}`
    return this.#advance(operation, `${next}/${name}`, 'reading chunks', {
      blobsDone: whole,
      bytesMoved: bytes,
      checksumFailures: damages.length,
    })
  }

  async #report(operation: Verify, opened: Opened): Promise<boolean> {
    const { propose, cluster, logger } = this.#parts
    const { reader, found } = opened
    const { operationId, verify, progress, startedAt, createdAt } = operation
    const { rows, damages, chunks } = found
    const needed = found.areRowsWhole ? await lostVersions(() => reader.rowBlocks(), chunks) : null
    this.#mustBeMine(operation)
    if (!(await reader.isListed())) return this.#end(operation, 'The backup was removed meanwhile')
    const { checksumFailures: damageCount, blobsDone } = progress
    await writeReport(reader, {
      operationId,
      startedAt: startedAt ?? createdAt,
      finishedAt: cluster.time.now(),
      rows,
      chunks: blobsDone,
      damageCount,
      damages,
      versionCount: needed?.versions ?? null,
      versions: needed?.named.slice(0, VERSIONS_NAMED_MAX) ?? [],
      auditRows: needed?.auditRows ?? 0,
    })
    const { cutAt } = reader.manifest
    const tenantId = scopeOf(reader.manifest)
    const check = { ...verify, tenantId, cutAt, chunks: blobsDone, damageCount }
    const recorded = await propose({ type: 'recordBackupCheck', operationId, check })
    if (!recorded.ok) return false
    if (damageCount > 0) logger.error({ operation: operationId, damages: damageCount }, 'backup is damaged')
    else logger.info({ operation: operationId, chunks: blobsDone }, 'backup is whole')
    const why = `${damageCount} parts of the backup are missing, damaged or do not open; holdfast backup show names them, and the versions that need them`
    return this.#end(operation, damageCount === 0 ? null : why)
  }

  /** Null: it has found nothing. */
  async #end({ operationId }: Verify, error: string | null): Promise<boolean> {
    const action = error === null ? 'finish' : 'fail'
    const why = error?.slice(0, ERROR_MAX) ?? null
    const reply = await this.#parts.propose({ type: 'setOperationStatus', operationId, action, error: why })
    await this.close()
    return reply.ok
  }

  /** A refusal is fine: another node was first, or the operation is over; what is open here may be of another place then. */
  async #advance(
    { operationId, cursor: from }: Verify,
    cursor: string,
    phase: string,
    counted: Partial<Omit<LongOperationProgress, 'tasksOpen'>>,
  ): Promise<boolean> {
    const { propose } = this.#parts
    const reply = await propose({ type: 'advanceOperation', operationId, from, cursor, phase, counted })
    if (!reply.ok) await this.close()
    return reply.ok
  }

  /** The name under which all that was found is in the target. */
  async #note(opened: Opened, damages: readonly Damage[], broken: readonly ChunkEntry[]): Promise<string> {
    if (damages.length === 0) return opened.name
    const { found } = opened
    const next = withFound(
      { ...found, damages: opened.name === NOTHING ? [] : found.damages },
      damages,
      broken.map(({ tenantId, id }) => ({ tenantId, id })),
    )
    opened.found = next
    opened.name = await keepFound(opened.reader, next)
    return opened.name
  }

  /** As the cursor of the operation says, which another node may have moved. */
  async #open(operation: Verify, name: string): Promise<Opened> {
    const present = this.#opened
    if (present?.operationId === operation.operationId && present.name === name) return present
    await this.close()
    const opened = await this.#begin(operation)
    if (name !== NOTHING) opened.found = await readFound(opened.reader, name)
    opened.name = name
    return opened
  }

  async #begin(operation: Verify): Promise<Opened> {
    const { cluster, masterKey, openTarget } = this.#parts
    const { operationId, verify } = operation
    const target = openTarget(verify.target)
    try {
      const at = { cluster: cluster.clusterId, backupId: verify.backupId }
      const reader = await BackupReader.open(target, at, masterKey)
      const verification = new Verification(reader, masterKey)
      const damages = await verification.learn(() => this.#mustBeMine(operation))
      const areRowsWhole = !damages.some(({ name }) => name === 'state')
      const found = { rows: verification.rows, areRowsWhole, damages, chunks: [] }
      this.#opened = { operationId, target, reader, verification, found, name: NOTHING, shard: null }
      return this.#opened
    } catch (error) {
      await target.close()
      throw error
    }
  }

  /** Throws Abandoned. */
  #mustBeMine({ operationId }: Verify): void {
    const { cluster, state } = this.#parts
    const present = state.get(longOperationKeys.operation(operationId))
    if (this.#stopping?.aborted === true) throw new Abandoned()
    if (!cluster.isJobRunner() || present === undefined || !isWorkable(present)) throw new Abandoned()
  }
}

function isWorkable(operation: LongOperation): operation is Verify {
  return (
    operation.kind === 'backupVerify' && (operation.status === 'queued' || operation.status === 'running')
  )
}

export function checkSamples(
  checks: readonly Pick<BackupCheck, 'target' | 'tenantId' | 'checkedAt' | 'damageCount'>[],
): readonly MetricSample[] {
  return checks.flatMap(({ target, tenantId, checkedAt, damageCount }) => {
    const labels = { target, scope: tenantId ?? 'cluster' }
    return [
      gauge(
        'holdfast_backup_verified_timestamp_seconds',
        'When the last verification of a backup in the target ended.',
        checkedAt / 1000,
        labels,
      ),
      gauge(
        'holdfast_backup_verified_damages',
        'Parts that the last verification of a backup in the target found missing, damaged or not to open.',
        damageCount,
        labels,
      ),
    ]
  })
}
