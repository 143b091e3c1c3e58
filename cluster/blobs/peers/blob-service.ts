/**
 * Serves the blob calls of peers: stores copies, sends copies, verifies its own copies.
 *
 * Owns: the handlers of the blob calls and their bounds. Knows nothing of: who else holds a copy.
 * Rule: `blob.put` answers only after the copy is durable here.
 */
import type { Clock } from '../../base/clock.ts'
import {
  type IncomingCall,
  type OutgoingAnswer,
  PeerRefusedError,
  PeerUnreachableError,
  type PeerCalls,
} from '../../transport/transport.ts'
import type { PeerTraces, Traceparent } from '../../base/peer-traces.ts'
import { BlobDamagedError, BlobMissingError, Condition } from '../../base/types.ts'
import {
  BLOB_METHODS,
  BLOB_REFUSALS,
  type NamedContent,
  readBatchOf,
  readContentOf,
  readName,
  readRangeOf,
  readTraceOf,
  readTracesOf,
} from '../base/blob-calls.ts'
import type { BlobLimits } from '../base/blob-limits.ts'
import { BlobWriteError } from '../base/blob-store.ts'
import { limitStalls, primed } from '../base/bounded-stream.ts'
import { type CutBlob, cutBatch } from './incoming-batch.ts'
import type { LocalBlobs } from '../disk/local-blobs.ts'
import { Slots } from './slots.ts'
import { releaseBytes, releasing } from '../base/spent-bytes.ts'
import { WholeBytes } from '../base/whole-bytes.ts'

export interface BlobServiceOptions {
  readonly local: LocalBlobs
  readonly clock: Clock
  readonly limits: BlobLimits
  /** Absent or null: this node measures for no trace. */
  readonly traces?: PeerTraces | null
}

export class BlobService {
  readonly #local: LocalBlobs
  readonly #clock: Clock
  readonly #limits: BlobLimits
  readonly #traces: PeerTraces | null
  readonly #puts: Slots
  readonly #gets: Slots

  constructor({ local, clock, limits, traces = null }: BlobServiceOptions) {
    this.#local = local
    this.#clock = clock
    this.#limits = limits
    this.#traces = traces
    const waiting = { waitersMax: limits.incomingWaitingMax, waitMs: limits.incomingWaitMs, clock }
    this.#puts = new Slots({ refusal: 'Cannot take a blob', count: limits.incomingPutsMax, ...waiting })
    this.#gets = new Slots({ refusal: 'Cannot give a blob', count: limits.incomingGetsMax, ...waiting })
  }

  register(transport: PeerCalls): void {
    transport.handle(BLOB_METHODS.put, (call) => refusing(() => this.#put(call)))
    transport.handle(BLOB_METHODS.puts, (call) => refusing(() => this.#putBatch(call)))
    transport.handle(BLOB_METHODS.get, (call) => refusing(() => this.#get(call)))
    transport.handle(BLOB_METHODS.stat, (call) => refusing(() => this.#stat(call)))
    transport.handle(BLOB_METHODS.report, (call) => refusing(() => this.#report(call)))
    transport.handle(BLOB_METHODS.disk, () => refusing(() => this.#disk()))
  }

  async #put(call: IncomingCall): Promise<OutgoingAnswer> {
    const name = readName(call.header)
    const content = readContentOf(call.header)
    const release = await this.#puts.acquire()
    try {
      const write = (): Promise<void> => this.#local.write(name, this.#limited(call), content)
      await this.#traced(readTraceOf(call.header), content.size, write)
    } finally {
      release()
    }
    return { header: {} }
  }

  /**
   * All blobs of a call are written together, so that they share a flush. A blob that fails does not affect the others; one that the body
   * does not fully contain fails too.
   */
  async #putBatch(call: IncomingCall): Promise<OutgoingAnswer> {
    const blobs = readBatchOf(call.header)
    const traces = this.#traces === null ? NO_TRACES : readTracesOf(call.header, blobs.length)
    const release = await this.#puts.acquire()
    try {
      const whole: CutBlob[] = []
      for await (const cut of cutBatch(blobs, this.#limited(call))) whole.push(cut)
      const outcomes = await Promise.all(
        whole.map(({ blob, bytes }, n) => {
          const write = (): Promise<void> => this.#writeWhole(blob, bytes)
          return outcomeOf(this.#traced(traces.get(n) ?? null, blob.size, write))
        }),
      )
      const cutOff = blobs
        .slice(outcomes.length)
        .map((): Outcome => ['size_mismatch', 'The body is too short'])
      return { header: { outcomes: [...outcomes, ...cutOff] } }
    } finally {
      release()
    }
  }

  /** Until the copy is durable here, as a piece of the span of the node that sent it. */
  #traced(parent: Traceparent | null, bytes: number, write: () => Promise<void>): Promise<void> {
    if (parent === null || this.#traces === null) return write()
    return this.#traces.within(parent, { name: 'store copy', attributes: { bytes } }, write)
  }

  /** When the write has failed a system call may still use the bytes: then they are left to the garbage collection. */
  async #writeWhole(blob: NamedContent, bytes: Uint8Array): Promise<void> {
    await this.#local.write(blob, new WholeBytes(bytes), blob)
    releaseBytes(bytes)
  }

  /** The pieces come from a socket and go to a store, which no longer reads a piece once it requests the next one. */
  #limited(call: IncomingCall): AsyncIterable<Uint8Array> {
    const onStall = () => new PeerUnreachableError(call.from, 'Cannot take a blob: the sender stalled')
    const body = limitStalls(call.body, { clock: this.#clock, stallMs: this.#limits.stallMs, onStall })
    return releasing(body)
  }

  async #get(call: IncomingCall): Promise<OutgoingAnswer> {
    const name = readName(call.header)
    const { start, end } = readRangeOf(call.header)
    const release = await this.#gets.acquire()
    return { header: {}, body: await primed(this.#local.read(name, start, end), release) }
  }

  async #stat(call: IncomingCall): Promise<OutgoingAnswer> {
    const content = await this.#local.stat(readName(call.header))
    if (content === null) throw new PeerRefusedError(BLOB_REFUSALS.missing, 'The blob is not on this node')
    return { header: content }
  }

  /** Reads a whole blob from the disk, so it takes a slot of the reads. */
  async #report(call: IncomingCall): Promise<OutgoingAnswer> {
    const name = readName(call.header)
    const release = await this.#gets.acquire()
    try {
      return { header: { verdict: await this.#local.judge(name) } }
    } finally {
      release()
    }
  }

  async #disk(): Promise<OutgoingAnswer> {
    const { level, isSuspect } = await this.#local.usage()
    return { header: { level, isSuspect } }
  }
}

const NO_TRACES: ReadonlyMap<number, Traceparent> = new Map()

/** Null means durable. */
type Outcome = readonly [code: string, message: string] | null

/** Never rejects. */
async function outcomeOf(write: Promise<void>): Promise<Outcome> {
  try {
    await write
    return null
  } catch (cause) {
    return [refusalCode(cause) ?? 'internal', cause instanceof Error ? cause.message : String(cause)]
  }
}

/** An error that a caller can react to becomes a refusal with a code; any other error is thrown unchanged. */
async function refusing(answer: () => Promise<OutgoingAnswer>): Promise<OutgoingAnswer> {
  try {
    return await answer()
  } catch (cause) {
    const code = refusalCode(cause)
    if (code === null || !(cause instanceof Error)) throw cause
    throw new PeerRefusedError(code, cause.message, { cause })
  }
}

function refusalCode(cause: unknown): string | null {
  if (cause instanceof BlobMissingError) return BLOB_REFUSALS.missing
  if (cause instanceof BlobDamagedError) return BLOB_REFUSALS.damaged
  if (cause instanceof BlobWriteError || cause instanceof Condition) return cause.code
  if (cause instanceof RangeError) return BLOB_REFUSALS.invalid
  return null
}
