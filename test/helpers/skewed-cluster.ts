/**
 * Real nodes, each with a wall clock that a test sets.
 *
 * Owns: the clocks, requests that wait for a serving node. Knows nothing of: the effects of a wrong clock.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from './async.ts'
import { ProcessCluster, serverCommand, temporaryFolder } from './process-cluster.ts'

const PRELOAD = fileURLToPath(new URL('./skewed-date.ts', import.meta.url))
/** Tolerance for clocks of one machine that are read one after the other under load. */
export const TOLERANCE_MS = 60_000

interface AuditPage {
  readonly records: readonly { readonly requestId: string }[]
  readonly nextContinuationToken?: string
}

type Json = Readonly<Record<string, unknown>>

export class SkewedCluster {
  readonly cluster: ProcessCluster
  readonly #folder: string

  private constructor(cluster: ProcessCluster, folder: string) {
    this.cluster = cluster
    this.#folder = folder
  }

  static async start(t: Parameters<typeof ProcessCluster.start>[0]): Promise<SkewedCluster> {
    const folder = temporaryFolder(t)
    const cluster = await ProcessCluster.start(t, 3, null, {
      launch: (node) => ({
        command: [process.execPath, '--import', PRELOAD, ...serverCommand(node).slice(1)],
        env: { HOLDFAST_SKEW_FILE: join(folder, node.nodeId) },
      }),
    })
    await cluster.login('n1')
    return new SkewedCluster(cluster, folder)
  }

  skew(nodeId: string, ms: number): void {
    writeFileSync(join(this.#folder, nodeId), String(ms))
  }

  /** Sends the request to nodes until one gives a certain answer. */
  async ask(method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, more: Json = {}) {
    const {
      body = null,
      headers = {},
      nodeId = 'n1',
    } = more as {
      body?: string | Buffer | null
      headers?: Readonly<Record<string, string>>
      nodeId?: string
    }
    let answer = await this.cluster.ask(nodeId, { method, path, body, headers })
    await until(`${nodeId} answers ${method} ${path}`, async () => {
      if (answer.status !== 503) return true
      answer = await this.cluster.ask(nodeId, { method, path, body, headers })
      return answer.status !== 503
    })
    const text = answer.body.toString()
    return { status: answer.status, json: (text.startsWith('{') ? JSON.parse(text) : {}) as Json }
  }

  /** Two wrong clocks of three within a second would be a majority. */
  async areRight(): Promise<boolean> {
    const leader = await this.cluster.leader()
    if (leader === undefined) return false
    const { body } = await this.cluster.admin(leader, { method: 'GET', path: '/cluster/time' })
    const { offsets = [] } = JSON.parse(body.toString()) as { offsets?: readonly { offsetMs: number }[] }
    return offsets.length === 3 && offsets.every(({ offsetMs }) => Math.abs(offsetMs) < TOLERANCE_MS)
  }

  /** The audit rows about this key. */
  async auditTimes(nodeId: string, key: string): Promise<readonly number[]> {
    const path = `/audit?since=3650d&key=${key}`
    const { body } = await this.cluster.admin(nodeId, { method: 'GET', path })
    const { records } = JSON.parse(body.toString()) as { records: readonly { time: string }[] }
    return records.map(({ time }) => Date.parse(time))
  }

  async auditRows(nodeId: string): Promise<readonly string[]> {
    const ids: string[] = []
    for (let from = ''; ; ) {
      const path = `/audit?since=3650d&limit=1000${from}`
      const { body } = await this.cluster.admin(nodeId, { method: 'GET', path })
      const page = JSON.parse(body.toString()) as AuditPage
      ids.push(...page.records.map(({ requestId }) => requestId))
      if (page.nextContinuationToken === undefined) return ids
      from = `&continuationToken=${page.nextContinuationToken}`
    }
  }
}
