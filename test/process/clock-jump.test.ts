/**
 * Real nodes with a wrong wall clock at the leader: nothing expires early, and everything continues when the clock is right.
 */
import t from 'tap'
import { until } from '../helpers/async.ts'
import { SkewedCluster, TOLERANCE_MS } from '../helpers/skewed-cluster.ts'
import { answer, Receiver } from '../workers/webhooks/receiver.ts'

/** The port offset of a target that the launcher allows on this machine. */
const RECEIVER_OFFSET = 99
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const retainedUntil = (ms: number): Readonly<Record<string, string>> => ({
  'x-service-retention-mode': 'COMPLIANCE',
  'x-service-retain-until': new Date(Date.now() + ms).toISOString(),
})

t.test('a leader with a wrong clock', { timeout: 1_800_000 }, async (t) => {
  const world = await SkewedCluster.start(t)
  const { cluster } = world
  const [first] = cluster.plan
  const port = Number(new URL(first?.dataUrl ?? '').port) + RECEIVER_OFFSET
  const receiver = await Receiver.start(t, answer(204), port)
  const receivedKeys = (): readonly string[] =>
    receiver.received.map(({ body }) => (JSON.parse(body) as { data: { key: string } }).data.key)

  const made = { name: 'locked', objectLockEnabled: true }
  t.equal((await world.ask('POST', '/buckets', { body: JSON.stringify(made) })).status, 201)
  const config = { id: 'a', url: receiver.url, events: ['object-created'] }
  const reported = { body: JSON.stringify({ configs: [config] }) }
  t.equal((await world.ask('PUT', '/buckets/locked/notifications', reported)).status, 200)
  const body = Buffer.from('contract')
  const put = await world.ask('PUT', '/buckets/locked/objects/contract', {
    body,
    headers: retainedUntil(HOUR_MS),
  })
  t.equal(put.status, 200)
  const version = `/buckets/locked/objects/contract?versionId=${String(put.json['versionId'])}`
  const started = await world.ask('POST', '/buckets/locked/multipart/large', { body: '{}' })
  t.equal(started.status, 201)
  const upload = `/buckets/locked/multipart/${String(started.json['uploadId'])}/parts`
  t.equal((await world.ask('PUT', `${upload}/1/large`, { body })).status, 200)
  const rows = await world.auditRows('n1')

  for (const [words, skewMs] of [
    ['two hours ahead', 2 * HOUR_MS],
    ['eight days ahead', 8 * DAY_MS],
    ['four hundred days ahead', 400 * DAY_MS],
  ] as const) {
    await t.test(`${words} expires nothing, and is reported`, async (t) => {
      let leader = ''
      await until('somebody leads', async () => (leader = (await cluster.leader()) ?? '') !== '')
      const nodeId = cluster.plan.map((node) => node.nodeId).find((id) => id !== leader) ?? ''
      world.skew(leader, skewMs)
      await until('its clock is reported', async () => {
        const during = await world.ask('PUT', `/buckets/locked/objects/${skewMs}`, { body, nodeId })
        t.ok(Math.abs(Date.parse(String(during.json['lastModified'])) - Date.now()) < TOLERANCE_MS)
        t.equal((await world.ask('DELETE', version, { nodeId })).status, 403, 'it is retained')
        return (await cluster.unreadiness(leader))?.includes('clock_skew') === true
      })
      await until('another node leads', async () => ![leader, undefined].includes(await cluster.leader()))
      t.equal((await world.ask('DELETE', version, { nodeId })).status, 403)
      t.equal((await world.ask('GET', `${upload}/large`, { nodeId })).status, 200, 'the upload is there')
      const left = new Set(await world.auditRows(nodeId))
      t.ok(
        rows.every((row) => left.has(row)),
        'the audit log is whole',
      )
      await until('the event is delivered', () => receivedKeys().includes(String(skewMs)))
      await t.test('requests at that node are judged and recorded by the time of the others', async (t) => {
        const held = await world.ask('GET', '/buckets/locked/objects/contract', { nodeId: leader })
        t.equal(held.status, 200, 'a token stays valid')
        const requested = { method: 'GET', bucket: 'locked', key: 'contract', ttlSeconds: 60 }
        const signing = { nodeId: leader, body: JSON.stringify(requested) }
        const { url, expiresAt } = (await world.ask('POST', '/sign-url', signing)).json
        t.ok(
          Math.abs(Date.parse(String(expiresAt)) - Date.now() - 60_000) < TOLERANCE_MS,
          'a URL expires on time',
        )
        const { pathname, search } = new URL(String(url))
        const signed = `${pathname.replace('/api/v1', '')}${search}`
        for (const gateway of [leader, nodeId])
          t.equal(
            (await world.ask('GET', signed, { nodeId: gateway })).status,
            200,
            'and is valid until then',
          )
        const missing = `/buckets/locked/objects/missing-${skewMs}`
        t.equal((await world.ask('GET', missing, { nodeId: leader })).status, 404)
        await until('its row is in the chain', async () => {
          const times = await world.auditTimes(nodeId, `missing-${skewMs}`)
          for (const time of times)
            t.ok(Math.abs(time - Date.now()) < TOLERANCE_MS, 'a row has the right time')
          return times.length > 0
        })
      })
      world.skew(leader, 0)
      await cluster.allReady()
      await until('the leader knows that all clocks are right', () => world.areRight())
      const after = `/buckets/locked/objects/after-${skewMs}`
      const retained = await world.ask('PUT', after, { body, headers: retainedUntil(HOUR_MS), nodeId })
      t.equal(retained.status, 200, JSON.stringify(retained.json))
      await until('its event is delivered', () => receivedKeys().includes(`after-${skewMs}`))
    })
  }

  await t.test('an owner sets back a cluster whose time has run ahead', async (t) => {
    const nodes = cluster.plan.map(({ nodeId }) => nodeId)
    for (const nodeId of nodes) world.skew(nodeId, 300 * DAY_MS)
    const time = async (): Promise<{ logTime: string; confirmedTime: string; majorityTime: string }> =>
      JSON.parse((await cluster.admin('n1', { method: 'GET', path: '/cluster/time' })).body.toString())
    await until('the log is ahead', async () => {
      await world.ask('PUT', '/buckets/locked/objects/ahead', { body })
      return Date.parse((await time()).logTime) > Date.now() + 299 * DAY_MS
    })
    // Tokens expire by the majority's time, which is wrong now.
    await cluster.login('n1')
    t.equal((await world.ask('DELETE', version)).status, 403, 'the time is not confirmed')
    for (const nodeId of nodes) world.skew(nodeId, 0)
    await until('the clocks are right', async () => {
      const { majorityTime } = await time()
      return Math.abs(Date.parse(majorityTime ?? '') - Date.now()) < TOLERANCE_MS
    })
    await cluster.login('n1')
    const { majorityTime } = await time()
    const order = { majorityTime, reason: 'all clocks were ahead' }
    const path = '/cluster/time/set-back'
    const dryRun = await cluster.admin('n1', { method: 'POST', path: `${path}?dryRun=true`, body: order })
    t.match(JSON.parse(dryRun.body.toString()), { allowed: true })
    const done = await cluster.admin('n1', { method: 'POST', path, body: order })
    t.equal(done.status, 200, done.body.toString())
    const again = await cluster.admin('n1', { method: 'POST', path, body: order })
    t.match(JSON.parse(again.body.toString()), { code: 'precondition_failed' })
    await cluster.allReady()
    const after = await world.ask('PUT', '/buckets/locked/objects/set-back', { body })
    t.ok(Math.abs(Date.parse(String(after.json['lastModified'])) - Date.now()) < TOLERANCE_MS)
    t.equal((await world.ask('DELETE', version)).status, 403)
    await until('its event is delivered', () => receivedKeys().includes('set-back'))
    const { body: verdict } = await cluster.admin('n1', {
      method: 'GET',
      path: '/audit?since=3650d&limit=1000',
    })
    t.match(verdict.toString(), /setBackClusterTime/)
  })
})
