/**
 * The weight and zone of a member over its file, through real sockets.
 */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { foundThree } from '../helpers/membership-samples.ts'
import { type Ask, ApiWorld } from './api-world.ts'

const reason = 'twice the disks'

t.test('setMemberPlacement', async (t) => {
  const { world, token: bearer } = await ApiWorld.withBucket(t)
  const token = await world.memory.adminToken('owner')
  await foundThree(world.memory)
  const ask = (path: string, more: Partial<Ask> = {}) =>
    world.call({ admin: true, token, path: `/admin/api/v1/cluster${path}`, ...more })
  const put = (nodeId: string, body: object, query = '') =>
    ask(`/members/${nodeId}/placement${query}`, { method: 'PUT', body: { reason, ...body } })
  const clear = (nodeId: string, query = '') =>
    ask(`/members/${nodeId}/placement${query}`, { method: 'DELETE' })
  const path = '/api/v1/buckets/photos/objects/a'
  t.equal((await world.call({ method: 'PUT', path, token: bearer, body: randomBytes(20_000) })).status, 200)

  await t.test('sets a weight and a zone over the file, and returns to it [membership.place]', async (t) => {
    const file = { zone: 'rack-1', weight: 1 }
    const { status, json } = await put('n2', { weight: 3 })
    t.match(
      { status, ...json },
      { status: 200, zone: 'rack-1', weight: 3, set: { zone: null, weight: 3 }, file },
    )
    t.match((await put('n2', { zone: 'rack-2' })).json, { zone: 'rack-2', weight: 1, file })
    const audit = await world.call({
      admin: true,
      token,
      path: '/admin/api/v1/audit?operation=setMemberPlacement',
    })
    const details = { nodeId: 'n2', zone: 'rack-2', weight: null }
    t.match(audit.json['records'], [{ operation: 'setMemberPlacement', reason, details }])
    const { members } = (await ask('/membership')).json as { members: readonly object[] }
    t.match(members[1], { zone: 'rack-2', weight: 1, placement: { zone: 'rack-2', weight: null, file } })
    t.notOk('placement' in (members[0] ?? {}))
    await put('n3', { zone: 'rack-2' })
    await put('n1', { zone: 'rack-2' })
    t.equal((await clear('n1')).status, 204)
    t.equal((await clear('n1')).status, 204, 'repeating it is no error')
  })

  await t.test('a dry run plans it and changes nothing [membership.place.plan]', async (t) => {
    const before = (await ask('/membership')).json['configIndex']
    const { status, json } = await put('n2', { weight: 3 }, '?dryRun=true')
    t.match(
      { status, ...json },
      {
        status: 200,
        allowed: true,
        plan: {
          chunks: 1,
          isComplete: true,
          nodes: [
            { nodeId: 'n1', weight: 1, weightShareNow: 1 / 3, weightShare: 1 / 5 },
            { nodeId: 'n2', weight: 3, zone: 'rack-1', weightShare: 3 / 5 },
          ],
        },
      },
    )
    t.match((await clear('n2', '?dryRun=true')).json, { plan: { nodes: [{}, { zone: 'rack-1' }] } })
    const few = await put('n1', { zone: 'rack-2' }, '?dryRun=true')
    t.match(few.json, { allowed: false, blockers: [{ code: 'precondition_failed' }], warnings: [/one zone/] })
    t.equal((await ask('/membership')).json['configIndex'], before)
  })

  await t.test('refuses what cannot be meant [membership.place.refusals]', async (t) => {
    t.match(await put('n9', { weight: 1 }), { status: 404, code: 'not_found' })
    t.match(await put('n1', {}), { status: 400, code: 'invalid_request' })
    t.match(await put('n1', { weight: 1001 }), { status: 400 })
    t.match(await put('n1', { weight: -1 }), { status: 400 })
    t.match(await put('n1', { zone: 'rack-2' }), { status: 412, code: 'precondition_failed' })
    const operator = await world.memory.adminToken('operator')
    const refused = { token: operator, method: 'PUT' as const, body: { reason, weight: 2 } }
    t.match(await ask('/members/n1/placement', refused), { status: 403 })
    world.memory.featureLevel = 6
    t.match(await put('n1', { weight: 2 }), { status: 412, json: { message: /feature level 7/ } })
  })
})
