/**
 * The rate of repair and the state of the watch over copies, through real sockets.
 */
import t from 'tap'
import { QUIET_REPAIR } from '../helpers/disk-samples.ts'
import { type Ask, ApiWorld } from './api-world.ts'
import { settingsOf } from '../../src/state-machine/chunks/collection.ts'

const REPAIR = '/admin/api/v1/cluster/repair'
const RESUME = '/admin/api/v1/cluster/collection/resume'

t.test('repair', async (t) => {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('owner')
  const call = (ask: Partial<Ask>) => world.call({ admin: true, token, path: REPAIR, ...ask })
  const set = (body: object, query = '') => call({ method: 'PUT', path: REPAIR + query, body })

  await t.test('shows how far the node that was asked has come', async (t) => {
    const nodes = [
      {
        nodeId: 'n1',
        reachable: true,
        pending: 2,
        scrub: { startedAt: '1970-01-01T00:00:01.000Z', lastFullAt: null, progress: 0.5, lost: 1 },
        inventory: { endedAt: '1970-01-01T00:00:00.500Z', isRunning: false, runs: 1 },
        directoriesLost: 0,
        disk: { level: 'stopPlacing', totalBytes: 1_000, freeBytes: 100, isSuspect: false },
      },
    ]
    const disk = { level: 'stopPlacing', totalBytes: 1_000, freeBytes: 100, isSuspect: false } as const
    world.memory.repairs = [{ nodeId: 'n1', status: QUIET_REPAIR, disk }]
    t.match((await call({})).json, { maxBytesPerSecond: null, nodes })
  })

  await t.test('shows a node that does not answer as such, next to those that do', async (t) => {
    world.memory.repairs = [...world.memory.repairs, { nodeId: 'n2', status: null, disk: null }]
    const unknown = { pending: null, scrub: null, inventory: null, directoriesLost: null, disk: null }
    t.match((await call({})).json, {
      nodes: [
        { nodeId: 'n1', reachable: true },
        { nodeId: 'n2', reachable: false, ...unknown },
      ],
    })
  })

  await t.test('shows the last recount and a halt of the collection, which an owner ends', async (t) => {
    t.match((await call({})).json, { lastRecount: null, collection: { halted: null, resumed: null } })
    const found = { rows: 12, differences: 2, first: 'a sum differs' }
    await world.memory.services.propose({ type: 'finishRecount', operationId: null, node: 'n1', ...found })
    t.match((await call({})).json, {
      lastRecount: { nodeId: 'n1', rows: 12, differences: 2, firstDifference: 'a sum differs', at: String },
      collection: { halted: { reason: 'recount: a sum differs', since: String }, resumed: null },
    })
    const resume = (body: object) => call({ method: 'POST', path: RESUME, body })
    for (const body of [{}, { reason: ' ' }])
      t.match(await resume(body), { status: 400, code: 'reason_required' })
    const resumed = { halted: null, resumed: { reason: 'looked into it', requestedBy: String, at: String } }
    t.match(await resume({ reason: ' looked into it ' }), { status: 200, json: resumed })
    t.match(await resume({ reason: 'again' }), { status: 200, json: resumed }, 'twice is as good as once')
    t.match((await call({})).json, { collection: resumed })
  })

  await t.test('takes a rate for all nodes, and takes it away again', async (t) => {
    t.match(await set({ maxBytesPerSecond: 5_000_000 }), {
      status: 200,
      json: { maxBytesPerSecond: 5_000_000 },
    })
    t.equal(settingsOf(world.memory.services.state).repairBytesPerSecond, 5_000_000)
    t.match((await call({})).json, { maxBytesPerSecond: 5_000_000 })
    t.match(await set({ maxBytesPerSecond: null }), { status: 200, json: { maxBytesPerSecond: null } })
  })

  await t.test('refuses an invalid rate, and every caller but an owner without a tenant', async (t) => {
    for (const maxBytesPerSecond of [0, -1, 1.5, '1', undefined])
      t.match(
        await set({ maxBytesPerSecond }),
        { status: 400, code: 'invalid_request' },
        String(maxBytesPerSecond),
      )
    t.equal(settingsOf(world.memory.services.state).repairBytesPerSecond, null)
    const operator = await world.memory.adminToken('operator')
    for (const ask of [{}, { method: 'PUT', body: { maxBytesPerSecond: 1 } }])
      t.match(await call({ ...ask, token: operator }), { status: 403, code: 'access_denied' })
  })
})
