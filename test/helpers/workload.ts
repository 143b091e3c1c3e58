/**
 * Clients that upload and download through random nodes and remember the acknowledged ones.
 *
 * Rule: an upload counts only after 200; a download of a counted object must give its exact bytes, or a
 * "not now" (a broken connection or a 503), which is repeated at another node. Anything else is a violation.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from './async.ts'
import { type ProcessCluster, sha256 } from './process-cluster.ts'

const READERS = 4
/** Pause of each client between two objects: everything written is read back repeatedly. */
const PAUSE_MS = 50
/** Inline, one small chunk, and more than one chunk. */
const SIZES = [0, 700, 90_000, 1_500_000, 5_000_000]

export class Workload {
  readonly acknowledged = new Map<string, string>()
  readonly violations: string[] = []
  readonly #cluster: ProcessCluster
  #sequence = 0
  #running = false
  #clients: Promise<void>[] = []

  constructor(cluster: ProcessCluster) {
    this.#cluster = cluster
  }

  start(): void {
    this.#running = true
    this.#clients = [this.#upload(0), this.#upload(1), this.#download()]
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#clients)
  }

  /** Waits for `count` more acknowledged uploads. */
  async moreAcknowledged(count: number): Promise<void> {
    const goal = this.acknowledged.size + count
    await until(
      `${count} more uploads are acknowledged`,
      () => this.acknowledged.size >= goal || this.violations.length > 0,
    )
  }

  #anyNode(): string {
    const { plan } = this.#cluster
    return plan[Math.floor(Math.random() * plan.length)]?.nodeId ?? 'n1'
  }

  async #upload(client: number): Promise<void> {
    while (this.#running) {
      const number = this.#sequence++
      await wait(PAUSE_MS)
      const key = `client-${client}/object-${number}`
      const bytes = randomBytes(SIZES[number % SIZES.length] ?? 0)
      // Each key has one content, so an upload whose outcome is unknown may be repeated as it is.
      while (this.#running) {
        const status = await this.#attempt(() =>
          this.#cluster.call(this.#anyNode(), 'PUT', `/buckets/work/objects/${key}`, bytes),
        )
        if (status?.status === 200) {
          this.acknowledged.set(key, sha256(bytes))
          break
        }
        if (status && status.status !== 503)
          this.violations.push(`PUT ${key}: ${status.status} ${status.body.toString()}`)
        await wait(PAUSE_MS)
      }
    }
  }

  async #download(): Promise<void> {
    while (this.#running) {
      const keys = [...this.acknowledged.keys()]
      const key = keys[Math.floor(Math.random() * keys.length)]
      await wait(PAUSE_MS)
      if (key !== undefined) await this.#check(this.#anyNode(), key)
    }
  }

  /** True when the node gave the right bytes. */
  async #check(nodeId: string, key: string): Promise<boolean> {
    const answer = await this.#attempt(() =>
      this.#cluster.call(nodeId, 'GET', `/buckets/work/objects/${key}`),
    )
    if (answer === null || answer.status === 503) return false
    const right = answer.status === 200 && sha256(answer.body) === this.acknowledged.get(key)
    if (!right)
      this.violations.push(`GET ${key} at ${nodeId}: status ${answer.status}, ${answer.body.length} bytes`)
    return right
  }

  async #attempt<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call()
    } catch {
      // The connection broke: the outcome is unknown, which is allowed when nodes are killed.
      return null
    }
  }

  /** Reads every object that is acknowledged now from this node. */
  async verifyAt(nodeId: string): Promise<void> {
    const keys = [...this.acknowledged.keys()].values()
    const reader = async (): Promise<void> => {
      // The readers share one iterator: each key is taken once.
      for (const key of keys) {
        await until(
          `${nodeId} serves ${key}`,
          async () => (await this.#check(nodeId, key)) || this.violations.length > 0,
        )
      }
    }
    await Promise.all(Array.from({ length: READERS }, reader))
  }
}
