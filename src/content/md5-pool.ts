/**
 * The running MD5 of bodies, chunk by chunk, on threads of their own. [RFC 1321]
 *
 * Owns: the threads, which body is on which. Knows nothing of: uploads. Why beside the sealing threads: the state of a hash stays in one
 * thread, so a body is bound to it, and MD5 takes as long as sealing does.
 * Rules: the caller may use the memory of an update again only after its promise has settled: then no thread reads it. A thread that dies
 * fails the bodies that it had, no others. A body that is given up is forgotten. An idle thread does not keep the process alive.
 */
import assert from 'node:assert/strict'
import { createHash, type Hash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { Condition } from '../../cluster/index.ts'
import { FRAME_BYTES, framesOf, type PlainBytes, sizeOf } from './frame-cipher.ts'
import type { Md5Reply, Md5Request } from './md5-protocol.ts'

const WORKER_FILE = import.meta.url.endsWith('.ts') ? './md5-worker.ts' : './md5-worker.js'
/** A body that begins with fewer bytes has no more: below this size a round trip to a thread costs more than it saves. */
export const HASHED_ON_THREAD_FROM_BYTES = 256 * 1024

export interface Md5PoolOptions {
  readonly threads: number
  /** Bound of bodies on threads; beyond it a body is refused with slow_down. */
  readonly bodiesMax: number
  /** For tests: the program of a thread. */
  readonly workerFile?: URL
}

export class Md5Pool {
  readonly #options: Md5PoolOptions
  readonly #threads = new Set<Md5Thread>()
  #bodies = 0
  #isClosed = false

  constructor(options: Md5PoolOptions) {
    this.#options = options
  }

  /** Bodies that are on a thread now. */
  get bodies(): number {
    return this.#bodies
  }

  /** A body without bytes. */
  begin(): BodyMd5 {
    return new BodyMd5(() => this.#join())
  }

  /** Answers what it was asked, then ends the threads; refuses later bodies with shutting_down. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#threads].map((thread) => thread.close()))
  }

  /** The thread with the fewest bodies; another one while each has some and there may be more. Throws Condition. */
  #join(): BodyOnThread {
    if (this.#isClosed) throw new Condition('shutting_down', 'Cannot hash: this node is stopping')
    const { bodiesMax, threads } = this.#options
    if (this.#bodies >= bodiesMax)
      throw new Condition('slow_down', `Cannot hash more than ${bodiesMax} bodies at the same time`)
    const idlest = this.#idlest()
    const isBusy = idlest === null || idlest.bodies > 0
    const thread = isBusy && this.#threads.size < threads ? this.#start() : idlest
    assert(thread !== null, 'there is at least one thread')
    this.#bodies += 1
    return thread.join(() => {
      this.#bodies -= 1
    })
  }

  #idlest(): Md5Thread | null {
    let idlest: Md5Thread | null = null
    for (const thread of this.#threads) if (idlest === null || thread.bodies < idlest.bodies) idlest = thread
    return idlest
  }

  #start(): Md5Thread {
    const file = this.#options.workerFile ?? new URL(WORKER_FILE, import.meta.url)
    const thread = new Md5Thread(file, () => this.#threads.delete(thread))
    this.#threads.add(thread)
    return thread
  }
}

/** The MD5 of one body. Call `update` with its pieces in their order, without waiting for the one before. */
export class BodyMd5 {
  readonly #join: () => BodyOnThread
  /** Of a body that is small. */
  #local: Hash | null = null
  #remote: BodyOnThread | null = null

  constructor(join: () => BodyOnThread) {
    this.#join = join
  }

  /** Resolves when `plain` is hashed. Throws Condition. */
  async update(plain: PlainBytes): Promise<void> {
    if (this.#remote === null && (this.#local !== null || sizeOf(plain) < HASHED_ON_THREAD_FROM_BYTES)) {
      const hash = (this.#local ??= createHash('md5'))
      for (const frame of framesOf(plain)) hash.update(frame)
      return
    }
    this.#remote ??= this.#join()
    await this.#remote.update(framesOf(plain))
  }

  /** Of all updates. Call once, at the end. Throws Condition. */
  async digest(): Promise<Buffer> {
    if (this.#remote === null) return (this.#local ?? createHash('md5')).digest()
    return this.#remote.digest()
  }

  /** The body is given up, or its digest is there. Idempotent. */
  end(): void {
    this.#remote?.end()
  }
}

/** A body that a thread has. */
class BodyOnThread {
  readonly #thread: Md5Thread
  readonly #body: number
  readonly #onEnded: () => void
  #isEnded = false

  constructor(thread: Md5Thread, body: number, onEnded: () => void) {
    this.#thread = thread
    this.#body = body
    this.#onEnded = onEnded
  }

  async update(frames: readonly Uint8Array[]): Promise<void> {
    const areShared = frames.every(
      ({ buffer, length }) => length < FRAME_BYTES || buffer instanceof SharedArrayBuffer,
    )
    assert(areShared, 'whole frames are in shared memory')
    await this.#thread.ask({ type: 'update', body: this.#body, frames })
  }

  async digest(): Promise<Buffer> {
    const { digest } = await this.#thread.ask({ type: 'digest', body: this.#body })
    assert(digest !== null, 'a thread answers what it was asked')
    return Buffer.from(digest)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#thread.forget(this.#body)
    this.#onEnded()
  }
}

interface Waiter {
  resolve(reply: Md5Reply): void
  reject(error: Error): void
}

class Md5Thread {
  readonly #worker: Worker
  /** In the order of the requests, which is that of the replies. Each has a chunk of its own, or the end of a body. */
  readonly #waiters: Waiter[] = []
  #bodies = 0
  #started = 0
  #death: Condition | null = null
  /** Called when no request waits any more. */
  #onDrained: () => void = () => undefined

  constructor(file: URL, onDeath: () => void) {
    this.#worker = new Worker(file, { name: 'md5' })
    this.#worker.unref()
    let cause: unknown
    this.#worker.on('message', (reply: Md5Reply) => this.#answered(reply))
    this.#worker.on('error', (error) => {
      cause = error
    })
    // Not on 'error': until the exit the thread may still read the memory of an update.
    this.#worker.on('exit', () => {
      onDeath()
      this.#die(cause)
    })
  }

  /** That it has now. */
  get bodies(): number {
    return this.#bodies
  }

  join(onEnded: () => void): BodyOnThread {
    this.#bodies += 1
    this.#started += 1
    return new BodyOnThread(this, this.#started, onEnded)
  }

  ask(request: Md5Request): Promise<Md5Reply> {
    return new Promise((resolve, reject) => {
      if (this.#death !== null) return reject(this.#death)
      this.#waiters.push({ resolve, reject })
      this.#worker.ref()
      this.#worker.postMessage(request)
    })
  }

  forget(body: number): void {
    this.#bodies -= 1
    const request: Md5Request = { type: 'forget', body }
    if (this.#death === null) this.#worker.postMessage(request)
  }

  async close(): Promise<void> {
    if (this.#waiters.length > 0)
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve
      })
    await this.#worker.terminate()
  }

  #answered(reply: Md5Reply): void {
    const waiter = this.#waiters.shift()
    assert(waiter !== undefined, 'a thread answers once for each request')
    if (this.#waiters.length === 0) {
      this.#worker.unref()
      this.#onDrained()
    }
    waiter.resolve(reply)
  }

  #die(cause: unknown): void {
    const message = 'The thread that hashed this upload died; repeat the request'
    this.#death = new Condition('slow_down', message, { cause })
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#death)
    this.#onDrained()
  }
}
