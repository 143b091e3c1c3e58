/**
 * Drives exchanges of data keys: seals with the present key of a tenant what its former key seals, and ends the former key.
 * [docs/adr/0088-exchange-of-tenant-keys.md]
 *
 * Owns: the walk, the batches, the pace. Knows nothing of: how anything is sealed (src/content/resealing.ts), what may be changed; apply decides
 * that. Rules: rows say which key seals them, so a walk may begin again at any time and skips what is done; the place of a walk is in memory;
 * the end is proposed only after a whole walk has found nothing under the former key.
 */
import {
  Condition,
  counter,
  gauge,
  type Cluster,
  type Logger,
  type MetricSample,
} from '../../cluster/index.ts'
import type { Propose } from '../commands/propose.ts'
import type { ObjectContent } from '../content/object-content.ts'
import type { Upload, UploadOutcome, Uploads } from '../content/uploads.ts'
import type { ChunkRecord } from '../state-machine/chunks/records.ts'
import type { ResealedBody, ResealedChunk } from '../state-machine/key-exchange/commands.ts'
import { isHeld, leftUnderFormer } from '../state-machine/key-exchange/key-exchange.ts'
import { unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import type { LongOperation } from '../state-machine/long-operations/records.ts'
import { dataKeyVersionOf, keyVersionOf } from '../state-machine/tenants/data-keys.ts'
import { tenantKeys } from '../state-machine/tenants/keys.ts'
import type { FormerKey, TenantRecord } from '../state-machine/tenants/records.ts'
import { chunksOfTenant, type WalkedChunk } from '../store/reads/chunk-walk.ts'
import { FIRST_INLINE, inlinePage, type InlinePlace, type WalkedBody } from '../store/reads/inline-walk.ts'
import type { StateReader } from '../store/reads/state-reader.ts'

/** Rows that one round reads. */
const PAGE_ROWS = 256
/** Chunks or bodies of one entry. */
const ITEMS_PER_ENTRY = 64
/** Sealed bytes of the chunks of one batch, the last one beyond. */
const BATCH_BYTES = 64 * 1024 * 1024
/** Chunks that are sealed again at the same time. */
const CHUNKS_AT_ONCE = 8
/** Without a rate of its own an exchange rests as long as it worked. */
const REST_SHARE = 1
/** A round rests no longer than this, because a stop waits for its end. */
const REST_MAX_MS = 250
/** From the end of a walk that could not end the exchange to the next. */
const NEXT_WALK_AFTER_MS = 2_000

export interface KeyExchangeParts {
  readonly cluster: Pick<Cluster, 'isJobRunner' | 'blobs'>
  readonly state: StateReader
  readonly propose: Propose
  readonly content: Pick<ObjectContent, 'resealChunk' | 'resealInline'>
  readonly uploads: Uploads
  /** The confirmed time of the log, as far as it is applied here. ms since 1970 */
  readonly confirmedTime: () => number
  /** Of this process, ms; only differences count. */
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
  readonly logger: Logger
}

/** Where a walk is: in the chunks of the tenant, then in its small bodies. */
interface Walk {
  readonly chunksAt: string | null
  readonly bodiesAt: InlinePlace | null
  /** Rows under the former key that it has met. */
  readonly found: number
  /** Of these, chunks and bodies that could not be sealed again. */
  readonly failed: number
  /** When it continues. */
  readonly notBefore: number
}

const WALK_START = { chunksAt: '', bodiesAt: FIRST_INLINE, found: 0, failed: 0 } as const

type Exchange = LongOperation & { readonly tenantId: string }
type Exchanging = TenantRecord & { readonly formerKey: FormerKey }

interface Batch {
  readonly chunks: readonly ChunkRecord[]
  readonly bodies: readonly WalkedBody[]
  readonly next: Pick<Walk, 'chunksAt' | 'bodiesAt'>
}

interface Sealed {
  readonly chunks: readonly ResealedChunk[]
  readonly bodies: readonly ResealedBody[]
  readonly failed: number
}

export class KeyExchange {
  readonly #parts: KeyExchangeParts
  readonly #walks = new Map<string, Walk>()
  readonly #stopping = new AbortController()
  #resealed = { chunks: 0, bodies: 0, bytes: 0 }

  constructor(parts: KeyExchangeParts) {
    this.#parts = parts
  }

  /** One batch of one exchange; resolves with true when there is more to do at once. Throws Condition. */
  async round(): Promise<boolean> {
    const { cluster, state } = this.#parts
    const exchanges = cluster.isJobRunner() ? unfinishedOperations(state).filter(isExchange) : []
    for (const id of this.#walks.keys())
      if (!exchanges.some(({ operationId }) => operationId === id)) this.#walks.delete(id)
    const next = exchanges.filter(isDriven).reduce<Exchange | null>((first, one) => {
      return first === null || this.#walkOf(one).notBefore < this.#walkOf(first).notBefore ? one : first
    }, null)
    if (next === null) return false
    const waitMs = this.#walkOf(next).notBefore - this.#parts.now()
    if (waitMs <= 0) return this.#advance(next)
    await this.#parts.wait(Math.min(waitMs, REST_MAX_MS))
    return true
  }

  /** Gives up waiting for a slot. */
  close(): void {
    this.#stopping.abort(new Condition('shutting_down', 'This node is stopping'))
  }

  samples(): readonly MetricSample[] {
    const { state } = this.#parts
    const exchanges = state.usable === null ? [] : unfinishedOperations(state).filter(isExchange)
    const left = exchanges.map(({ tenantId }) => leftUnderFormer(state, tenantId))
    const { chunks, bodies, bytes } = this.#resealed
    const sum = (figure: 'chunks' | 'storedBytes' | 'inlineBytes'): number =>
      left.reduce((total, one) => total + one[figure], 0)
    return [
      gauge(
        'holdfast_former_key_chunks',
        'Chunks that are sealed with a former data key of their tenant.',
        sum('chunks'),
      ),
      gauge(
        'holdfast_former_key_bytes',
        'Sealed bytes of chunks, each once, and of small bodies under a former data key of their tenant.',
        sum('storedBytes') + sum('inlineBytes'),
      ),
      counter(
        'holdfast_resealed_chunks_total',
        'Chunks that this node has sealed with another data key.',
        chunks,
      ),
      counter(
        'holdfast_resealed_bodies_total',
        'Small bodies that this node has sealed with another data key.',
        bodies,
      ),
      counter('holdfast_resealed_bytes_total', 'Sealed bytes of both.', bytes),
    ]
  }

  #walkOf({ operationId }: Exchange): Walk {
    return this.#walks.get(operationId) ?? { ...WALK_START, notBefore: 0 }
  }

  async #advance(exchange: Exchange): Promise<boolean> {
    const { state, now } = this.#parts
    const { operationId, tenantId } = exchange
    const tenant = state.get(tenantKeys.tenant(tenantId))
    if (!isExchanging(tenant) || tenant.status === 'deleting') return this.#fail(exchange)
    const walk = this.#walkOf(exchange)
    if (isHeld(state, this.#parts.confirmedTime())) {
      await this.#report(exchange, 'waiting for a backup to end')
      return false
    }
    if (!(await this.#report(exchange, phaseOf(walk)))) return false
    if (walk.bodiesAt === null) return this.#endWalk(exchange, tenant, walk)
    const startedAt = now()
    const batch = await this.#nextBatch(tenant, walk)
    const wanted = batch.chunks.length + batch.bodies.length
    const { failed, bytes } = wanted === 0 ? NOTHING_DONE : await this.#reseal(exchange, tenant, batch)
    const restMs = Math.max((now() - startedAt) * REST_SHARE, restOf(exchange, bytes))
    this.#walks.set(operationId, {
      ...batch.next,
      found: walk.found + wanted,
      failed: walk.failed + failed,
      notBefore: now() + (wanted === 0 ? 0 : restMs),
    })
    return failed === 0 || failed < wanted
  }

  async #nextBatch(tenant: Exchanging, { chunksAt, bodiesAt }: Walk): Promise<Batch> {
    const { state } = this.#parts
    const isOld = (row: { readonly keyVersion?: number }): boolean =>
      keyVersionOf(row) === tenant.formerKey.version
    if (chunksAt !== null) {
      const page = await chunksOfTenant(state, tenant.id, chunksAt, PAGE_ROWS)
      const old = page.filter(({ chunk }) => isOld(chunk) && chunk.references > 0)
      const taken = withinBounds(old)
      const isWhole = taken.length === old.length
      const last = isWhole ? page.at(-1) : taken.at(-1)
      const at = isWhole && page.length < PAGE_ROWS ? null : (last?.position ?? null)
      return { chunks: taken.map(({ chunk }) => chunk), bodies: [], next: { chunksAt: at, bodiesAt } }
    }
    const { bodies, next } = await inlinePage(state, tenant.id, bodiesAt ?? FIRST_INLINE, ITEMS_PER_ENTRY)
    return { chunks: [], bodies: bodies.filter(({ row }) => isOld(row)), next: { chunksAt, bodiesAt: next } }
  }

  async #reseal(exchange: Exchange, tenant: Exchanging, batch: Batch): Promise<Done> {
    const { uploads } = this.#parts
    const upload = await uploads.begin()
    let outcome: UploadOutcome = 'known'
    try {
      const chunks = await this.#sealChunks(tenant, batch.chunks, upload)
      outcome = 'unknown'
      const done = await this.#commit(exchange, tenant, { ...chunks, bodies: [] })
      outcome = 'known'
      let { failed, bytes } = done
      // A page of parts names more of them than one entry holds.
      for (let first = 0; first < batch.bodies.length; first += ITEMS_PER_ENTRY) {
        const bodies = this.#sealBodies(tenant, batch.bodies.slice(first, first + ITEMS_PER_ENTRY))
        const more = await this.#commit(exchange, tenant, { ...bodies, chunks: [] })
        failed += more.failed
        bytes += more.bytes
      }
      return { failed, bytes }
    } finally {
      upload.end(outcome)
    }
  }

  async #commit({ operationId: operation }: Exchange, tenant: Exchanging, sealed: Sealed): Promise<Done> {
    const { cluster, propose } = this.#parts
    const { chunks, bodies, failed } = sealed
    if (chunks.length + bodies.length === 0) return { failed, bytes: 0 }
    const about = { tenantId: tenant.id, operation, keyVersion: dataKeyVersionOf(tenant) }
    const { copiesToAck: copiesMin } = cluster.blobs
    const reply = await propose({ type: 'resealBodies', ...about, copiesMin, chunks, bodies })
    // It was paused, or another node ended it.
    if (!reply.ok) throw new Condition('slow_down', reply.message)
    return { failed, bytes: this.#count(sealed) }
  }

  async #sealChunks(
    tenant: Exchanging,
    chunks: readonly ChunkRecord[],
    upload: Upload,
  ): Promise<Omit<Sealed, 'bodies'>> {
    const made: ResealedChunk[] = []
    let failed = 0
    const left = [...chunks]
    const sealInTurn = async (): Promise<void> => {
      for (let row = left.shift(); row !== undefined; row = left.shift()) {
        const one = await this.#sealed(tenant, row, upload.newBirth())
        if (one === 'failed') failed += 1
        else if (one !== null) made.push(one)
      }
    }
    await Promise.all(Array.from({ length: Math.min(CHUNKS_AT_ONCE, chunks.length) }, sealInTurn))
    return { chunks: made, failed }
  }

  #sealBodies(tenant: Exchanging, bodies: readonly WalkedBody[]): Omit<Sealed, 'chunks'> {
    const made = bodies.flatMap((body): readonly ResealedBody[] => {
      const sealed = this.#sealedInline(tenant, body)
      const { bucket, bucketId, bodyId } = body
      return sealed === null ? [] : [{ bucket, bucketId, bodyId, sealed }]
    })
    return { bodies: made, failed: bodies.length - made.length }
  }

  async #sealed(
    tenant: Exchanging,
    row: ChunkRecord,
    birth: string,
  ): Promise<ResealedChunk | null | 'failed'> {
    const { content, logger } = this.#parts
    try {
      return await content.resealChunk(tenant, row, birth, this.#stopping.signal)
    } catch (err) {
      logger.warn({ err, tenant: tenant.id, blob: row.id }, 'chunk not sealed again')
      return 'failed'
    }
  }

  #sealedInline(tenant: Exchanging, { chunkId, size, row, bodyId }: WalkedBody): Uint8Array | null {
    const { content, logger } = this.#parts
    try {
      return content.resealInline(tenant, { chunkId, size, row })
    } catch (err) {
      logger.error({ err, tenant: tenant.id, version: bodyId }, 'small body not sealed again')
      return null
    }
  }

  #count({ chunks, bodies }: Sealed): number {
    const bytes =
      chunks.reduce((sum, { sealedSize }) => sum + sealedSize, 0) +
      bodies.reduce((sum, { sealed }) => sum + sealed.length, 0)
    const { chunks: chunksBefore, bodies: bodiesBefore, bytes: bytesBefore } = this.#resealed
    this.#resealed = {
      chunks: chunksBefore + chunks.length,
      bodies: bodiesBefore + bodies.length,
      bytes: bytesBefore + bytes,
    }
    return bytes
  }

  /** A walk that met nothing may end the exchange; any other is followed by another one. */
  async #endWalk(exchange: Exchange, tenant: Exchanging, walk: Walk): Promise<boolean> {
    const { state, now, propose, logger } = this.#parts
    const { operationId: operation, tenantId } = exchange
    const left = leftUnderFormer(state, tenantId)
    const isNothing = walk.found === 0 && left.chunks === 0 && left.inlineBytes === 0
    if (isNothing) {
      const reply = await propose({ type: 'endKeyExchange', tenantId, operation })
      if (reply.ok) {
        logger.info(
          { operation, tenant: tenantId, keyVersion: tenant.formerKey.version },
          'former data key destroyed',
        )
        this.#walks.delete(operation)
        return false
      }
    }
    const failedText = `${walk.failed} of its chunks and bodies cannot be sealed again now; the former key stays until they are`
    const waiting = walk.failed > 0 ? failedText : 'waiting for removed content to be collected'
    if (walk.failed > 0 || walk.found === 0) await this.#report(exchange, waiting)
    const pauseMs = walk.found > walk.failed ? 0 : NEXT_WALK_AFTER_MS
    this.#walks.set(operation, { ...WALK_START, notBefore: now() + pauseMs })
    return true
  }

  /** False: the operation may not continue. */
  async #report(exchange: Exchange, phase: string): Promise<boolean> {
    const { operationId, cursor: from, status } = exchange
    if (status === 'running' && exchange.phase === phase) return true
    const isStill = exchange.phase.startsWith('waiting') && phase === CHECKING
    if (status === 'running' && isStill) return true
    const advance = { operationId, from, cursor: 'walk', phase, counted: {} }
    return (await this.#parts.propose({ type: 'advanceOperation', ...advance })).ok
  }

  async #fail({ operationId }: Exchange): Promise<boolean> {
    const error = 'The tenant is being deleted, which destroys its keys'
    await this.#parts.propose({ type: 'setOperationStatus', operationId, action: 'fail', error })
    this.#parts.logger.warn({ operation: operationId, reason: error }, 'exchange of a data key given up')
    return false
  }
}

/** At most one entry, and few enough bytes that a stop does not wait for long. */
function withinBounds(chunks: readonly WalkedChunk[]): readonly WalkedChunk[] {
  let bytes = 0
  return chunks.slice(0, ITEMS_PER_ENTRY).filter(({ chunk }) => {
    const fits = bytes < BATCH_BYTES
    bytes += chunk.sealedSize
    return fits
  })
}

interface Done {
  readonly failed: number
  /** Sealed again and committed. */
  readonly bytes: number
}

const NOTHING_DONE: Done = { failed: 0, bytes: 0 }
const CHECKING = 'looking for what the former key seals'

function phaseOf({ chunksAt, bodiesAt, found }: Walk): string {
  if (found === 0) return CHECKING
  if (chunksAt !== null) return 'sealing chunks again'
  return bodiesAt === null ? CHECKING : 'sealing small bodies again'
}

/** What its own rate asks for after so many bytes. ms */
function restOf({ maxBytesPerSecond }: Exchange, bytes: number): number {
  return maxBytesPerSecond === null ? 0 : (bytes / maxBytesPerSecond) * 1000
}

function isExchange(operation: LongOperation): operation is Exchange {
  return operation.kind === 'keyExchange' && operation.tenantId !== null
}

function isDriven({ status }: LongOperation): boolean {
  return status === 'queued' || status === 'running'
}

function isExchanging(tenant: TenantRecord | undefined): tenant is Exchanging {
  return tenant?.formerKey !== undefined
}
