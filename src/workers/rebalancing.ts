/**
 * Drives rebalance operations: walks their chunks and plans moves for copies that are not in their place.
 *
 * Owns: the pace and the position of the walk, the end of an operation and of its tasks. Knows nothing of: how a copy is made.
 * Rules: the position moves by compare and set after the moves up to it were granted, so another node continues exactly there
 * and plans at most one batch again, which changes nothing; at most OPEN_MAX tasks plus one batch are open.
 */
import type { CopyMove } from '../state-machine/chunks/commands.ts'
import type { Cluster, Logger } from '../../cluster/index.ts'
import { taskKey } from '../state-machine/chunks/chunk-rows.ts'
import { ITEMS_PER_COMMAND_MAX } from '../state-machine/base/batch-bound.ts'
import type { ChunkRecord, RepairRecord } from '../state-machine/chunks/records.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'
import { ALL_PLANNED } from '../state-machine/long-operations/operations.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import type { Propose } from '../commands/propose.ts'
import type { Page } from '../store/reads/state-reader.ts'
import { chunksOfBucket, chunksOfTenant, type WalkedChunk } from '../store/reads/chunk-walk.ts'
import { movesOf } from '../state-machine/chunks/copy-moves.ts'
import { bucketKeys } from '../state-machine/buckets/keys.ts'
import { chunkRanges } from '../state-machine/chunks/keys.ts'
import { longOperationRanges } from '../state-machine/long-operations/keys.ts'

export interface RebalancingParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'placement'>
  readonly state: StateReader
  readonly propose: Propose
  /** Of this process, ms; only differences count. */
  readonly now: () => number
  readonly logger: Logger
}

const OPEN_MAX = 512
/** An operation with a rate of its own plans this many seconds of it at a time. */
const BATCH_SECONDS = 5
const PAGE_ROWS = 256

interface Batch {
  readonly moves: readonly CopyMove[]
  /** Granted by a step that was not counted: its driver stopped, or another one was first. */
  readonly granted: number
  /** Of both. */
  readonly bytes: number
  /** Chunks that need no move. */
  readonly settled: number
  readonly next: string
}

export class Rebalancing {
  readonly #parts: RebalancingParts
  /** When an unfinished operation with a rate may plan again. */
  #notBefore = new Map<string, number>()
  /** Operations taken up since this node became the job runner. */
  readonly #driven = new Set<string>()

  constructor(parts: RebalancingParts) {
    this.#parts = parts
  }

  /** One step of each operation; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    if (!this.#parts.cluster.isJobRunner()) {
      this.#notBefore.clear()
      this.#driven.clear()
      return false
    }
    let isMore = false
    let after: string | null = ''
    while (after !== null) {
      const page: Page<LongOperation> = await this.#parts.state.page(longOperationRanges.operations(), {
        after,
        limit: PAGE_ROWS,
      })
      for (const operation of page.items) isMore = (await this.#step(operation)) || isMore
      after = page.next
    }
    return isMore
  }

  async #step(operation: LongOperation): Promise<boolean> {
    if (operation.kind !== 'rebalance') return false
    switch (operation.status) {
      case 'queued':
      case 'running':
        this.#takeUp(operation)
        return operation.cursor === ALL_PLANNED ? this.#finish(operation) : this.#plan(operation)
      case 'cancelled':
      case 'failed':
        this.#forget(operation.operationId)
        return operation.progress.tasksOpen > 0 && this.#endTasks(operation.operationId)
      case 'succeeded':
      case 'paused':
        this.#forget(operation.operationId)
        return false
    }
  }

  #takeUp({ operationId, cursor }: LongOperation): void {
    if (this.#driven.has(operationId)) return
    this.#driven.add(operationId)
    const step = cursor === ALL_PLANNED ? 'wait' : 'plan'
    this.#parts.logger.info({ operation: operationId, step }, 'rebalance taken up')
  }

  #forget(operationId: string): void {
    this.#notBefore.delete(operationId)
    this.#driven.delete(operationId)
  }

  async #plan(operation: LongOperation): Promise<boolean> {
    const { operationId, cursor: from } = operation
    if (operation.progress.tasksOpen > OPEN_MAX) return false
    if ((this.#notBefore.get(operationId) ?? 0) > this.#parts.now()) return false
    const batch = await this.#nextBatch(operation)
    if (batch === null) return this.#fail(operation)
    const granted = await this.#grant(operationId, batch.moves)
    if (granted === null) return false
    const skipped = batch.settled + batch.moves.length - granted
    const blobsTotal = batch.granted + granted + skipped
    const counted = { blobsTotal, bytesTotal: batch.bytes, skipped }
    const phase = batch.next === ALL_PLANNED ? 'waiting for copies' : 'planning copies'
    const advance = { operationId, from, cursor: batch.next, phase, counted }
    const reply = await this.#parts.propose({ type: 'advanceOperation', ...advance })
    const { maxBytesPerSecond } = operation
    if (maxBytesPerSecond !== null)
      this.#notBefore.set(operationId, this.#parts.now() + (batch.bytes / maxBytesPerSecond) * 1000)
    if (reply.ok && batch.next === ALL_PLANNED)
      this.#parts.logger.info({ operation: operationId, step: 'wait' }, 'rebalance step')
    return reply.ok
  }

  /** How many were granted; null when the operation may not plan any more. */
  async #grant(operation: string, moves: readonly CopyMove[]): Promise<number | null> {
    if (moves.length === 0) return 0
    const reply = await this.#parts.propose({ type: 'planCopies', operation, moves })
    return reply.ok ? reply.value.planned : null
  }

  /** Null when its tenant or bucket is gone. */
  async #nextBatch(operation: LongOperation): Promise<Batch | null> {
    const { state } = this.#parts
    const { tenantId, bucket, cursor } = operation
    if (tenantId === null) return null
    if (bucket === null) {
      const chunks = await chunksOfTenant(state, tenantId, cursor, PAGE_ROWS)
      const isLast = chunks.length < PAGE_ROWS
      return this.#batchOf(operation, chunks, isLast ? ALL_PLANNED : (chunks.at(-1)?.position ?? ALL_PLANNED))
    }
    const record = state.get(bucketKeys.bucket(tenantId, bucket))
    if (record === undefined) return null
    const { chunks, next } = await chunksOfBucket(state, record, cursor, PAGE_ROWS)
    return this.#batchOf(operation, chunks, next)
  }

  /** As many of the chunks as fit one command, and the operation's rate. */
  #batchOf(operation: LongOperation, chunks: readonly WalkedChunk[], next: string): Batch {
    const { operationId, maxBytesPerSecond } = operation
    const bytesMax = maxBytesPerSecond === null ? Infinity : maxBytesPerSecond * BATCH_SECONDS
    const moves: CopyMove[] = []
    let [bytes, granted, settled] = [0, 0, 0]
    for (const [n, { chunk }] of chunks.entries()) {
      const wanted = this.#parts.cluster.placement(chunk.id as string)
      const more = movesOf(chunk, wanted)
      const isFull = moves.length + more.length > ITEMS_PER_COMMAND_MAX || bytes >= bytesMax
      const before = chunks[n - 1]
      if (isFull && before !== undefined) return { moves, granted, bytes, settled, next: before.position }
      moves.push(...more)
      const earlier = this.#grantedTo(operationId, chunk)
      granted += earlier
      bytes += (earlier + more.length) * chunk.sealedSize
      if (earlier + more.length === 0) settled++
    }
    return { moves, granted, bytes, settled, next }
  }

  #grantedTo(operation: string, chunk: ChunkRecord): number {
    const { state } = this.#parts
    return chunk.owed.filter((target) => state.get(taskKey(chunk, target))?.operation === operation).length
  }

  async #finish({ operationId, progress }: LongOperation): Promise<boolean> {
    if (progress.tasksOpen > 0) return false
    this.#forget(operationId)
    await this.#parts.propose({ type: 'setOperationStatus', operationId, action: 'finish', error: null })
    this.#parts.logger.info({ operation: operationId, bytes: progress.bytesMoved }, 'rebalance done')
    return false
  }

  async #fail({ operationId, bucket }: LongOperation): Promise<boolean> {
    const error = bucket === null ? 'It names no tenant' : `Bucket "${bucket}" does not exist any more`
    await this.#parts.propose({ type: 'setOperationStatus', operationId, action: 'fail', error })
    this.#parts.logger.warn({ operation: operationId, reason: error }, 'rebalance failed')
    return true
  }

  /** Withdraws the grants of an operation that does not continue. */
  async #endTasks(operation: string): Promise<boolean> {
    const tasks: RepairRecord[] = []
    let after: string | null = ''
    while (after !== null && tasks.length < ITEMS_PER_COMMAND_MAX) {
      const page: Page<RepairRecord> = await this.#parts.state.page(chunkRanges.repairs(), {
        after,
        limit: PAGE_ROWS,
      })
      tasks.push(...page.items.filter((task) => task.operation === operation))
      after = page.next
    }
    if (tasks.length === 0) return false
    const ended = tasks.slice(0, ITEMS_PER_COMMAND_MAX).map(({ tenantId, chunkId, birth, target }) => {
      return { tenantId, chunkId, birth, target }
    })
    const reply = await this.#parts.propose({ type: 'endTasks', operation, tasks: ended })
    return reply.ok && reply.value.ended > 0
  }
}
