/**
 * GET /changes: what has changed since a caller looked, at once or when it happens.
 */
import t from 'tap'
import { type Ask, ApiWorld } from './api-world.ts'

const CHANGES = '/admin/api/v1/changes'
const SCRUB = { method: 'POST', path: '/admin/api/v1/cluster/scrub', body: { reason: 'Test' } } as const

t.test('changes', async (t) => {
  const world = await ApiWorld.start(t)
  const token = await world.memory.adminToken('owner')
  const call = (query = '', ask: Partial<Ask> = {}) =>
    world.call({ admin: true, token, path: CHANGES + query, ...ask })
  const scrub = () => world.call({ admin: true, token, ...SCRUB })
  const cursor = async (): Promise<string> => String((await call()).json['cursor'])

  await t.test(
    'without a cursor everything is new; with one, what differs from it [membership.changes]',
    async (t) => {
      t.match((await call()).json, { changed: ['membership', 'operations', 'backups'] })
      const seen = await cursor()
      t.match((await call(`?since=${seen}`)).json, { cursor: seen, changed: [] })
      t.equal((await scrub()).status, 202)
      // A look is shared for half a second, so the first answer may still be of the time before.
      t.match((await call(`?since=${seen}&wait=5s`)).json, { changed: ['operations'] })
      t.match((await call('?since=anything')).json, { changed: ['membership', 'operations', 'backups'] })
    },
  )

  await t.test(
    'an answer waits for a change, and comes when one happens [membership.changes.wait]',
    async (t) => {
      const seen = await cursor()
      t.same((await call(`?since=${seen}&wait=20ms`)).json['changed'], [])
      const waiting = call(`?since=${seen}&wait=60s`)
      t.equal((await scrub()).status, 202)
      t.match((await waiting).json, { changed: ['operations'] })
    },
  )

  await t.test('a node that stops answers those that wait [membership.changes.wait]', async (t) => {
    const waiting = call(`?since=${await cursor()}&wait=60s`)
    await call()
    world.memory.stopping.abort()
    t.match(await waiting, { status: 200, json: { changed: [] } })
  })

  await t.test('invalid_argument: a time that is none, a cursor that is too long', async (t) => {
    t.match(await call('?wait=1h'), { status: 400, code: 'invalid_argument' })
    t.match(await call(`?since=${'x'.repeat(300)}`), { status: 400 })
    t.match(await call('', { token: await world.memory.adminToken('viewer') }), { status: 403 })
  })
})
