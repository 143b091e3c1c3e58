/**
 * Real nodes to be fuzzed, with limits that do not get in the way, and their memory.
 */
import { readFileSync } from 'node:fs'
import { adminClient, dataClient } from '../../../src/client/clients.ts'
import { ProcessCluster } from '../../helpers/process-cluster.ts'
import type { FuzzTarget } from './fuzz-run.ts'
import type { S3FuzzTarget } from './s3-fuzz-run.ts'

const SETTINGS = [
  'limits:',
  '  admin_requests_per_minute: 100000',
  '  admin_requests_burst: 10000',
  '  token_mint_per_minute: 100000',
  '  token_mint_burst: 10000',
  '  unproved_requests_per_minute: 1000000',
  '  unproved_burst: 1000000',
  '',
].join('\n')
const PAGE_BYTES = 4096
const TENANT = 'acme'

export class FuzzWorld {
  readonly target: FuzzTarget
  readonly s3Target: S3FuzzTarget
  readonly #cluster: ProcessCluster

  static async start(t: Parameters<typeof ProcessCluster.start>[0], nodes: number): Promise<FuzzWorld> {
    const cluster = await ProcessCluster.start(t, nodes, SETTINGS)
    const token = cluster.setup.ownerToken
    const admin = adminClient({ endpoints: [cluster.node('n1').adminUrl], token })
    await admin.call('createTenant', { body: { id: TENANT, name: 'Acme Inc.' } })
    const body = { scopes: 'read,write,delete,admin' }
    const { answer: key } = await admin.call('createTenantKey', { params: { id: TENANT }, body })
    const data = dataClient({ endpoints: [cluster.node('n1').dataUrl], ...key })
    t.teardown(async () => {
      await admin.close()
      await data.close()
    })
    return new FuzzWorld(cluster, {
      nodes: cluster.plan,
      adminAuthorization: `Bearer ${token}`,
      dataAuthorization: async () => {
        const { accessKeyId, secretKey } = key
        const { answer } = await data.call('createToken', { body: { accessKeyId, secretKey } })
        return `Bearer ${answer.token}`
      },
      secret: key,
    })
  }

  private constructor(cluster: ProcessCluster, target: FuzzTarget & S3FuzzTarget) {
    this.#cluster = cluster
    this.target = target
    this.s3Target = target
  }

  /** Resident bytes of all nodes together. */
  get memoryBytes(): number {
    return this.#cluster.plan
      .map(({ nodeId }) => readFileSync(`/proc/${this.#cluster.pid(nodeId)}/statm`, 'utf8').split(' ')[1])
      .reduce((sum, pages) => sum + Number(pages) * PAGE_BYTES, 0)
  }

  /** Of JavaScript, on all nodes together. */
  async heapBytes(): Promise<number> {
    const used = this.#cluster.plan.map(({ nodeId }) =>
      this.#cluster.metric(nodeId, 'nodejs_heap_size_used_bytes'),
    )
    return (await Promise.all(used)).reduce<number>((sum, bytes) => sum + (bytes ?? Number.NaN), 0)
  }

  async isWell(): Promise<boolean> {
    const answers = await Promise.all(this.#cluster.plan.map(({ nodeId }) => this.#cluster.ready(nodeId)))
    return answers.every((ready) => ready)
  }

  /** Log lines of the nodes that require an operator. */
  get errors(): readonly string[] {
    return this.#cluster.plan.flatMap(({ logFile }) =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => /"level":"(error|fatal)"/.test(line)),
    )
  }
}
