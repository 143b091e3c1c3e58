/**
 * Threads that name and seal large chunks, so that the event loop, and with it every heartbeat, does not wait for that.
 *
 * Owns: the threads and the requests that wait for one, first come, first served. Knows nothing of: what sealing is.
 * Rules: not the libuv pool, where disk calls would wait behind sealing; a thread that dies fails only the request that it
 * had; an idle thread does not keep the process alive. Sealed bytes are in shared memory that is used again: new memory of that size
 * makes V8 collect its whole heap after a few chunks. The caller may use the shared memory of a request again only after
 * the request has settled: then no thread reads it.
 */
import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Condition } from '../../cluster/index.ts'
import type { ChunkId } from '../state-machine/base/record-ids.ts'
import { FRAME_BYTES, framesOf, type PlainBytes } from './frame-cipher.ts'
import { CHUNK_BYTES } from './chunk-slots.ts'
import { type Compression, type SealedBytes, sealedSizeOf } from './sealing.ts'
import type { SealingReply, SealingRequest } from './sealing-protocol.ts'
import type { TenantSecrets } from './tenant-keys.ts'

const WORKER_FILE = import.meta.url.endsWith('.ts') ? './sealing-worker.ts' : './sealing-worker.js'
/** More threads than this would take cores from the event loop and the log. */
const THREADS_BY_CORES_MAX = 4

const MEMORY_BYTES = sealedSizeOf(CHUNK_BYTES)
/** What two uploads have under way. More is made when more is sealed and stored at the same moment. */
const SPARES_MAX = 4

interface Job {
  readonly request: SealingRequest
  resolve(reply: SealingReply): void
  reject(error: Error): void
}

/** 0: half of the cores, from one to THREADS_BY_CORES_MAX. */
export function threadCount(setting: number): number {
  if (setting > 0) return setting
  return Math.min(THREADS_BY_CORES_MAX, Math.max(1, Math.floor(availableParallelism() / 2)))
}

export interface SealingPoolOptions {
  readonly threads: number
  /** Bound of waiting and running requests; the callers have a bound of their own that keeps them below it. */
  readonly jobsMax: number
  /** For tests: the program of a thread. */
  readonly workerFile?: URL
}

export class SealingPool {
  readonly #threadsMax: number
  readonly #jobsMax: number
  readonly #workerFile: URL
  readonly #waiting: Job[] = []
  readonly #idle = new Set<Worker>()
  readonly #running = new Map<Worker, Job>()
  readonly #spares: SharedArrayBuffer[] = []
  /** Sealed bytes that were not released. What failed never is, and goes to the garbage collection. */
  readonly #inUse = new WeakSet<Buffer>()
  #isClosed = false
  /** Called when no request waits or runs any more. */
  #onDrained: () => void = () => undefined

  constructor(options: SealingPoolOptions) {
    this.#threadsMax = options.threads
    this.#jobsMax = options.jobsMax
    this.#workerFile = options.workerFile ?? new URL(WORKER_FILE, import.meta.url)
  }

  async nameOf(secrets: TenantSecrets, plain: PlainBytes): Promise<ChunkId> {
    const reply = await this.#run({ type: 'name', secrets, frames: sharedFrames(plain) })
    assert(reply.type === 'named', 'a thread answers what it was asked')
    return reply.id
  }

  async seal(
    secrets: TenantSecrets,
    chunk: { readonly id: ChunkId; readonly plain: PlainBytes },
    compression: Compression,
  ): Promise<SealedBytes> {
    const { id, plain } = chunk
    const frames = sharedFrames(plain)
    const memory = this.#spares.pop() ?? new SharedArrayBuffer(MEMORY_BYTES)
    const reply = await this.#run({ type: 'seal', secrets, id, compression, frames, memory })
    assert(reply.type === 'sealed', 'a thread answers what it was asked')
    const { size, checksum, crc32c } = reply
    const sealed = Buffer.from(memory, 0, size)
    this.#inUse.add(sealed)
    return { sealed, checksum, crc32c }
  }

  /** Of bytes that `seal` gave, when nothing uses them any more: the next chunk gets their memory. Idempotent. */
  release(sealed: Buffer): void {
    const { buffer } = sealed
    if (!this.#inUse.delete(sealed) || !(buffer instanceof SharedArrayBuffer)) return
    if (this.#spares.length < SPARES_MAX) this.#spares.push(buffer)
  }

  /** Finishes running and waiting requests first; refuses later ones with shutting_down. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve
      this.#pump()
    })
    await Promise.all([...this.#idle].map((worker) => worker.terminate()))
  }

  #run(request: SealingRequest): Promise<SealingReply> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(new Condition('shutting_down', 'Cannot seal: this node is stopping'))
      const jobs = this.#waiting.length + this.#running.size
      assert(jobs < this.#jobsMax, 'every request has a chunk slot')
      this.#waiting.push({ request, resolve, reject })
      this.#pump()
    })
  }

  #pump(): void {
    while (this.#waiting.length > 0) {
      const worker = this.#freeWorker()
      const job = worker === null ? undefined : this.#waiting.shift()
      if (worker === null || job === undefined) return
      this.#running.set(worker, job)
      worker.ref()
      worker.postMessage(job.request)
    }
    if (this.#running.size === 0) this.#onDrained()
  }

  #freeWorker(): Worker | null {
    for (const worker of this.#idle) {
      this.#idle.delete(worker)
      return worker
    }
    return this.#running.size < this.#threadsMax ? this.#start() : null
  }

  #start(): Worker {
    const worker = new Worker(this.#workerFile, { name: 'sealing' })
    let cause: unknown
    worker.on('message', (reply: SealingReply) => this.#finish(worker, reply))
    worker.on('error', (error) => {
      cause = error
    })
    // Not on 'error': until the exit the thread may still read the memory of the request.
    worker.on('exit', () => this.#bury(worker, cause))
    return worker
  }

  #finish(worker: Worker, reply: SealingReply): void {
    const job = this.#running.get(worker)
    assert(job !== undefined, 'a thread answers once for each request')
    this.#running.delete(worker)
    this.#idle.add(worker)
    worker.unref()
    job.resolve(reply)
    this.#pump()
  }

  #bury(worker: Worker, cause: unknown): void {
    this.#idle.delete(worker)
    const job = this.#running.get(worker)
    if (job === undefined) return
    this.#running.delete(worker)
    const message = 'The thread that sealed a chunk of this upload died; repeat the request'
    job.reject(new Condition('slow_down', message, { cause }))
    this.#pump()
  }
}

function sharedFrames(plain: PlainBytes): readonly Uint8Array[] {
  const frames = framesOf(plain)
  const areShared = frames.every(
    ({ buffer, length }) => length < FRAME_BYTES || buffer instanceof SharedArrayBuffer,
  )
  assert(areShared, 'whole frames are in shared memory')
  return frames
}
