/**
 * Programs that write and read continuously through the client and expect that no call fails.
 *
 * Owns: the acknowledged writes, and every call that failed although the client repeated it. Rule: each write has an idempotency key, so the
 * client may repeat it; each program starts at a different node.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { type DataClient, dataClient } from '../../src/client/clients.ts'
import { until } from './async.ts'
import { type ProcessCluster, sha256 } from './process-cluster.ts'

/** Inline, one small chunk, and more than one chunk. */
const SIZES = [200, 90_000, 200, 1_200_000]
/** More than the default of five: on a busy machine an election takes long. */
const ATTEMPTS_MAX = 10
/** Few enough to read all of them back in the end. */
const PACE_MS = 100

export class SteadyLoad {
  readonly failures: string[] = []
  readonly acknowledged = new Map<string, string>()
  reads = 0
  readonly #bucket: string
  readonly #clients: readonly DataClient[]
  #isStopped = false
  #programs: readonly Promise<void>[] = []

  constructor({ plan, setup }: ProcessCluster, bucket: string) {
    const { accessKeyId, secretKey } = setup
    if (accessKeyId === null || secretKey === null) throw new Error('the cluster has no access key')
    this.#bucket = bucket
    const urls = plan.map(({ dataUrl }) => dataUrl)
    this.#clients = urls.map((_, n) => {
      const endpoints = [...urls.slice(n), ...urls.slice(0, n)]
      return dataClient({ endpoints, accessKeyId, secretKey, repeat: { attemptsMax: ATTEMPTS_MAX } })
    })
  }

  start(): void {
    this.#programs = this.#clients.map((client, n) => this.#work(client, n))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#programs)
    await Promise.all(this.#clients.map((client) => client.close()))
  }

  /** Waits for `count` more acknowledged writes, or for a failure. */
  async goesOn(count: number): Promise<void> {
    const goal = this.acknowledged.size + count
    const isOver = (): boolean => this.acknowledged.size >= goal || this.failures.length > 0
    await until(`${count} more writes are acknowledged`, isOver)
  }

  async #work(client: DataClient, program: number): Promise<void> {
    for (let n = 0; !this.#isStopped; n++) {
      await this.#attempt('write', () => this.#write(client, { key: `p${program}/o${n}`, n }))
      await this.#attempt('read', () => this.#read(client))
      await wait(PACE_MS)
    }
  }

  async #attempt(what: string, call: () => Promise<void>): Promise<void> {
    await call().catch((error: unknown) => this.failures.push(`${what}: ${String(error)}`))
  }

  async #write(client: DataClient, { key, n }: { readonly key: string; readonly n: number }): Promise<void> {
    const body = randomBytes(SIZES[n % SIZES.length] ?? 0)
    const digest = createHash('sha256').update(body).digest('base64')
    const headers = { 'Idempotency-Key': randomUUID(), 'X-Service-Checksum-SHA256': digest }
    await client.call('putObject', { params: { bucket: this.#bucket, key }, headers, body })
    this.acknowledged.set(key, sha256(body))
  }

  async #read(client: DataClient): Promise<void> {
    const keys = [...this.acknowledged.keys()]
    const key = keys[Math.floor(Math.random() * keys.length)]
    if (key === undefined) return
    const { answer } = await client.call('getObject', { params: { bucket: this.#bucket, key } })
    const got = sha256(Buffer.concat(await answer.toArray()))
    if (got !== this.acknowledged.get(key)) throw new Error(`${key} does not have the written bytes`)
    this.reads += 1
  }
}
