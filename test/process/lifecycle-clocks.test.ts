/**
 * Lifecycle rules at real nodes with wrong wall clocks: one clock that is ahead removes nothing, and days that a majority has seen do.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { SkewedCluster } from '../helpers/skewed-cluster.ts'

const DAY_MS = 86_400_000
const NODES = ['n1', 'n2', 'n3']
const OBJECTS = '/buckets/days/objects'

t.test('rules by age', { timeout: 1_800_000 }, async (t) => {
  const world = await SkewedCluster.start(t)
  const { cluster } = world
  const statusOf = async (key: string): Promise<number> =>
    (await world.ask('GET', `${OBJECTS}/${key}`)).status
  const setRules = async (): Promise<void> => {
    const body = JSON.stringify({
      rules: [
        { id: 'old', status: 'Enabled', filter: { prefix: 'old/' }, expiration: { days: 1 } },
        { id: 'due', status: 'Enabled', filter: { prefix: 'due/' }, expiration: { date: '2026-01-01' } },
      ],
    })
    t.equal((await world.ask('PUT', '/buckets/days/lifecycle', { body })).status, 200)
  }
  const store = async (key: string, headers = {}): Promise<void> => {
    const stored = await world.ask('PUT', `${OBJECTS}/${key}`, { body: Buffer.from(key), headers })
    t.equal(stored.status, 200, key)
  }
  /** A walk goes over the whole bucket: when an object that is due is gone, all others were looked at. */
  const walked = async (key: string): Promise<void> => {
    await store(`due/${key}`)
    await setRules()
    await until('the walk has removed what is due', async () => (await statusOf(`due/${key}`)) === 404)
  }
  const made = { name: 'days', objectLockEnabled: true }
  t.equal((await world.ask('POST', '/buckets', { body: JSON.stringify(made) })).status, 201)
  await store('old/young')
  await store('old/held', {
    'x-service-retention-mode': 'COMPLIANCE',
    'x-service-retain-until': new Date(Date.now() + 30 * DAY_MS).toISOString(),
  })
  await walked('first')
  t.equal(await statusOf('old/young'), 200, 'it is younger than a day')

  await t.test('one clock that is days ahead ends no day', async (t) => {
    let leader = ''
    await until('a node leads', async () => (leader = (await cluster.leader()) ?? '') !== '')
    world.skew(leader, 3 * DAY_MS)
    await until(
      'its clock is reported',
      async () => (await cluster.unreadiness(leader))?.includes('clock_skew') === true,
    )
    await walked('during')
    t.equal(await statusOf('old/young'), 200)
    world.skew(leader, 0)
    await cluster.allReady()
    await until('the leader knows that all clocks are right', () => world.areRight())
    await walked('after')
    t.equal(await statusOf('old/young'), 200)
  })

  await t.test('when the clocks of all are two days on, the day has ended', async (t) => {
    for (const nodeId of NODES) world.skew(nodeId, 2 * DAY_MS)
    await until('the cluster has confirmed the time', async () => {
      const { body } = await cluster.admin('n1', { method: 'GET', path: '/cluster/time' })
      const { confirmedTime } = JSON.parse(body.toString()) as { confirmedTime?: string }
      return Date.parse(confirmedTime ?? '') > Date.now() + DAY_MS
    })
    // Tokens end by the time of the majority.
    await cluster.login('n1')
    await until('what was young is gone at each node', async () => {
      const found = await Promise.all(
        NODES.map((nodeId) => world.ask('GET', `${OBJECTS}/old/young`, { nodeId })),
      )
      return found.every(({ status }) => status === 404)
    })
    await until('the rule has hidden what is retained', async () => (await statusOf('old/held')) === 404)
    const { json } = await world.ask('GET', '/buckets/days/versions?prefix=old/held')
    const versions = json['versions'] as readonly { key: string; isDeleteMarker?: boolean }[]
    t.match(
      versions.filter(({ isDeleteMarker }) => isDeleteMarker !== true),
      [{ key: 'old/held' }],
      'and its version is kept',
    )
  })
})
