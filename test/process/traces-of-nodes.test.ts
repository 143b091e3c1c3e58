/**
 * The trace of one request over three real nodes, one of them with Raft on a thread of its own: the edge, the copies, the flushes and
 * the applies, each measured where it happened. And with a node that traces nothing, as one of an earlier build. [docs/adr/0082]
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster, serverCommand } from '../helpers/process-cluster.ts'
import { type PlacedSpan, TraceCollector } from '../helpers/trace-collector.ts'

const NODES = ['n1', 'n2', 'n3']
const LARGE = 300_000
const SMALL = 20_000

t.test('one PUT through a follower is one trace from the edge to three disks', async (t) => {
  const collector = await TraceCollector.start(t)
  const untraced = new Set<string>()
  const traced = { HOLDFAST_TRACING__URL: collector.url, HOLDFAST_TRACING__SAMPLE: '0%' }
  const cluster = await ProcessCluster.start(t, 3, null, {
    launch: (node) => ({
      command: serverCommand(node),
      env: {
        ...(untraced.has(node.nodeId) ? {} : traced),
        HOLDFAST_NODE__RAFT_THREAD: String(node.nodeId === 'n3'),
      },
    }),
  })
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
  let traces = 0

  /** The spans of a PUT of this many bytes through the node. */
  async function traceOf(
    nodeId: string,
    bytes: number,
  ): Promise<{ readonly id: string; readonly key: string }> {
    traces += 1
    const id = String(traces).padStart(32, 'a')
    const key = `object-${traces}`
    const { status } = await cluster.ask(nodeId, {
      method: 'PUT',
      path: `/buckets/kept/objects/${key}`,
      body: Buffer.alloc(bytes, key),
      headers: { traceparent: `00-${id}-${'b'.repeat(16)}-01` },
    })
    t.equal(status, 200, key)
    return { id, key }
  }
  const spansOf = (id: string): readonly PlacedSpan[] =>
    collector.spans.filter(({ traceId }) => traceId === id)
  const named = (id: string, name: string): readonly PlacedSpan[] =>
    spansOf(id).filter((span) => span.name === name)
  const nodesOf = (id: string, name: string): readonly string[] =>
    named(id, name)
      .map(({ node }) => node)
      .toSorted()
  /** A copy may be left to repair when its node is slow; two are needed. */
  const isWhole = (id: string, nodes: readonly string[]): boolean =>
    named(id, 'putObject').length === 1 &&
    named(id, 'commit').length > 0 &&
    ['flush log', 'apply'].every((name) => nodes.every((node) => nodesOf(id, name).includes(node))) &&
    named(id, 'store copy').length > 0

  /** On a busy machine there may be none for a moment. */
  async function knownLeader(): Promise<string> {
    let leader: string | undefined
    await until('a leader is known', async () => (leader = await cluster.leader()) !== undefined)
    return leader ?? ''
  }
  for (const bytes of [LARGE, SMALL])
    for (const edge of NODES)
      await t.test(`${bytes} bytes through ${edge}`, async (t) => {
        const before = await knownLeader()
        const { id } = await traceOf(edge, bytes)
        await until(`the trace of ${bytes} bytes through ${edge} is whole`, () => isWhole(id, NODES))
        const leaders = [before, await knownLeader()]
        const [request] = named(id, 'putObject')
        t.match(request, { parentSpanId: 'b'.repeat(16), node: edge, kind: 2 })
        const [propose, ...others] = named(id, 'propose')
        t.same(others, [])
        t.match(propose, { parentSpanId: request?.spanId, node: edge })
        for (const name of ['flush log', 'apply']) {
          const spans = named(id, name)
          t.same(nodesOf(id, name), NODES, `${name} at each node, once`)
          for (const span of spans)
            t.equal(span.parentSpanId, propose?.spanId, `${name} belongs to the change`)
          const indexes = spans.map((span) => JSON.stringify(span.attributes))
          t.equal(new Set(indexes).size, 1, `${name}: of one entry`)
        }
        const [committer = '', ...more] = nodesOf(id, 'commit')
        t.ok(leaders.includes(committer), 'the leader says when a majority had it')
        t.same(more, [], 'and no other node')
        t.equal(named(id, 'commit')[0]?.parentSpanId, propose?.spanId)
        const writes = new Map(named(id, 'write copy').map((span) => [span.spanId, span]))
        for (const stored of named(id, 'store copy')) {
          const write = writes.get(stored.parentSpanId ?? '')
          const to = write?.attributes.find(({ key }) => key === 'holdfast.node')?.value.stringValue
          t.equal(to, stored.node, 'a copy belongs to the call that sent it')
          t.equal(write?.node, edge)
        }
        for (const { startTimeUnixNano, endTimeUnixNano, name } of spansOf(id))
          t.ok(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano), `${name} ends after it began`)
      })

  await t.test('a node that traces nothing stores copies and votes as before', async (t) => {
    const leader = await knownLeader()
    const [silent = '', edge = ''] = NODES.filter((node) => node !== leader)
    await cluster.signal(silent, 'SIGTERM')
    untraced.add(silent)
    cluster.startNode(silent)
    await cluster.allReady()
    const others = NODES.filter((node) => node !== silent)
    for (const bytes of [LARGE, SMALL]) {
      const { id, key } = await traceOf(edge, bytes)
      await until('both others have reported', () => isWhole(id, others) || named(id, 'apply').length === 2)
      t.same(nodesOf(id, 'apply'), others)
      const { status, body } = await cluster.ask(silent, {
        method: 'GET',
        path: `/buckets/kept/objects/${key}`,
      })
      t.match({ status, bytes: body.length }, { status: 200, bytes })
    }
    t.equal(
      collector.spans.filter(({ node, traceId }) => node === silent && Number(traceId.slice(-2)) > 6).length,
      0,
      'nothing is measured there',
    )
  })
})
