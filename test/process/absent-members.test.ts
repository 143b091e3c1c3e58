/** Members that are down: one comes back to a leader that it does not know, another is declared lost. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { until } from '../helpers/async.ts'
import { changeMembers, QUICK_MEMBERS, membershipAt, placed, untilAllowed } from '../helpers/member-steps.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'

const OBJECTS = 12

t.test('members that are down', { timeout: 1_800_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3, QUICK_MEMBERS, { spares: 1 })
  await cluster.login('n1')
  await cluster.call('n1', 'POST', '/buckets', JSON.stringify({ name: 'kept' }))
  const bodies = Array.from({ length: OBJECTS }, () => randomBytes(60_000))
  for (const [n, body] of bodies.entries())
    t.equal((await cluster.call('n1', 'PUT', `/buckets/kept/objects/o${n}`, body)).status, 200)
  const reason = 'tests'

  await t.test('a member that comes back follows a leader that joined meanwhile', async (t) => {
    await cluster.signal('n3', 'SIGTERM')
    cluster.startJoining('n4')
    const { peerAddress } = cluster.node('n4')
    const join = { path: '/cluster/voters', body: { nodeId: 'n4', peerAddress, reason } }
    await untilAllowed(cluster, 'n1', join)
    await changeMembers(cluster, 'n1', join)
    await until('n4 serves', () => cluster.ready('n4'))
    const lead = { method: 'POST', path: '/cluster/leader/transfer', body: { nodeId: 'n4', reason } } as const
    t.equal((await cluster.admin('n1', lead)).status, 200)
    await until('n4 leads', async () => (await cluster.leader()) === 'n4')
    cluster.startNode('n3')
    await until('n3 serves under a leader it did not know', () => cluster.ready('n3'))
  })

  await t.test(
    'a dead member is declared lost, and all its copies are made again [membership.lost]',
    async (t) => {
      await cluster.signal('n2', 'SIGKILL')
      const lost = { path: '/cluster/voters/n2/lost', body: { reason, confirm: 'n2' } }
      const early = await cluster.admin('n1', { method: 'POST', ...lost })
      t.equal(early.status, 412, 'it answered a moment ago')
      await untilAllowed(cluster, 'n1', lost)
      await changeMembers(cluster, 'n1', lost)
      await changeMembers(cluster, 'n3', {
        path: '/cluster/members/n2/remove',
        body: { reason, confirm: 'n2' },
      })
      const seen = await membershipAt(cluster, 'n3')
      t.equal(placed(seen), 'n1 active voter, n3 active voter, n4 active voter')
      t.match(seen.departed, [{ nodeId: 'n2', how: 'lost' }])
      for (const at of ['n1', 'n3', 'n4'])
        for (const [n, body] of bodies.entries()) {
          const read = await cluster.call(at, 'GET', `/buckets/kept/objects/o${n}`)
          t.ok(read.body.equals(body), `o${n} at ${at}`)
        }
    },
  )
})
