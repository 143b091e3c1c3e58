/**
 * The audit log as admins query it, and its rows of requests that do not simply succeed.
 */
import net from 'node:net'
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { auditRow } from '../helpers/audit-disk.ts'
import { deferred, until } from '../helpers/async.ts'
import type { ApiAnswer } from './api-world.ts'
import { AuditedWorld, ship } from './audited-world.ts'

const AUDIT = '/admin/api/v1/audit'
const OBJECTS = '/api/v1/buckets/photos/objects'
const DAY = 86_400_000

const nextOf = (received: ApiAnswer): string | undefined =>
  received.json['nextContinuationToken'] as string | undefined
const recordsOf = (received: ApiAnswer) => received.json['records'] as Record<string, unknown>[]

t.test('rows of requests have the time of the cluster, for any clock of their node', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world, token } = audited
  world.memory.now = Date.now() + DAY
  const { row } = await audited.row({ method: 'GET', path: `${OBJECTS}/missing`, token })
  t.ok(row.time >= world.memory.now, 'a request that changes nothing')
  const socket = net.connect(world.dataPort, '127.0.0.1')
  socket.end('no request\r\n\r\n')
  const unparsed = () => world.memory.auditRows.find(({ operation }) => operation === 'unparsed')
  await until('it is recorded', async () => unparsed() !== undefined)
  t.ok((unparsed()?.time ?? 0) >= world.memory.now, 'input that is no request')
})

t.test('queryAuditLog', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world, token, owner } = audited
  await world.memory.tenant('rival')
  const query = (text: string, as = owner) => world.call({ admin: true, token: as, path: AUDIT + text })
  for (const key of ['a', 'b', 'c'])
    await world.call({ method: 'PUT', path: `${OBJECTS}/${key}`, token, body: key })
  const objects = [{ key: 'a' }, { key: 'b' }]
  await world.call({ method: 'POST', path: `${OBJECTS}:batchDelete`, token, body: { objects } })
  const denied = auditRow('denied', { operation: 'getObject', key: 'a', status: 403, code: 'access_denied' })
  const rival = auditRow('rival', {
    tenantId: 'rival',
    bucket: 'secret',
    actor: { type: 'accessKey', id: 'AKR', role: null },
  })
  await ship(world, [
    { ...denied, time: Date.now() },
    { ...rival, time: Date.now() },
  ])

  await t.test(
    'answers every member of a record, the newest first [audit.query] [audit.record]',
    async (t) => {
      const received = await query('')
      const records = recordsOf(received)
      t.equal(received.json['count'], records.length)
      t.equal(received.json['isTruncated'], false)
      const times = records.map(({ time }) => Date.parse(String(time)))
      t.strictSame(
        times,
        times.toSorted((a, b) => b - a),
      )
      const put = records.find(({ key, operation }) => key === 'c' && operation === 'putObject')
      t.match(put, {
        id: /^au_\d+$/,
        api: 'native',
        method: 'PUT',
        path: `${OBJECTS}/c`,
        tenantId: 'acme',
        actor: { type: 'accessKey', id: /^AK/, role: null },
        bucket: 'photos',
        versionId: 'null',
        outcome: 'success',
        status: 200,
        code: null,
        bytesIn: 1,
        nodeId: 'n1',
        details: { size: 1 },
      })
      t.match(
        records.find(({ requestId }) => requestId === 'denied'),
        { id: /^au_\d+-0$/, outcome: 'denied', status: 403 },
      )
    },
  )

  await t.test('names every key of a batch deletion [audit.batch-keys]', async (t) => {
    const [batch] = recordsOf(await query('?operation=batchDeleteObjects'))
    t.match(batch, { details: { deletedKeys: ['a', 'b'] }, key: null })
    const byKey = recordsOf(await query('?key=b'))
    t.strictSame(byKey.map(({ operation }) => String(operation)).toSorted(), [
      'batchDeleteObjects',
      'putObject',
    ])
  })

  await t.test('finds by each filter [audit.filters]', async (t) => {
    const ids = async (text: string) => recordsOf(await query(text)).map(({ requestId }) => requestId)
    t.strictSame(await ids('?outcome=denied'), ['denied'])
    t.strictSame(await ids('?requestId=rival'), ['rival'])
    t.strictSame(await ids('?tenant=rival'), ['rival'])
    t.strictSame(await ids('?bucket=secret'), ['rival'])
    t.strictSame(await ids('?actor=AKR'), ['rival'])
    t.strictSame(await ids('?tenant=absent'), [])
    t.equal((await ids('?keyPrefix=c')).length, 1)
    t.equal((await ids('?operation=putObject')).length, 3)
    t.match(await query('?outcome=bad'), { status: 400, code: 'invalid_argument' })
    t.match(await query('?actr=x'), { status: 400, code: 'invalid_argument' })
  })

  await t.test('forces a token of one tenant to its own [audit.tenant-scope]', async (t) => {
    const scoped = await world.memory.adminToken('viewer', 'rival')
    t.strictSame(
      recordsOf(await query('', scoped)).map(({ requestId }) => requestId),
      ['rival'],
    )
    t.strictSame(recordsOf(await query('?tenant=rival', scoped)).length, 1)
    t.match(await query('?tenant=acme', scoped), { status: 403, code: 'tenant_scope_denied' })
    const next = nextOf(await query('?limit=1'))
    const foreign = await query(`?limit=1&continuationToken=${next}`, scoped)
    t.match(foreign, { status: 400, code: 'invalid_continuation_token' })
  })

  await t.test('requires at least a viewer [audit.role]', async (t) => {
    t.match(await world.call({ admin: true, path: AUDIT }), { status: 401 })
    t.equal((await query('', await world.memory.adminToken('viewer'))).status, 200)
    t.match(await world.call({ admin: true, path: AUDIT, token }), { status: 401 })
  })

  await t.test('takes since as an age, 24h unless given [audit.since]', async (t) => {
    for (const age of ['90s', '15m', '24h', '7d', '1h30m', '1.5h', '100ms'])
      t.equal((await query(`?since=${age}`)).status, 200, age)
    for (const age of ['', '7', 'd', '-1h', '7w', '1h ', '2020-01-01', '1'.repeat(70)])
      t.match(
        await query(`?since=${encodeURIComponent(age)}`),
        { status: 400, code: 'invalid_argument' },
        age,
      )
    t.match(await query('?until=soon'), { status: 400 })
    t.equal(recordsOf(await query('?until=1h')).length, 0)
    t.equal(recordsOf(await query('?since=7d&until=0s')).length, recordsOf(await query('')).length)
  })

  await t.test('clamps limit to 1 through 1000, 100 unless given [audit.limit]', async (t) => {
    const many = Array.from({ length: 1_200 }, (_, n) =>
      auditRow(`many-${n}`, { bucket: 'many', time: Date.now() }),
    )
    await ship(world, many, 2)
    const counts = async (text: string) => recordsOf(await query(`?bucket=many${text}`)).length
    t.equal(await counts(''), 100)
    t.equal(await counts('&limit=0'), 1)
    t.equal(await counts('&limit=-7'), 1)
    t.equal(await counts('&limit=5000'), 1000)
    t.match(await query('?limit=two'), { status: 400 })
    t.match(await query('?limit=1.5'), { status: 400 })
  })

  await t.test('continues where a page ended, each row once [audit.paging]', async (t) => {
    const found: unknown[] = []
    let page = await query('?bucket=many&limit=700')
    for (;;) {
      found.push(...recordsOf(page).map(({ requestId }) => requestId))
      const next = nextOf(page)
      if (next === undefined) break
      page = await query(`?bucket=many&limit=700&continuationToken=${next}`)
    }
    t.equal(found.length, 1_200)
    t.equal(new Set(found).size, 1_200)
  })
})

t.test('a window holds the rows committed in it, for any clocks [audit.since]', async (t) => {
  const { world, owner } = await AuditedWorld.start(t)
  await ship(world, [
    auditRow('late', { time: Date.now() - DAY * 2 }),
    auditRow('ahead', { time: Date.now() + DAY }),
  ])
  const received = await world.call({
    admin: true,
    token: owner,
    path: `${AUDIT}?since=1h&bucket=photos&operation=getObject`,
  })
  t.strictSame(
    recordsOf(received).map(({ requestId }) => requestId),
    ['ahead', 'late'],
  )
  t.ok(
    Date.parse(String(recordsOf(received)[0]?.['time'])) < Date.now() + DAY / 2,
    'nothing happened in the future',
  )
})

t.test('a request', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { world, token, owner } = audited
  const { memory } = world

  await t.test(
    'that was decided in the log has its refusal there, under the id of its problem [audit.request-id]',
    async (t) => {
      const { answer, row } = await audited.row({
        method: 'POST',
        path: '/api/v1/buckets',
        token,
        body: { name: 'photos' },
      })
      t.equal(answer.status, 409)
      t.match(row, { operation: 'createBucket', code: 'bucket_already_exists', bucket: 'photos' })
      t.equal(answer.json['requestId'], row.requestId)
      t.equal((await audited.committed())[0]?.requestId, row.requestId)
      const seen = await world.call({
        admin: true,
        token: owner,
        path: `${AUDIT}?requestId=${row.requestId}`,
      })
      t.match(recordsOf(seen), [{ status: 409, outcome: 'error' }])
    },
  )

  await t.test('whose outcome is unknown is recorded at the edge [audit.unknown-outcome]', async (t) => {
    memory.proposeFault = new Condition('commit_unknown', 'May or may not')
    const { row } = await audited.row({ method: 'PUT', path: `${OBJECTS}/x`, token, body: 'x' })
    memory.proposeFault = null
    t.match(row, { operation: 'putObject', key: 'x', status: 503, code: 'commit_unknown', bytesIn: 1 })
  })

  await t.test('of several parts has a row for each, and one for a later failure', async (t) => {
    let parts = 0
    memory.beforeApply = async () => {
      if (++parts === 2) throw new Condition('no_quorum', 'Gone')
    }
    const objects = Array.from({ length: 300 }, (_, n) => ({ key: `k${n}` }))
    const received = await world.call({
      method: 'POST',
      path: `${OBJECTS}:batchDelete`,
      token,
      body: { objects },
    })
    memory.beforeApply = async () => {}
    const requestId = String(received.headers['x-request-id'])
    await audited.row({ path: '/api/v1/buckets', token })
    const [edge, committed, ...more] = await audited.rowsOf(requestId)
    t.strictSame(more, [])
    t.match(edge, { operation: 'batchDeleteObjects', status: 200, details: null })
    t.match(committed?.details, { deletedKeys: { length: 256 } })
  })

  await t.test('of a batch whose keys are all refused is recorded with its keys', async (t) => {
    const narrow = await memory.bearer('acme', 'op=delete:bucket=photos:prefix=in/')
    const objects = [{ key: 'out/a' }, { key: 'in/b' }, { key: 'bad\u0000key' }]
    const { row } = await audited.row({
      method: 'POST',
      path: `${OBJECTS}:batchDelete`,
      token: narrow,
      body: { objects },
    })
    t.match(row.details, {
      deletedKeys: ['in/b'],
      refusedKeys: [
        { key: 'out/a', code: 'access_denied' },
        { key: 'bad\u0000key', code: String },
      ],
    })
  })

  await t.test('whose client left is recorded as such [audit.client-gone]', async (t) => {
    const before = memory.auditRows.length
    const socket = net.connect(world.dataPort, '127.0.0.1')
    socket.write(
      `PUT ${OBJECTS}/half HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\nhalf`,
    )
    await until('the body is being read', () => memory.arrivals > 0)
    socket.end()
    await until('it is recorded', () => memory.auditRows.slice(before).some(({ key }) => key === 'half'))
    t.match(memory.auditRows.at(-1), {
      operation: 'putObject',
      key: 'half',
      code: 'client_gone',
      status: null,
    })
    t.equal(memory.auditRows.length, before + 1)
  })

  await t.test('that is a dry run is recorded as such, not as a change [audit.dry-run]', async (t) => {
    const path = '/admin/api/v1/cluster/repair?dryRun=true'
    const { row } = await audited.row({
      method: 'PUT',
      path,
      token: owner,
      admin: true,
      body: { maxBytesPerSecond: 5 },
    })
    t.match(row, { operation: 'setRepair', status: 200, details: { dryRun: true } })
    t.notOk((await audited.committed()).some(({ requestId }) => requestId === row.requestId))
  })

  await t.test('of another tenant names the caller and the path [audit.denials]', async (t) => {
    const scoped = await memory.adminToken('viewer', 'acme')
    const { row } = await audited.row({ path: '/admin/api/v1/tenants/rival', token: scoped, admin: true })
    t.match(row, { code: 'tenant_scope_denied', tenantId: 'acme', path: '/admin/api/v1/tenants/rival' })
    const { row: global } = await audited.row({
      path: '/admin/api/v1/tenants/rival',
      token: owner,
      admin: true,
    })
    t.match(global, { code: 'not_found', tenantId: 'rival', actor: { role: 'owner' } })
    const { row: operation } = await audited.row({
      path: '/admin/api/v1/cluster/operations/op_1',
      token: owner,
      admin: true,
    })
    t.match(operation, { tenantId: null }, 'the id of an operation is no tenant')
  })

  await t.test('for a token names the key, whether it succeeds or not [audit.mint]', async (t) => {
    const key = await memory.accessKey('acme', 'read')
    const mint = (secretKey: string) =>
      audited.row({ method: 'POST', path: '/api/v1/auth/token', body: { ...key, secretKey } })
    t.match((await mint(key.secretKey)).row, {
      operation: 'createToken',
      tenantId: 'acme',
      actor: { type: 'accessKey', id: key.accessKeyId },
    })
    t.match((await mint('wrong')).row, {
      code: 'invalid_credentials',
      actor: { type: 'anonymous', id: null },
      details: { accessKeyId: key.accessKeyId },
    })
  })

  await t.test('carries its reason [audit.reason]', async (t) => {
    const { row } = await audited.row({
      method: 'POST',
      path: '/admin/api/v1/cluster/recount',
      token: owner,
      admin: true,
      body: { reason: 'because' },
    })
    t.match(row, { operation: 'recount', reason: 'because', details: { kind: 'recount' } })
  })
})

t.test('with audit.strict an answer waits for its row [audit.strict]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const { memory } = audited.world
  const order: string[] = []
  const release = deferred()
  memory.services.audit = {
    isStrict: true,
    admit() {},
    append: (row) => void order.push(`row ${row.operation} ${row.status} ${row.bytesOut}`),
    durable: async () => {
      await release.promise
      order.push('durable')
    },
  }
  await audited.world.call({ method: 'PUT', path: `${OBJECTS}/a`, token: audited.token, body: 'hello' })
  t.strictSame(order, [], 'a change waits only for its entry')
  const asked = audited.world.call({ path: `${OBJECTS}/a`, token: audited.token }).then(({ status }) => {
    order.push(`answer ${status}`)
  })
  await until('the row is written', () => order.length > 0)
  const missing = audited.world.call({ path: `${OBJECTS}/nothing`, token: audited.token })
  await until('the second row is written', () => order.length > 1)
  t.match(order, ['row getObject 200 5', /^row getObject 404 /])
  release.resolve()
  await Promise.all([asked, missing])
  t.match(
    order.filter((line) => !line.startsWith('row')),
    ['durable', 'durable', 'answer 200'],
  )
  memory.services.audit = {
    ...memory.services.audit,
    durable: async () => {
      throw new Condition('disk_full', 'No room')
    },
  }
  const refused = await audited.world.call({ path: `${OBJECTS}/a`, token: audited.token })
  t.match(refused, { status: 503, code: 'disk_full' })
})
