/**
 * Drives the prune of backups: first the backups that no rule keeps, then shard after shard the chunks that none of the others names.
 *
 * Owns: the order, the place in the cursor. Knows nothing of: which backups go, which chunks are safe to remove. Rules: no backup is under way meanwhile,
 * because apply starts neither beside the other; before each batch of removals the node passes a read barrier and looks whether the operation is still
 * unfinished, so that a node that was replaced removes nothing for one that has started since.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { SHARDS } from '../backup/format/names.ts'
import {
  listedIn,
  planPrune,
  type PruneParts,
  type PrunePlan,
  removeBackups,
  sweepShard,
} from '../backup/retention/prune.ts'
import type { OpenTarget } from '../backup/targets/open-target.ts'
import { type BackupTarget, TargetError } from '../backup/targets/target.ts'
import type { Propose } from '../commands/propose.ts'
import { longOperationKeys } from '../state-machine/long-operations/keys.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import type {
  BackupPrune,
  LongOperation,
  LongOperationProgress,
} from '../state-machine/long-operations/records.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { Abandoned } from './base/abandoned.ts'
import { RetryWait } from './base/retry-wait.ts'

export interface BackupPruningParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'clusterId' | 'readBarrier'>
  readonly state: StateReader
  readonly propose: Propose
  readonly masterKey: Pick<MasterKey, 'open'>
  readonly openTarget: OpenTarget
  /** Monotonic, ms. */
  readonly now: () => number
  readonly logger: Logger
}

type Prune = LongOperation & { readonly prune: BackupPrune }

interface Opened {
  readonly operationId: string
  readonly target: BackupTarget
  readonly plan: PrunePlan
}

const ERROR_MAX = 1024

export class BackupPruning {
  readonly #parts: BackupPruningParts
  readonly #retry = new RetryWait()
  #opened: Opened | null = null

  constructor(parts: BackupPruningParts) {
    this.#parts = parts
  }

  /** One step of the prune under way; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state, now } = this.#parts
    const operation = cluster.isJobRunner() ? unfinishedOperations(state).find(isWorkable) : undefined
    if (operation === undefined) {
      await this.close()
      return false
    }
    if (!this.#retry.isDue(now())) return false
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
    const { target } = this.#opened ?? {}
    this.#opened = null
    await target?.close()
  }

  async #failed({ operationId }: Prune, error: unknown): Promise<boolean> {
    if (error instanceof Abandoned) return false
    await this.close()
    if (!(error instanceof TargetError)) throw error
    const { propose, logger, now } = this.#parts
    if (error.isRetryable) {
      const { failures, isNews } = this.#retry.failed(now(), error.name)
      if (isNews) logger.warn({ err: error, failures, operation: operationId }, 'prune waits for its target')
      return false
    }
    logger.error({ err: error, operation: operationId }, 'prune of backups failed')
    const why = error.message.slice(0, ERROR_MAX)
    await propose({ type: 'setOperationStatus', operationId, action: 'fail', error: why })
    return true
  }

  async #step(operation: Prune): Promise<boolean> {
    const [step, at = '0'] = operation.cursor.split('/')
    const { target, plan } = await this.#open(operation)
    const parts = this.#pruneParts(target)
    const check = (): Promise<void> => this.#check(operation)
    if (step === '') {
      await removeBackups(parts, plan, check)
      // What was removed is no part of the plan any more.
      await this.close()
      return this.#advance(operation, 'shards/0', 'removing chunks', {})
    }
    const shard = SHARDS[Number(at)]
    const [unreadable] = plan.unreadable
    if (unreadable !== undefined)
      return this.#finish(
        operation,
        `No chunk was removed: backup ${unreadable.id} cannot be read: ${unreadable.problem}`,
      )
    if (shard === undefined) return this.#finish(operation, operation.progress.skipped === 0 ? null : SKIPPED)
    const { chunks, bytes, problem } = await sweepShard(parts, { stays: listedIn(plan), shard }, check)
    if (problem !== null) this.#parts.logger.warn({ shard, reason: problem }, 'prune leaves a shard as it is')
    const counted = { blobsDone: chunks, bytesMoved: bytes, skipped: Number(problem !== null) }
    return this.#advance(operation, `shards/${Number(at) + 1}`, 'removing chunks', counted)
  }

  async #open({ operationId, tenantId, prune }: Prune): Promise<Opened> {
    if (this.#opened?.operationId === operationId) return this.#opened
    await this.close()
    const target = this.#parts.openTarget(prune.target)
    const plan = await planPrune(this.#pruneParts(target), { keep: prune.keep, tenantId })
    this.#opened = { operationId, target, plan }
    return this.#opened
  }

  #pruneParts(target: BackupTarget): PruneParts {
    const { cluster, masterKey } = this.#parts
    return { target, clusterId: cluster.clusterId, masterKey }
  }

  async #finish({ operationId, progress }: Prune, error: string | null): Promise<boolean> {
    const { propose, logger } = this.#parts
    const why = error?.slice(0, ERROR_MAX) ?? null
    const reply = await propose({ type: 'setOperationStatus', operationId, action: 'finish', error: why })
    await this.close()
    const { blobsDone: chunks, bytesMoved: bytes } = progress
    logger.info({ operation: operationId, chunks, bytes, reason: why }, 'prune of backups done')
    return reply.ok
  }

  /** A refusal is fine: another node was first, or the operation is over; the next round sees it. */
  async #advance(
    { operationId, cursor: from }: Prune,
    cursor: string,
    phase: string,
    counted: Partial<Omit<LongOperationProgress, 'tasksOpen'>>,
  ): Promise<boolean> {
    const reply = await this.#parts.propose({
      type: 'advanceOperation',
      operationId,
      from,
      cursor,
      phase,
      counted,
    })
    return reply.ok
  }

  /** Throws Abandoned. */
  async #check({ operationId }: Prune): Promise<void> {
    const { cluster, state } = this.#parts
    await cluster.readBarrier()
    const present = state.get(longOperationKeys.operation(operationId))
    if (!cluster.isJobRunner() || present === undefined || !isWorkable(present)) throw new Abandoned()
  }
}

const SKIPPED =
  'Shards whose lists of chunks cannot be read were left as they are; verify the backups that stay'

function isWorkable(operation: LongOperation): operation is Prune {
  return operation.kind === 'backupPrune' && (operation.status === 'queued' || operation.status === 'running')
}
