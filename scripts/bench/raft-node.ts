/**
 * One node for the measurement of the Raft row: only `cluster/`, with the smallest state and the smallest API.
 *
 * Owns: `POST /v3/kv/put` with etcd's body, `{"key","value"}` in base64, answered once the command is applied here; and
 * `GET /health`. Knows nothing of: tenants, objects, who asks.
 * Rule: a write takes the same path as in a real node, except for the service above `cluster/`.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fastify from 'fastify'
import pino from 'pino'
import { createCluster, type Member } from '../../cluster/index.ts'
import { NO_COPIES } from './no-copies.ts'
import { BenchMachine, encodePut } from './raft-machine.ts'

/** The one argument, as JSON. */
export interface BenchNodePlan {
  readonly nodeId: string
  readonly dataDir: string
  readonly httpPort: number
  readonly members: readonly Member[]
}

const HOST = '127.0.0.1'
/** The log is not compacted during a turn: snapshots are not measured. */
const LOG_KEEP_ENTRIES = 1_000_000
const LOG_KEEP_BYTES = 4 * 1024 ** 3

const putSchema = {
  body: {
    type: 'object',
    required: ['key', 'value'],
    properties: { key: { type: 'string', maxLength: 256 }, value: { type: 'string', maxLength: 65_536 } },
  },
}

const plan = JSON.parse(process.argv[2] ?? '{}') as BenchNodePlan
const { nodeId, dataDir, httpPort, members } = plan
const logger = pino({ level: 'error' }, pino.destination(2))
mkdirSync(dataDir, { recursive: true })
const cluster = await createCluster(
  {
    clusterId: 'bench-raft',
    nodeId,
    dataDir,
    listen: members.find((member) => member.nodeId === nodeId)?.peerAddress ?? '',
    members,
    tls: null,
    fingerprint: 'bench',
    // The defaults of etcd and of Holdfast.
    heartbeatMs: 100,
    electionTimeoutMs: 1000,
    logKeepEntries: LOG_KEEP_ENTRIES,
    logKeepBytes: LOG_KEEP_BYTES,
    logPinBytes: 2 ** 26,
  },
  {
    stateMachine: new BenchMachine(join(dataDir, 'state')),
    copyLedger: NO_COPIES,
    logger,
  },
)

const http = fastify()
http.post<{ Body: { key: string; value: string } }>('/v3/kv/put', { schema: putSchema }, async ({ body }) => {
  await cluster.propose(encodePut(Buffer.from(body.key, 'base64'), Buffer.from(body.value, 'base64')))
  return {}
})
http.get('/health', async (_, reply) => {
  const { ready, reasons } = cluster.readiness()
  const samples = await cluster.metrics()
  const leads = samples.some(({ name, value }) => name === 'holdfast_raft_is_leader' && value === 1)
  return reply.code(ready ? 200 : 503).send({ health: ready ? 'true' : 'false', reasons, leads })
})
await http.listen({ host: HOST, port: httpPort })

async function stop(code: number): Promise<void> {
  await http.close()
  await cluster.stop()
  process.exit(code)
}
process.once('SIGTERM', () => void stop(0))
void cluster.failed.then(() => stop(1))
