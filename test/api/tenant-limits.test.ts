/** The routes of limits, through real sockets: answers, refusals, and what holds after them. */
import t from 'tap'
import { NO_CALLER_LIMITS } from '../helpers/content-world.ts'
import { ApiWorld, type Ask } from './api-world.ts'
import { AuditedWorld } from './audited-world.ts'

const LIMITS = '/admin/api/v1/tenants/acme/limits'
const FOLLOWED = {
  requestsPerSecond: null,
  bytesInPerSecond: null,
  bytesOutPerSecond: null,
  burstSeconds: null,
  requestsAtOnce: null,
  uploadsAtOnce: null,
}
const NOTHING_SET = { tenant: FOLLOWED, accessKey: FOLLOWED, weight: 1 }

async function start(t: Parameters<typeof ApiWorld.withBucket>[0]) {
  const tenant = { ...NO_CALLER_LIMITS, requestsPerSecond: 1000, requestsAtOnce: 70 }
  const { world, token } = await ApiWorld.withBucket(t, { callers: { tenant } })
  const operator = await world.memory.adminToken('operator')
  const ask = (more: Partial<Ask>) => world.call({ admin: true, token: operator, path: LIMITS, ...more })
  const set = (body: object, query = '') => ask({ method: 'PUT', path: `${LIMITS}${query}`, body })
  return { world, token, ask, set }
}

t.test(
  'limits of a tenant are shown beside what its nodes apply [admin.limits.get] [admin.limits.set]',
  async (t) => {
    const { world, ask, set } = await start(t)
    t.match((await ask({})).json, {
      tenantId: 'acme',
      limits: NOTHING_SET,
      applied: { tenant: { requestsPerSecond: 1000, requestsAtOnce: 70 }, accessKey: NO_CALLER_LIMITS },
      use: { requestsAtOnce: 0, uploadsAtOnce: 0, refused: 0, limitedWithinSeconds: null },
      updatedAt: null,
    })
    const made = await set({
      tenant: { requestsPerSecond: 5, uploadsAtOnce: 0 },
      accessKey: { burstSeconds: 3 },
    })
    t.match(made, {
      status: 200,
      json: {
        limits: { tenant: { ...FOLLOWED, requestsPerSecond: 5, uploadsAtOnce: 0 }, weight: 1 },
        applied: { tenant: { requestsPerSecond: 5, requestsAtOnce: 70 }, accessKey: { burstSeconds: 3 } },
      },
    })
    const viewer = await world.memory.adminToken('viewer', 'acme')
    t.match((await world.call({ admin: true, token: viewer, path: LIMITS })).json, made.json)
    t.match(
      (await set({ weight: 7 })).json,
      { limits: { ...NOTHING_SET, weight: 7 } },
      'the whole is replaced',
    )
  },
)

t.test(
  'a limit that is set holds within a second, and is gone when it is cleared [admin.limits.holds] [admin.limits.clear]',
  async (t) => {
    const { world, token, ask, set } = await start(t)
    let nowMs = performance.now() + 60_000
    world.memory.limitsNow = () => nowMs
    const read = () => world.call({ path: '/api/v1/buckets', token })
    t.equal((await read()).headers['ratelimit'], '"tenant";r=9999;t=1')
    await set({ tenant: { requestsPerSecond: 1, burstSeconds: 2 } })
    nowMs += 1_000
    t.equal((await read()).headers['ratelimit-policy'], '"tenant";q=1;w=1;burst=2')
    t.equal((await read()).status, 200)
    t.match(await read(), { status: 429, code: 'rate_limited' })
    t.match((await ask({})).json, { use: { refused: 1, limitedWithinSeconds: 0 } })
    t.equal((await ask({ method: 'DELETE' })).status, 204)
    t.equal((await ask({ method: 'DELETE' })).status, 204, 'again')
    nowMs += 1_000
    t.equal((await read()).headers['ratelimit-policy'], '"tenant";q=1000;w=1;burst=10000')
  },
)

t.test('setTenantLimits refuses what is no limit, and names it [admin.limits.invalid]', async (t) => {
  const { ask, set } = await start(t)
  const bodies: readonly [object, RegExp][] = [
    [{}, /name at least one of "tenant", "accessKey" and "weight"/],
    [{ tenant: { requestsPerSecond: -1 } }, /requestsPerSecond/],
    [{ tenant: { burstSeconds: 0 } }, /burstSeconds/],
    [{ accessKey: { bytesInPerSecond: 1.5 } }, /bytesInPerSecond/],
    [{ weight: 0 }, /weight/],
    [{ tenant: { requestPerSecond: 1 } }, /requestPerSecond/],
  ]
  for (const [body, message] of bodies)
    t.match(await set(body), { status: 400, code: 'invalid_request', json: { message } })
  t.match((await ask({})).json, { limits: NOTHING_SET })
})

t.test(
  'only a token of the whole cluster sets limits: they protect the other tenants [admin.limits.roles]',
  async (t) => {
    const { world, set } = await start(t)
    const own = await world.memory.adminToken('owner', 'acme')
    const ask = (method: string) =>
      world.call({ admin: true, token: own, method, path: LIMITS, body: { weight: 2 } })
    t.match(await ask('PUT'), { status: 403 })
    t.match(await world.call({ admin: true, token: own, method: 'DELETE', path: LIMITS }), { status: 403 })
    t.equal((await set({ weight: 2 })).status, 200)
    const absent = { admin: true, path: '/admin/api/v1/tenants/absent/limits' }
    const operator = await world.memory.adminToken('operator')
    t.match(await world.call({ ...absent, token: operator }), { status: 404, code: 'not_found' })
  },
)

t.test('a dry run of limits shows the plan and changes nothing [admin.limits.dry-run]', async (t) => {
  const { world, ask, set } = await start(t)
  await set({ weight: 3 })
  const before = world.memory.checksum()
  t.match((await set({ tenant: { requestsAtOnce: 9 } }, '?dryRun=true')).json, {
    dryRun: true,
    operation: 'setTenantLimits',
    tenantId: 'acme',
    allowed: true,
    plan: {
      before: { ...NOTHING_SET, weight: 3 },
      after: { ...NOTHING_SET, tenant: { ...FOLLOWED, requestsAtOnce: 9 } },
    },
  })
  const cleared = await ask({ method: 'DELETE', path: `${LIMITS}?dryRun=true` })
  t.match(cleared, { status: 200, json: { plan: { before: { weight: 3 } } } })
  t.equal(world.memory.checksum(), before)
})

t.test('limits wait for the members of a cluster that do not know them [admin.limits.level]', async (t) => {
  const { world, set } = await start(t)
  world.memory.featureLevel = 3
  t.match(await set({ weight: 3 }), { status: 412, json: { blockers: [{ code: 'version_incompatible' }] } })
})

t.test('limits that are set or cleared are recorded [admin.limits.audit]', async (t) => {
  const audited = await AuditedWorld.start(t)
  const change = (method: string, body?: object) =>
    audited.row({ admin: true, token: audited.owner, method, path: LIMITS, ...(body ? { body } : {}) })
  t.match((await change('PUT', { weight: 4 })).row, {
    operation: 'setTenantLimits',
    tenantId: 'acme',
    details: { limits: { weight: 4 } },
  })
  t.match((await change('DELETE')).row, { operation: 'deleteTenantLimits', details: { limits: null } })
})
