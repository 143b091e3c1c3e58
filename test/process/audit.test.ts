/**
 * Nodes that answer only when their audit row is durable, killed with SIGKILL under reads and writes: every answer has its row
 * once, and the chain is intact at every node.
 */
import t from 'tap'
import { request } from 'undici'
import { askLocalNode } from '../../src/cli/base/local-client.ts'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const KILLS = 2
const READERS = 4
const ANSWERS_BETWEEN = 60

/** Ids of requests in the log, with how often each is there. */
async function reported(cluster: ProcessCluster): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let token = ''; ; ) {
    const { adminUrl } = cluster.node('n2')
    const path = `/admin/api/v1/audit?since=1h&limit=1000${token === '' ? '' : `&continuationToken=${token}`}`
    const headers = { authorization: `Bearer ${cluster.setup.ownerToken}` }
    const { body } = await request(`${adminUrl}${path}`, { headers })
    const page = (await body.json()) as { records: { requestId: string }[]; nextContinuationToken?: string }
    for (const { requestId } of page.records) counts.set(requestId, (counts.get(requestId) ?? 0) + 1)
    if (page.nextContinuationToken === undefined) return counts
    token = page.nextContinuationToken
  }
}

t.test(
  'no answer is without its row, with any node killed [audit.strict]',
  { timeout: 1_800_000 },
  async (t) => {
    process.env['HOLDFAST_AUDIT__STRICT'] = 'true'
    const cluster = await ProcessCluster.start(t, 3)
    await cluster.login('n1')
    await cluster.call('n1', 'POST', '/buckets', '{"name":"photos"}')
    const put = await cluster.ask('n1', {
      method: 'PUT',
      path: '/buckets/photos/objects/a',
      body: Buffer.from('a'),
    })
    t.equal(put.status, 200)
    const answered: string[] = []
    let isOver = false
    const work = async (n: number): Promise<void> => {
      while (!isOver) {
        const isRead = n % 2 === 0
        const path = `/buckets/photos/objects/${isRead ? 'a' : `k${n}`}`
        const asked = isRead
          ? ({ method: 'GET', path } as const)
          : ({ method: 'PUT', path, body: Buffer.from('x') } as const)
        const answer = await cluster.ask('n1', { ...asked, timeoutMs: 5_000 }).catch(() => null)
        // A node that is down, or comes back, is retried with a pause.
        if (answer?.status === 200) answered.push(String(answer.headers['x-request-id']))
        else await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const working = Promise.all(Array.from({ length: READERS }, (_, n) => work(n)))
    for (let kill = 0; kill < KILLS; kill++) {
      const before = answered.length
      await until('requests are answered', () => answered.length > before + ANSWERS_BETWEEN)
      await cluster.signal('n1', 'SIGKILL')
      cluster.startNode('n1')
      await cluster.allReady()
    }
    isOver = true
    await working
    await until('every answer has its row', async () => {
      const rows = await reported(cluster)
      return answered.every((id) => rows.has(id))
    })
    const rows = await reported(cluster)
    t.strictSame(
      answered.filter((id) => rows.get(id) !== 1),
      [],
      `${answered.length} answers have one row each`,
    )
    for (const { nodeId, dataDir } of cluster.plan)
      t.match(await askLocalNode(dataDir, 'POST', '/audit/verify', null), { faults: { length: 0 } }, nodeId)
  },
)
