/**
 * Audit rows that become a segment on three real nodes while a node is killed: every change is found once afterwards, at every
 * node, the chain is whole, and the copies of the segment are counted as those of objects are.
 */
import t from 'tap'
import { askLocalNode } from '../../src/cli/base/local-client.ts'
import { AUDIT_SEGMENT_LINKS_MAX } from '../../src/state-machine/audit/records.ts'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const WRITERS = 32
const CHANGES = AUDIT_SEGMENT_LINKS_MAX + 150

interface Verdict {
  readonly segments: number
  readonly links: number
  readonly faults: readonly string[]
}

interface Page {
  readonly records: readonly { readonly key: string | null; readonly status: number | null }[]
  readonly nextContinuationToken?: string
}

t.test('rows of a segment are found at every node [audit.segments]', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', '{"name":"photos"}')
  const done: string[] = []
  let next = 0
  const write = async (): Promise<void> => {
    while (next < CHANGES) {
      const key = `k${next++}`
      const path = `/buckets/photos/objects/${key}`
      const asked = { method: 'PUT', path, body: Buffer.from(key), timeoutMs: 10_000 } as const
      const answer = await cluster.ask('n1', asked).catch(() => null)
      if (answer?.status === 200) done.push(key)
      else await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, write))
  await until('half of the changes are made', () => done.length > CHANGES / 2)
  await cluster.signal('n3', 'SIGKILL')
  cluster.startNode('n3')
  await writing
  await cluster.allReady()
  for (let more = 0; done.length < CHANGES; more++) {
    const path = `/buckets/photos/objects/more${more}`
    const answer = await cluster.ask('n1', { method: 'PUT', path, body: Buffer.from('x') }).catch(() => null)
    if (answer?.status === 200) done.push(`more${more}`)
  }

  const verify = async (nodeId: string): Promise<Verdict> =>
    (await askLocalNode(cluster.node(nodeId).dataDir, 'POST', '/audit/verify', null)) as Verdict
  for (const { nodeId } of cluster.plan) {
    await until(`${nodeId} has a segment`, async () => (await verify(nodeId)).segments > 0)
    t.match(await verify(nodeId), { faults: { length: 0 } }, nodeId)
  }

  for (const { nodeId } of cluster.plan) {
    const reported = await changes(cluster, nodeId)
    t.strictSame(
      done.filter((key) => reported.get(key) !== 1),
      [],
      `${nodeId} tells of ${done.length} changes once each`,
    )
  }
  const oldest = await page(cluster, 'n2', `&key=${done[0]}`)
  t.equal(oldest.records.length, 1)
  t.equal(oldest.nextContinuationToken, undefined)
})

async function changes(cluster: ProcessCluster, nodeId: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (let token = ''; ; ) {
    const { records, nextContinuationToken } = await page(
      cluster,
      nodeId,
      `&operation=putObject&outcome=success&limit=1000${token}`,
    )
    for (const { key } of records) counts.set(key ?? '', (counts.get(key ?? '') ?? 0) + 1)
    if (nextContinuationToken === undefined) return counts
    token = `&continuationToken=${nextContinuationToken}`
  }
}

async function page(cluster: ProcessCluster, nodeId: string, query: string): Promise<Page> {
  const { adminUrl } = cluster.node(nodeId)
  const headers = { authorization: `Bearer ${cluster.setup.ownerToken}` }
  const answer = await fetch(`${adminUrl}/admin/api/v1/audit?since=1h${query}`, { headers })
  return (await answer.json()) as Page
}
