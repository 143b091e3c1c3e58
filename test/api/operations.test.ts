/**
 * Long operations through real sockets: rights, reports, and how they are stopped.
 */
import t from 'tap'
import { type Ask, ApiWorld } from './api-world.ts'

const REBALANCE = '/admin/api/v1/cluster/rebalance'
const OPERATIONS = '/admin/api/v1/cluster/operations'
const BODY = { tenantId: 'acme', reason: 'a new disk' }

t.test('operations', async (t) => {
  const { world } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('owner')
  const call = (ask: Ask) => world.call({ admin: true, token, ...ask })
  const begin = (body: object, query = '') => call({ method: 'POST', path: REBALANCE + query, body })
  const act = (id: string, verb: string, body?: object) =>
    call({ method: 'POST', path: `${OPERATIONS}/${id}/${verb}`, ...(body === undefined ? {} : { body }) })

  const made = await begin({ ...BODY, maxBytesPerSecond: 1_000_000 })
  const id = String(made.json['operationId'])
  t.equal(made.status, 202)
  t.match(id, /^op_[0-9a-z]+$/)
  t.equal(made.headers.location, `${OPERATIONS}/${id}`)
  t.match(made.json, {
    type: 'rebalance',
    status: 'queued',
    reason: 'a new disk',
    tenantId: 'acme',
    bucket: null,
    maxBytesPerSecond: 1_000_000,
    startedAt: null,
    finishedAt: null,
    etaSeconds: null,
    error: null,
    progress: { blobsTotal: 0, blobsDone: 0, bytesMoved: 0, skipped: 0, tasksOpen: 0 },
  })
  t.same((await call({ path: `${OPERATIONS}/${id}` })).json, made.json)
  t.notOk('cursor' in made.json, 'the notes of its driver stay internal')

  await t.test('are listed page by page in the order of their beginnings', async (t) => {
    const second = await begin({ ...BODY, bucket: 'photos' })
    t.equal(second.json['bucket'], 'photos')
    const ids = (json: Record<string, unknown>) =>
      (json['operations'] as { operationId: string }[]).map(({ operationId }) => operationId)
    const first = await call({ path: `${OPERATIONS}?limit=1` })
    const rest = await call({
      path: `${OPERATIONS}?continuationToken=${String(first.json['nextContinuationToken'])}`,
    })
    t.same([...ids(first.json), ...ids(rest.json)], [id, second.json['operationId']])
    t.equal(rest.json['isTruncated'], false)
  })

  await t.test('are paused, resumed and cancelled, each as often as asked, and never revived', async (t) => {
    for (const verb of ['pause', 'pause'])
      t.match(await act(id, verb), { status: 200, json: { status: 'paused' } })
    for (const verb of ['resume']) t.match(await act(id, verb), { status: 200, json: { status: 'running' } })
    for (const verb of ['cancel', 'cancel'])
      t.match(await act(id, verb), { status: 200, json: { status: 'cancelled', finishedAt: String } })
    for (const verb of ['pause', 'resume'])
      t.match(await act(id, verb), { status: 412, code: 'precondition_failed' })
    for (const verb of ['pause', 'resume', 'cancel'])
      t.match(await act('op_none', verb), { status: 404, code: 'not_found' })
    t.match(await act(id, 'cancel', {}), { status: 200 }, 'generated clients send an empty object')
    t.match(await act(id, 'cancel', { id }), { status: 400, code: 'invalid_request' })
    t.match(await call({ path: `${OPERATIONS}/op_none` }), { status: 404, code: 'not_found' })
  })

  await t.test('are refused where they have no meaning, and nothing is started', async (t) => {
    const before = (await call({ path: OPERATIONS })).json
    t.match(await begin({ ...BODY, tenantId: 'absent' }), { status: 404, code: 'not_found' })
    t.match(await begin({ ...BODY, bucket: 'none' }), { status: 404, code: 'not_found' })
    t.match(await begin({ ...BODY, reason: '  ' }), { status: 400, code: 'reason_required' })
    t.match(await begin({ tenantId: 'acme' }), { status: 400, code: 'reason_required' })
    for (const body of [{ reason: 'x' }, { ...BODY, maxBytesPerSecond: 0 }, { ...BODY, buckets: 'x' }])
      t.match(await begin(body), { status: 400, code: 'invalid_request' }, JSON.stringify(body))
    t.same((await call({ path: OPERATIONS })).json, before)
  })

  await t.test('are reserved to an owner without a tenant', async (t) => {
    const others = [
      [await world.memory.adminToken('operator'), 'access_denied'],
      [await world.memory.adminToken('owner', 'acme'), 'tenant_scope_denied'],
    ] as const
    for (const [foreign, code] of others) {
      const asks = [
        { method: 'POST', path: REBALANCE, body: BODY },
        { path: OPERATIONS },
        { path: `${OPERATIONS}/${id}` },
        ...['pause', 'resume', 'cancel'].map((verb) => ({
          method: 'POST',
          path: `${OPERATIONS}/${id}/${verb}`,
        })),
      ]
      for (const ask of asks) t.match(await call({ ...ask, token: foreign }), { status: 403, code }, ask.path)
    }
  })

  await t.test('no more than 16 at a time', async (t) => {
    let refusals = 0
    for (let n = 0; n < 17; n++) if ((await begin(BODY)).status !== 202) refusals++
    t.match(await begin(BODY), { status: 412, code: 'precondition_failed' })
    t.equal(refusals, 2, 'one existed already')
  })
})
