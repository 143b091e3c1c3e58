/**
 * Edge threads of the data listener, as the node starts and measures them. [docs/adr/0102]
 */
import { counter, gauge, type MetricSample } from '../../../cluster/index.ts'
import type { ThreadsOptions } from '../edge.ts'
import { LinkedServer } from './linked-server.ts'

const WORKER_FILE = import.meta.url.endsWith('.ts') ? './edge-worker.ts' : './edge-worker.js'

export class EdgeThreads {
  readonly #threads: number
  readonly #workerFile: URL
  #server: LinkedServer | null = null

  /** `threads`: at least one. `workerFile`: for tests: the program of a thread. */
  constructor(threads: number, workerFile = new URL(WORKER_FILE, import.meta.url)) {
    this.#threads = threads
    this.#workerFile = workerFile
  }

  /** The server of the listener; its threads start when it listens. Once. */
  readonly open = (options: ThreadsOptions): LinkedServer => {
    this.#server = new LinkedServer(options, this.#threads, this.#workerFile)
    return this.#server
  }

  samples(): readonly MetricSample[] {
    const { connectionCount = 0, restarts = 0 } = this.#server ?? {}
    return [
      gauge(
        'holdfast_edge_connections',
        'Connections of the data listener that have sent a request and are open, on all edge threads.',
        connectionCount,
      ),
      counter(
        'holdfast_edge_thread_restarts_total',
        'Edge threads that ended by themselves and were started again.',
        restarts,
      ),
    ]
  }
}
