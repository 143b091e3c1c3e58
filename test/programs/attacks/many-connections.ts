/**
 * One tenant that asks as much as its connections give: a thousand connections, pipelines of reads, and an admin token.
 *
 * Each of them is allowed to ask; what is looked at is the share that it leaves to another tenant.
 */
import { randomBytes } from 'node:crypto'
import type { Account, Attack, AttackTarget } from './attack.ts'
import { ask, headOf } from './call.ts'
import { flood } from './flood.ts'
import { puts } from './victims.ts'

const CONNECTIONS = 1000
const UPLOAD = randomBytes(4096)
const READ_BYTES = 4096
const READ_PATH = '/api/v1/buckets/photos/objects/read-often'
const READERS_A_NODE = 64
const READS_AT_ONCE = 32
const ADMIN_CONNECTIONS_A_NODE = 16
const ADMIN_REQUESTS_AT_ONCE = 8

export const manyConnections: Attack = {
  id: 'connections',
  title: '1,000 connections of one tenant, each uploads 4 KiB again and again',
  victim: puts(100_000),
  run: ({ nodes, evil }, signal) =>
    flood(
      {
        urls: nodes.map(({ dataUrl }) => dataUrl),
        connections: CONNECTIONS,
        depth: 1,
        request: (n) => {
          const head = { ...bearer(evil), 'content-length': `${UPLOAD.length}` }
          const path = `/api/v1/buckets/photos/objects/connection/${n}`
          return Buffer.concat([Buffer.from(headOf('PUT', path, head)), UPLOAD])
        },
      },
      signal,
    ),
}

export const pipelinedReads: Attack = {
  id: 'pipelined-reads',
  title: '64 connections of one tenant to each node, 32 GETs of 4 KiB in the pipeline of each',
  victim: puts(100_000),
  run: async (target, signal) => {
    await storeReadObject(target)
    const request = Buffer.from(headOf('GET', READ_PATH, bearer(target.evil)))
    return flood(
      {
        urls: target.nodes.map(({ dataUrl }) => dataUrl),
        connections: READERS_A_NODE * target.nodes.length,
        depth: READS_AT_ONCE,
        request: () => request,
      },
      signal,
    )
  },
}

export const adminFlood: Attack = {
  id: 'admin-flood',
  title: 'an admin token, 16 connections to each node, 8 requests in the pipeline of each',
  victim: puts(100_000),
  run: ({ nodes, ownerToken }, signal) => {
    const head = headOf('GET', '/admin/api/v1/tenants', { authorization: `Bearer ${ownerToken}` })
    const request = Buffer.from(head)
    return flood(
      {
        urls: nodes.map(({ adminUrl }) => adminUrl),
        connections: ADMIN_CONNECTIONS_A_NODE * nodes.length,
        depth: ADMIN_REQUESTS_AT_ONCE,
        request: () => request,
      },
      signal,
    )
  },
}

const bearer = ({ token }: Account): Record<string, string> => ({ authorization: `Bearer ${token}` })

async function storeReadObject({ nodes: [node], evil }: AttackTarget): Promise<void> {
  const call = { method: 'PUT' as const, headers: bearer(evil), body: randomBytes(READ_BYTES) }
  const { status } = await ask(`${node?.dataUrl}${READ_PATH}`, call)
  if (status !== 200) throw new Error(`PUT gave ${status}`)
}
