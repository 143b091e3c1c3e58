/**
 * A bucket of a real cluster that is replicated to another one, by way of a door between them.
 */
import { until } from './async.ts'
import type { ProcessCluster } from './process-cluster.ts'

/** The port offset of a target that the launcher allows on this machine. */
export const DOOR_OFFSET = 99

export interface Status {
  readonly pending: number
  readonly failed: number
  readonly sent: number
  readonly skipped: number
  readonly conflicts: number
  readonly lagSeconds: number
  readonly unreachableSince: string | null
  readonly lastError: string | null
  readonly resync: { readonly endedAt: string | null } | null
}

export class Side {
  readonly cluster: ProcessCluster
  readonly bucket: string

  constructor(cluster: ProcessCluster, bucket: string) {
    this.cluster = cluster
    this.bucket = bucket
  }

  get port(): number {
    return Number(new URL(this.cluster.plan[0]?.dataUrl ?? '').port)
  }

  get living(): string {
    return this.cluster.plan.map(({ nodeId }) => nodeId).find((id) => this.cluster.pid(id) > 0) ?? 'n1'
  }

  async ask(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<{ status: number; body: never }> {
    const sent = body === undefined ? null : JSON.stringify(body)
    const answer = await this.cluster.call(this.living, method, `/buckets/${this.bucket}${path}`, sent)
    const text = answer.body.toString()
    return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as never }
  }

  /** With versions. */
  async make(more: object = {}): Promise<void> {
    await this.cluster.call(this.living, 'POST', '/buckets', JSON.stringify({ name: this.bucket, ...more }))
    await this.ask('PUT', '/versioning', { status: 'Enabled' })
  }

  /** Of the bucket. Throws what is no success. */
  async call(method: 'GET' | 'PUT' | 'DELETE', path: string, body: Uint8Array | string | null = null) {
    const answer = await this.cluster.call(this.living, method, `/buckets/${this.bucket}${path}`, body)
    if (answer.status < 300) return answer
    throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.body.toString()}`)
  }

  /** What clients see of a key. Null: there is no object. */
  async shown(key: string) {
    const text = await this.text(key)
    if (text === null) return null
    const { tags } = JSON.parse((await this.call('GET', `/object-tags/${key}`)).body.toString())
    const { status } = JSON.parse((await this.call('GET', `/object-legal-hold/${key}`)).body.toString())
    return { text, tags, hold: status as string }
  }

  /** Repeated until a node acknowledges it. */
  async change(method: 'PUT' | 'DELETE', key: string, text?: string): Promise<void> {
    await until(`${method} ${key} is acknowledged`, async () => {
      const body = text === undefined ? null : Buffer.from(text)
      const answer = await this.cluster
        .call(this.living, method, `/buckets/${this.bucket}/objects/${key}`, body)
        .catch(() => null)
      return answer !== null && answer.status < 300
    })
  }

  async text(key: string): Promise<string | null> {
    const { status, body } = await this.cluster.call(
      this.living,
      'GET',
      `/buckets/${this.bucket}/objects/${key}`,
    )
    return status === 200 ? body.toString() : null
  }

  /** By way of a door in front of the other side. */
  replicateTo(other: Side, more: object = {}) {
    const { accessKeyId, secretKey } = other.cluster.setup
    const endpoint = `http://127.0.0.1:${this.port + DOOR_OFFSET}`
    const target = { endpoint, bucket: other.bucket, accessKeyId, secretKey }
    return this.ask('PUT', '/replication', { target, ...more })
  }

  async status(): Promise<Status> {
    return (await this.ask('GET', '/replication/status')).body
  }

  settled(): Promise<void> {
    return until('nothing waits', async () => {
      const { pending, resync } = await this.status()
      return pending === 0 && resync?.endedAt !== null
    })
  }

  async differences(): Promise<readonly { key: string; difference: string }[]> {
    const { status, body } = await this.ask('POST', '/replication/compare', {})
    if (status !== 200) throw new Error(JSON.stringify(body))
    return (body as { differences: never }).differences
  }
}
