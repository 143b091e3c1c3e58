/**
 * A bucket of three real nodes that is replicated to a second cluster of one, through the death of the leader and of the connection; then both ways.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { ProcessCluster } from '../helpers/process-cluster.ts'
import { DOOR_OFFSET, Side } from '../helpers/replicated-side.ts'
import { TcpDoor } from '../helpers/tcp-door.ts'

t.test('replication to a second cluster', { timeout: 1_800_000 }, async (t) => {
  const [three, one] = [await ProcessCluster.start(t, 3), await ProcessCluster.start(t, 1)]
  const [here, there] = [new Side(three, 'photos'), new Side(one, 'copies')]
  await three.login('n1')
  await one.login('n1')
  const door = await TcpDoor.open(t, here.port + DOOR_OFFSET, there.port)
  await TcpDoor.open(t, there.port + DOOR_OFFSET, here.port)
  await here.make()
  await there.make()
  await here.change('PUT', 'before', 'was here before')

  await t.test('a target that does not serve is refused when it is set', async (t) => {
    const missing = await here.replicateTo(new Side(one, 'no-such-bucket'))
    t.match(missing, {
      status: 424,
      body: { code: 'target_refused', message: /NoSuchBucket.*create the bucket/ },
    })
    const { accessKeyId } = one.setup
    const target = { endpoint: `http://127.0.0.1:${here.port + DOOR_OFFSET}`, bucket: 'copies', accessKeyId }
    const wrong = await here.ask('PUT', '/replication', { target: { ...target, secretKey: 'x'.repeat(40) } })
    t.match(wrong, {
      status: 424,
      body: { code: 'target_refused', message: /SignatureDoesNotMatch.*check target.secretKey/ },
    })
    t.equal((await here.ask('GET', '/replication')).status, 404, 'nothing is set')
  })

  await t.test('what was there, and each change from then on, arrives', async (t) => {
    const set = await here.replicateTo(there, { existing: true })
    t.equal(set.status, 200, JSON.stringify(set.body))
    t.notMatch(JSON.stringify(set.body), one.setup.secretKey, 'the secret is not shown')
    for (let n = 0; n < 20; n++) await here.change('PUT', `k${n}`, `text ${n}`)
    await here.change('PUT', 'k0', 'newer')
    await here.change('DELETE', 'k1')
    await here.settled()
    t.equal(await there.text('before'), 'was here before')
    t.equal(await there.text('k0'), 'newer')
    t.equal(await there.text('k1'), null)
    t.same(await here.differences(), [])
    t.match(await here.status(), { failed: 0, conflicts: 0, lagSeconds: 0 })
  })

  await t.test('the leader dies while the target is away: nothing is lost', async (t) => {
    door.shut()
    for (let n = 0; n < 10; n++) await here.change('PUT', `away${n}`, `away ${n}`)
    await here.change('DELETE', 'k2')
    await until('the outage is seen', async () => (await here.status()).unreachableSince !== null)
    t.match(await here.differences().catch(({ message }: Error) => message), /target_refused/)
    const leader = (await three.leader()) ?? 'n1'
    await three.signal(leader, 'SIGKILL')
    await here.change('PUT', 'k3', 'without the leader')
    door.reopen()
    await until('all of it arrived', async () => (await there.text('k3')) === 'without the leader')
    await here.settled()
    t.equal(await there.text('k2'), null)
    t.same(await here.differences(), [])
    three.startNode(leader)
    await three.allReady()
  })

  await t.test('both ways: no loop, and each change is at both sites', async (t) => {
    const set = await there.replicateTo(here, { existing: true })
    t.equal(set.status, 200, JSON.stringify(set.body))
    await there.change('PUT', 'from-there', 'of the other site')
    await here.change('PUT', 'from-here', 'of this site')
    await there.change('DELETE', 'k4')
    await here.change('DELETE', 'k5')
    await there.change('PUT', 'k6', 'changed there')
    await until('both have settled', async () => {
      await here.settled()
      await there.settled()
      return (await here.text('from-there')) !== null && (await here.text('k6')) === 'changed there'
    })
    t.equal(await there.text('from-here'), 'of this site')
    t.same([await here.text('k4'), await there.text('k5')], [null, null])
    t.same([await here.differences(), await there.differences()], [[], []])
    const before = [(await here.status()).sent, (await there.status()).sent]
    await here.change('PUT', 'last', 'last')
    await here.settled()
    await there.settled()
    t.same(
      [(await here.status()).sent - (before[0] ?? 0), (await there.status()).sent - (before[1] ?? 0)],
      [1, 0],
    )
  })

  await t.test(
    'all buckets of a tenant: one that is made later follows, to a bucket that is made there',
    async (t) => {
      const { accessKeyId, secretKey } = one.setup
      const endpoint = `http://127.0.0.1:${here.port + DOOR_OFFSET}`
      const target = { endpoint, bucketPrefix: 'of-', accessKeyId, secretKey }
      const path = `/tenants/${three.setup.tenantId}/replication`
      const set = await three.admin(here.living, {
        method: 'PUT',
        path,
        body: { target, createBuckets: true },
      })
      t.equal(set.status, 200, set.body.toString())
      const [later, made] = [new Side(three, 'later'), new Side(one, 'of-later')]
      await later.make()
      await later.change('PUT', 'a', 'before it follows or behind that')
      await until('it is there', async () => (await made.text('a')) !== null)
      await later.settled()
      t.same(await later.differences(), [])
      t.match(await later.ask('GET', '/replication'), { body: { ofTenant: true } })
      t.match(await here.ask('GET', '/replication'), { body: { ofTenant: false } }, 'its own stays')
      t.match(await later.ask('DELETE', '/replication'), { status: 412 })
      t.equal((await three.admin(here.living, { method: 'DELETE', path })).status, 204)
      await until('it is released', async () => (await later.ask('GET', '/replication')).status === 404)
      t.equal((await here.ask('GET', '/replication')).status, 200)
    },
  )
})
