/**
 * The nodes of a cluster as servers of the S3 API: whole requests, each with a proof of its own.
 */
import { Agent, request } from 'undici'
import type { ProcessCluster } from './process-cluster.ts'
import type { S3Server } from './s3-translation.ts'

const HEADERS_MS_MAX = 20_000

export function s3Nodes(
  t: { teardown(callback: () => unknown): unknown },
  cluster: ProcessCluster,
): S3Server {
  const dispatcher = new Agent({ keepAliveTimeout: 1000, connect: { timeout: 2000 } })
  t.teardown(() => dispatcher.destroy())
  return {
    authority: (nodeId) => new URL(cluster.node(nodeId).dataUrl).host,
    send: async (nodeId, { path, ...sent }) => {
      const options = { ...sent, dispatcher, headersTimeout: HEADERS_MS_MAX }
      const answer = await request(`${cluster.node(nodeId).dataUrl}${path}`, options)
      const body = Buffer.from(await answer.body.arrayBuffer())
      return { status: answer.statusCode, headers: answer.headers, body }
    },
  }
}
