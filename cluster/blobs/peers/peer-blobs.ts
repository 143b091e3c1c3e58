/**
 * Client side of the blob calls: access to the copies of other nodes.
 *
 * Owns: the calls, and what their outcomes mean for a peer's health.
 * Rule: a stream that ends early is a failure of the peer, never a short blob; a peer that answers with a refusal is healthy.
 */
import type { Clock } from '../../base/clock.ts'
import {
  type CallRequest,
  type CallResponse,
  PeerRefusedError,
  PeerUnreachableError,
  type PeerCalls,
} from '../../transport/transport.ts'
import type { PeerTraces, Traceparent } from '../../base/peer-traces.ts'
import { BlobDamagedError, BlobMissingError, type BlobName, type NodeId } from '../../base/types.ts'
import {
  BLOB_METHODS,
  BLOB_REFUSALS,
  type CopyVerdict,
  readDiskView,
  readOutcomes,
  readVerdict,
} from '../base/blob-calls.ts'
import type { BlobLimits } from '../base/blob-limits.ts'
import type { ExpectedContent } from '../base/blob-store.ts'
import { limitStalls } from '../base/bounded-stream.ts'
import type { DiskView } from '../../base/disk-level.ts'
import type { PeerHealth } from './peer-health.ts'
import { PutBatches } from './put-batches.ts'

export interface PeerBlobsOptions {
  readonly transport: PeerCalls
  readonly health: PeerHealth
  readonly clock: Clock
  readonly limits: BlobLimits
  /** Absent or null: no call names a trace. */
  readonly traces?: PeerTraces | null
}

export interface OutgoingBlob extends BlobName, ExpectedContent {
  readonly bytes: Uint8Array
  /** The span that the copy belongs to. Absent: it belongs to none. */
  readonly trace?: Traceparent
}

export class PeerBlobs {
  readonly #transport: PeerCalls
  readonly #health: PeerHealth
  readonly #clock: Clock
  readonly #limits: BlobLimits
  readonly #traces: PeerTraces | null
  /** As many as there are members. */
  readonly #batches = new Map<NodeId, PutBatches>()

  constructor({ transport, health, clock, limits, traces = null }: PeerBlobsOptions) {
    this.#transport = transport
    this.#health = health
    this.#clock = clock
    this.#limits = limits
    this.#traces = traces
  }

  /** Resolves when the peer's copy is durable. Throws PeerRefusedError or PeerUnreachableError. */
  async put(peer: NodeId, blob: OutgoingBlob, signal: AbortSignal): Promise<void> {
    const present = this.#traces?.present() ?? null
    const traced = present === null ? {} : { trace: present }
    if (blob.size > 0 && blob.size < this.#limits.batchedBelowBytes)
      return this.#batchesTo(peer).put(present === null ? blob : { ...blob, ...traced }, signal)
    const { id, birth, size, checksum, crc32c, bytes } = blob
    const header = { id, birth, size, checksum, ...(crc32c === undefined ? {} : { crc32c }), ...traced }
    const response = await this.#call(peer, BLOB_METHODS.put, { header, body: bytes, signal })
    await drain(response)
  }

  #batchesTo(peer: NodeId): PutBatches {
    const known = this.#batches.get(peer)
    if (known !== undefined) return known
    const batches = new PutBatches({ send: (blobs) => this.#putAll(peer, blobs) })
    this.#batches.set(peer, batches)
    return batches
  }

  async #putAll(peer: NodeId, blobs: readonly OutgoingBlob[]) {
    const rows = blobs.map(({ id, birth, size, checksum, crc32c }) =>
      crc32c === undefined ? [id, birth, size, checksum] : [id, birth, size, checksum, crc32c],
    )
    const body = blobs.map(({ bytes }) => bytes)
    const traces = blobs.flatMap(({ trace }, n) => (trace === undefined ? [] : [[n, trace]]))
    const header = { blobs: rows, ...(traces.length === 0 ? {} : { traces }) }
    const response = await this.#call(peer, BLOB_METHODS.puts, { header, body })
    await drain(response)
    return readOutcomes(response.header, blobs.length)
  }

  /** Throws BlobMissingError, BlobDamagedError or PeerUnreachableError, possibly in the middle of the stream. */
  async *get(peer: NodeId, name: BlobName, range: { readonly start: number; readonly end: number }) {
    const header = { id: name.id, birth: name.birth, ...range }
    const abort = new AbortController()
    let left = range.end - range.start
    try {
      const { body } = await this.#call(peer, BLOB_METHODS.get, { header, signal: abort.signal })
      for await (const piece of limitStalls(body, this.#stallLimit(peer))) {
        left -= piece.length
        if (left < 0) break
        yield piece
      }
    } catch (cause) {
      abort.abort()
      throw this.#readError(peer, cause)
    }
    if (left !== 0) throw this.#readError(peer, new Error('The stream does not have the requested length'))
  }

  async report(peer: NodeId, name: BlobName): Promise<CopyVerdict> {
    const response = await this.#call(peer, BLOB_METHODS.report, {
      header: { id: name.id, birth: name.birth },
    })
    await drain(response)
    return readVerdict(response.header)
  }

  /** The outcome does not change the peer's health: no caller waits for it, and an unreachable peer is asked as well. */
  async disk(peer: NodeId): Promise<DiskView> {
    const { callTimeoutMs: timeoutMs } = this.#limits
    const response = await this.#transport.call(peer, BLOB_METHODS.disk, { header: {}, timeoutMs })
    await drain(response)
    return readDiskView(response.header)
  }

  async #call(
    peer: NodeId,
    method: string,
    request: Pick<CallRequest, 'header' | 'body' | 'signal'>,
  ): Promise<CallResponse> {
    try {
      const response = await this.#transport.call(peer, method, {
        ...request,
        timeoutMs: this.#limits.callTimeoutMs,
      })
      this.#health.succeeded(peer)
      return response
    } catch (cause) {
      if (cause instanceof PeerRefusedError) this.#health.succeeded(peer)
      // A call that this node aborted says nothing about the peer.
      else if (request.signal?.aborted !== true) this.#health.failed(peer)
      throw cause
    }
  }

  #stallLimit(peer: NodeId) {
    const onStall = () => new PeerUnreachableError(peer, `Cannot read a blob: node "${peer}" stalled`)
    return { clock: this.#clock, stallMs: this.#limits.stallMs, onStall }
  }

  #readError(peer: NodeId, cause: unknown): Error {
    if (cause instanceof PeerRefusedError) {
      if (cause.code === BLOB_REFUSALS.missing) return new BlobMissingError(cause.message, { cause })
      if (cause.code === BLOB_REFUSALS.damaged) return new BlobDamagedError(cause.message, { cause })
    } else this.#health.failed(peer)
    if (cause instanceof PeerUnreachableError) return cause
    const why = cause instanceof Error ? cause.message : String(cause)
    return new PeerUnreachableError(peer, `Cannot read a blob from node "${peer}": ${why}`, { cause })
  }
}

async function drain(response: CallResponse): Promise<void> {
  for await (const piece of response.body) void piece
}
