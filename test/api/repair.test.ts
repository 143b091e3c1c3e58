/**
 * The rate of repair and the state of the watch over copies, through real sockets.
 */
import t from 'tap'
import { type Ask, ApiWorld } from './api-world.ts'

const REPAIR = '/admin/api/v1/cluster/repair'

t.test('repair', async (t) => {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('owner')
  const call = (ask: Partial<Ask>) => world.call({ admin: true, token, path: REPAIR, ...ask })
  const set = (body: object, query = '') => call({ method: 'PUT', path: REPAIR + query, body })

  await t.test('shows how far the node that was asked has come', async (t) => {
    const nodes = [
      {
        nodeId: 'n1',
        pending: 2,
        scrub: { startedAt: '1970-01-01T00:00:01.000Z', lastFullAt: null, progress: 0.5, lost: 1 },
        inventory: { endedAt: '1970-01-01T00:00:00.500Z', isRunning: false, runs: 1 },
        directoriesLost: 0,
      },
    ]
    t.match((await call({})).json, { maxBytesPerSecond: null, nodes })
  })

  await t.test('takes a rate for all nodes, and takes it away again', async (t) => {
    t.match(await set({ maxBytesPerSecond: 5_000_000 }), {
      status: 200,
      json: { maxBytesPerSecond: 5_000_000 },
    })
    t.equal(world.memory.services.state.settings().repairBytesPerSecond, 5_000_000)
    t.match((await call({})).json, { maxBytesPerSecond: 5_000_000 })
    t.match(await set({ maxBytesPerSecond: null }), { status: 200, json: { maxBytesPerSecond: null } })
  })

  await t.test('refuses what is no rate, a dry run, and whoever is no owner of all', async (t) => {
    for (const maxBytesPerSecond of [0, -1, 1.5, '1', undefined])
      t.match(
        await set({ maxBytesPerSecond }),
        { status: 400, code: 'invalid_request' },
        String(maxBytesPerSecond),
      )
    t.match(await set({ maxBytesPerSecond: 1 }, '?dryRun=true'), { status: 501, code: 'not_implemented' })
    t.equal(world.memory.services.state.settings().repairBytesPerSecond, null)
    const operator = await world.memory.adminToken('operator')
    for (const ask of [{}, { method: 'PUT', body: { maxBytesPerSecond: 1 } }])
      t.match(await call({ ...ask, token: operator }), { status: 403, code: 'access_denied' })
  })
})
