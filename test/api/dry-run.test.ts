/**
 * Dry runs and waiting, through real sockets: a dry run changes no row and reports the effect of the real request.
 */
import t from 'tap'
import { type Ask, ApiWorld, type ApiAnswer } from './api-world.ts'
import { longOperationRanges } from '../../src/state-machine/long-operations/keys.ts'

const CLUSTER = '/admin/api/v1/cluster'

async function start(t: Parameters<typeof ApiWorld.withBucket>[0]) {
  const { world, token: bearer } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('owner')
  const ask = (path: string, body: object | undefined, method = 'POST'): Promise<ApiAnswer> => {
    const call: Ask = { admin: true, token, method, path: CLUSTER + path }
    return world.call(body === undefined ? call : { ...call, body })
  }
  const began = async (path: string, body: object) => String((await ask(path, body)).json['operationId'])
  return { world, bearer, ask, began }
}

t.test('dryRun', async (t) => {
  const { world, bearer, ask, began } = await start(t)
  const paused = await began('/recount', { reason: 'is cancelled' })
  const halt = { rows: 1, differences: 1, first: 'a sum differs' }
  await world.memory.services.propose({ type: 'finishRecount', operationId: null, node: 'n1', ...halt })
  const put = { method: 'PUT', path: '/api/v1/buckets/photos/objects/k', token: bearer }
  t.equal((await world.call({ ...put, body: Buffer.alloc(9_000, 'x') })).status, 200)
  world.memory.wanted = ['n8', 'n9']
  const reason = 'to see'
  const dryRuns: readonly [string, object | undefined, string, object, string?][] = [
    [
      '/rebalance',
      { tenantId: 'acme', reason },
      'rebalance',
      { tenantId: 'acme', plan: { chunks: 1, copiesToMake: 2, isComplete: true } },
    ],
    [
      '/rebalance',
      { tenantId: 'acme', bucket: 'photos', reason },
      'rebalance',
      { plan: { copiesToMake: 2 } },
    ],
    ['/scrub', { reason }, 'scrub', { plan: { nodes: ['n1'] } }],
    ['/recount', { reason }, 'recount', { plan: { unfinishedRecounts: 1 } }],
    [
      `/operations/${paused}/cancel`,
      undefined,
      'cancelOperation',
      { plan: { type: 'recount', statusBefore: 'queued', statusAfter: 'cancelled' } },
    ],
    ['/repair', { maxBytesPerSecond: 9 }, 'setRepair', { plan: { before: null, after: 9 } }, 'PUT'],
    [
      '/collection/resume',
      { reason },
      'resumeCollection',
      { plan: { halted: { reason: 'recount: a sum differs' } }, warnings: [/last recount differs/] },
    ],
  ]
  for (const [path, body, operation, expected, method] of dryRuns) {
    t.test(`of ${operation} shows the plan and changes nothing`, async (t) => {
      const [before, proposals] = [world.memory.checksum(), world.memory.proposals]
      const answer = await ask(`${path}?dryRun=true`, body, method)
      t.match(answer, {
        status: 200,
        json: { dryRun: true, operation, allowed: true, blockers: [], ...expected },
      })
      t.same([world.memory.checksum(), world.memory.proposals], [before, proposals])
      t.not((await ask(path, body, method)).status, 400, 'and the real one goes through')
      t.not(world.memory.checksum(), before, 'and changes something')
    })
  }

  t.test('names blockers instead of refusing', async (t) => {
    const started = await began('/rebalance', { tenantId: 'acme', reason })
    await ask(`/operations/${started}/cancel`, undefined)
    const before = world.memory.checksum()
    t.match(await ask(`/operations/${started}/resume?dryRun=true`, undefined), {
      status: 200,
      json: {
        allowed: false,
        plan: { statusBefore: 'cancelled', statusAfter: 'cancelled' },
        blockers: [{ code: 'precondition_failed', message: /it is cancelled/ }],
      },
    })
    t.equal(world.memory.checksum(), before)
  })

  t.test('refuses malformed requests like the real one', async (t) => {
    const wrong: readonly [string, object | undefined, number, string][] = [
      ['/rebalance', { tenantId: 'absent', reason }, 404, 'not_found'],
      ['/rebalance', { tenantId: 'acme', reason: ' ' }, 400, 'reason_required'],
      ['/rebalance', { tenantId: 'acme', reason, bukket: 'x' }, 400, 'invalid_request'],
      ['/scrub', { reason, node: 'n9' }, 404, 'not_found'],
      ['/operations/op_none/pause', undefined, 404, 'not_found'],
    ]
    for (const [path, body, status, code] of wrong) {
      for (const query of ['', '?dryRun=true'])
        t.match(await ask(path + query, body), { status, code }, path + query)
    }
    t.match(await ask('/recount?dryRun=perhaps', { reason }), { status: 400, code: 'invalid_argument' })
    const token = await world.memory.adminToken('operator')
    const body = { reason }
    t.match(
      await world.call({ admin: true, token, method: 'POST', path: `${CLUSTER}/scrub?dryRun=true`, body }),
      { status: 403, code: 'access_denied' },
    )
  })
})

t.test('wait', async (t) => {
  const { world, ask } = await start(t)
  const operations = async () => {
    const { items } = await world.memory.services.state.page(longOperationRanges.operations(), { limit: 100 })
    return items.filter(({ status }) => status === 'queued')
  }

  t.test('answers 202 with the present state when the time is over', async (t) => {
    for (const wait of ['1ms', '25ms'])
      t.match(await ask(`/scrub?wait=${wait}`, { reason: 'to see' }), {
        status: 202,
        json: { type: 'scrub', status: 'queued', nodes: [{ nodeId: 'n1', isDone: false }] },
        headers: { location: /operations\/op_/ },
      })
  })

  t.test('answers 200 as soon as the operation is finished', async (t) => {
    const before = new Set((await operations()).map(({ operationId }) => operationId))
    const answer = ask('/recount?wait=60s', { reason: 'to see' })
    for (let started: string | undefined; started === undefined; ) {
      started = (await operations()).find(({ operationId }) => !before.has(operationId))?.operationId
      const found = { operationId: started ?? null, node: 'n1', rows: 3, differences: 0, first: null }
      if (started !== undefined) await world.memory.services.propose({ type: 'finishRecount', ...found })
    }
    t.match(await answer, { status: 200, json: { type: 'recount', status: 'succeeded' } })
  })

  t.test('ends when the node begins to stop', async (t) => {
    const answer = ask('/scrub?wait=60s', { reason: 'to see' })
    setImmediate(() => world.memory.stopping.abort())
    t.match(await answer, { status: 202, json: { status: 'queued' } })
  })

  t.test('refuses an invalid time, and one that is too long', async (t) => {
    const before = world.memory.checksum()
    for (const wait of ['30', '0s', '-1s', '1m', '61s', '1.5s', 'soon', '']) {
      t.match(await ask(`/scrub?wait=${wait}`, { reason: 'to see' }), {
        status: 400,
        code: 'invalid_argument',
        json: {
          message: /^Cannot wait ".*": give a whole number with its unit, from 1ms to 60s, such as 30s$/,
        },
      })
    }
    t.equal(world.memory.checksum(), before)
    t.match(
      await ask('/repair?wait=1s', { maxBytesPerSecond: 1 }, 'PUT'),
      { status: 400 },
      'it answers no operation',
    )
  })
})
