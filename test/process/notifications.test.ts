/**
 * Notifications of real nodes to a real receiver, through the death of the node that delivers, and of all of them at once.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { answer, Receiver } from '../workers/webhooks/receiver.ts'

/** The port offset of a target that the launcher allows on this machine. */
const RECEIVER_OFFSET = 99

t.test(
  'no notification is lost when nodes are killed [notifications.same-entry]',
  { timeout: 1_800_000 },
  async (t) => {
    const cluster = await ProcessCluster.start(t, 3)
    await cluster.login('n1')
    const [first] = cluster.plan
    const port = Number(new URL(first?.dataUrl ?? '').port) + RECEIVER_OFFSET
    const receiver = await Receiver.start(t, answer(204), port)
    const reported = () =>
      new Set(receiver.received.map(({ body }) => (JSON.parse(body) as { data: { key: string } }).data.key))
    const expected = new Set<string>()
    const living = (): string =>
      cluster.plan.map(({ nodeId }) => nodeId).find((id) => cluster.pid(id) > 0) ?? 'n1'
    const ask = (method: 'PUT' | 'POST' | 'GET', path: string, body?: object) =>
      cluster.call(living(), method, path, body === undefined ? null : JSON.stringify(body))
    const put = async (key: string): Promise<void> => {
      await until(`${key} is acknowledged`, async () => {
        const received = await cluster
          .call(living(), 'PUT', `/buckets/notified/objects/${key}`, Buffer.from('x'))
          .catch(() => null)
        return received?.status === 200
      })
      expected.add(key)
    }
    const arrived = () =>
      until('every notification was delivered', () => [...expected].every((key) => reported().has(key)))

    t.equal((await ask('POST', '/buckets', { name: 'notified' })).status, 201)
    const config = { id: 'a', url: receiver.url, events: ['object-created'] }
    const set = await ask('PUT', '/buckets/notified/notifications', { configs: [config] })
    t.equal(set.status, 200, set.body.toString())
    await put('before')
    await arrived()

    await t.test('the leader dies while the receiver does not answer: another node continues', async (t) => {
      receiver.manner = () => undefined
      const leader = (await cluster.leader()) ?? 'n1'
      for (let n = 0; n < 5; n++) await put(`leader-${n}`)
      await until('some deliveries are in flight', () => receiver.received.length > 1)
      await cluster.signal(leader, 'SIGKILL')
      receiver.manner = answer(204)
      await put('without-it')
      await arrived()
      cluster.startNode(leader)
      await cluster.allReady()
      t.pass()
    })

    await t.test('all nodes die at once: acknowledged changes are notified after the start', async (t) => {
      receiver.manner = (response) => void response.destroy()
      for (let n = 0; n < 5; n++) await put(`all-${n}`)
      const nodes = cluster.plan.map(({ nodeId }) => nodeId)
      await Promise.all(nodes.map((nodeId) => cluster.signal(nodeId, 'SIGKILL')))
      receiver.manner = answer(204)
      for (const nodeId of nodes) cluster.startNode(nodeId)
      await cluster.allReady()
      await arrived()
      t.pass()
    })

    const ids = new Map<string, Set<string>>()
    for (const { headers, body } of receiver.received) {
      const { key } = (JSON.parse(body) as { data: { key: string } }).data
      ids.set(key, (ids.get(key) ?? new Set()).add(String(headers['webhook-id'])))
    }
    for (const [key, seen] of ids) if (expected.has(key)) t.ok(seen.size >= 1, key)
    await until('the listing reports it', async () => {
      const { body } = await ask('GET', '/buckets/notified/notifications')
      return (
        (JSON.parse(body.toString()) as { configs: { pendingCount: number }[] }).configs[0]?.pendingCount ===
        0
      )
    })
  },
)
