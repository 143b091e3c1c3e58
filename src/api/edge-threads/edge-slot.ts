/**
 * One of the edge threads of a listener, which is started again when it ends by itself.
 *
 * Owns: the thread, the pauses between its starts. Knows nothing of: the other threads, requests.
 * Rule: only its first start may be refused; later it is tried again and again, because the node serves with the others.
 */
import { Worker } from 'node:worker_threads'
import type { Logger } from '../../../cluster/index.ts'
import { SYSTEM_TIME } from '../listener-tls.ts'
import { type EdgeEvents, LinkedEdge } from './linked-edge.ts'
import type { EdgeSetup, ToEdge } from './thread-messages.ts'

/** Between the end of a thread and its next start; it doubles with each end of one that did not live as long as the longest pause. ms */
const PAUSE_MS_MIN = 100
const PAUSE_MS_MAX = 30_000

export interface EdgeSlotParts {
  readonly logger: Logger
  readonly workerFile: URL
  /** As of now: the certificate may have changed since the start before. */
  readonly setup: () => EdgeSetup
  readonly events: Pick<EdgeEvents, 'onConnected' | 'onAsked' | 'onUnclear' | 'onLine'>
}

export class EdgeSlot {
  readonly #parts: EdgeSlotParts
  #worker: Worker | null = null
  #edge: LinkedEdge | null = null
  #pauseMs = PAUSE_MS_MIN
  #timer: { cancel(): void } | null = null
  #isStopping = false
  #onStopped: () => void = () => undefined
  /** Starts after the first. Count */
  restarts = 0

  constructor(parts: EdgeSlotParts) {
    this.#parts = parts
  }

  get connections(): number {
    return this.#edge?.connections ?? 0
  }

  /** Resolves when it listens. Rejects with the error of the system, or with that of the thread. */
  start(): Promise<void> {
    const startedMs = performance.now()
    return new Promise((resolve, reject) => {
      const worker = new Worker(this.#parts.workerFile, {
        name: 'edge',
        workerData: this.#parts.setup(),
      })
      let isListening = false
      this.#worker = worker
      this.#edge = new LinkedEdge(worker, {
        ...this.#parts.events,
        onListening: () => {
          isListening = true
          resolve()
        },
        onRefused: (error) => {
          reject(error)
          void worker.terminate()
        },
        onEnd: (error) => {
          this.#edge = null
          this.#worker = null
          reject(error ?? new Error('The thread was stopped'))
          if (this.#isStopping) return this.#onStopped()
          if (isListening || this.restarts > 0) this.#startAgain(error, performance.now() - startedMs)
        },
      })
    })
  }

  send(message: ToEdge): void {
    this.#edge?.send(message)
  }

  /** Resolves when its last connection is closed. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#timer?.cancel()
    const edge = this.#edge
    if (edge === null) return
    await new Promise<void>((resolve) => {
      this.#onStopped = resolve
      edge.send({ kind: 'stop' })
    })
  }

  /** Without waiting for anything. */
  async terminate(): Promise<void> {
    this.#isStopping = true
    this.#timer?.cancel()
    await this.#worker?.terminate()
  }

  #startAgain(err: Error | null, livedMs: number): void {
    if (livedMs >= PAUSE_MS_MAX) this.#pauseMs = PAUSE_MS_MIN
    const pauseMs = this.#pauseMs
    this.#parts.logger.error(
      { err, pauseMs },
      'edge thread ended; its connections are closed, it is started again',
    )
    this.#pauseMs = Math.min(PAUSE_MS_MAX, 2 * pauseMs)
    this.restarts += 1
    this.#timer = SYSTEM_TIME.after(pauseMs, () => {
      // Its end starts it again.
      this.start().catch(() => undefined)
    })
  }
}
