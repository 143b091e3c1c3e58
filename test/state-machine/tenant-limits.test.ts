/** The limits of a tenant are one row with every member, or none. */
import t from 'tap'
import { limitKeys } from '../../src/state-machine/limits/keys.ts'
import { BURST_SECONDS_MAX, LIMIT_MAX, LIMIT_WEIGHT_MAX } from '../../src/state-machine/limits/records.ts'
import { worldWithBucket } from './map-world.ts'

const NONE = {
  requestsPerSecond: null,
  bytesInPerSecond: null,
  bytesOutPerSecond: null,
  burstSeconds: null,
  requestsAtOnce: null,
  uploadsAtOnce: null,
}

t.test('setTenantLimits', async (t) => {
  const world = worldWithBucket()
  const command = { type: 'setTenantLimits', tenantId: 'acme' } as const
  const limits = { tenant: { ...NONE, requestsPerSecond: 50, uploadsAtOnce: 0 }, accessKey: NONE, weight: 2 }

  t.test('keeps the whole row, and replaces it whole', async (t) => {
    t.match(world.do({ ...command, limits }), { ...limits, updatedAt: Number })
    t.match(world.get(limitKeys.limits('acme')), limits)
    world.do({ ...command, limits: { ...limits, tenant: NONE } })
    t.match(world.get(limitKeys.limits('acme')), { tenant: NONE, weight: 2 })
  })

  t.test('invalid_argument: a value that is no whole number within its bounds', async (t) => {
    const scopes = [
      { ...NONE, requestsPerSecond: -1 },
      { ...NONE, bytesInPerSecond: 1.5 },
      { ...NONE, bytesOutPerSecond: LIMIT_MAX + 1 },
      { ...NONE, burstSeconds: 0 },
      { ...NONE, burstSeconds: BURST_SECONDS_MAX + 1 },
      { ...NONE, requestsAtOnce: Number.NaN },
    ]
    for (const scope of scopes) {
      t.match(world.run({ ...command, limits: { ...limits, tenant: scope } }), { code: 'invalid_argument' })
      t.match(world.run({ ...command, limits: { ...limits, accessKey: scope } }), {
        code: 'invalid_argument',
      })
    }
    for (const weight of [0, -1, 1.5, LIMIT_WEIGHT_MAX + 1])
      t.match(world.run({ ...command, limits: { ...limits, weight } }), { code: 'invalid_argument' })
  })

  t.test('null leaves no row, and repeating it is no error; not_found', async (t) => {
    world.do({ ...command, limits: null })
    t.equal(world.get(limitKeys.limits('acme')), undefined)
    t.equal(world.do({ ...command, limits: null }), null)
    t.match(world.run({ ...command, tenantId: 'none', limits }), { code: 'not_found' })
  })

  t.test('precondition_failed: the tenant is being deleted', async (t) => {
    world.do({ type: 'disableTenant', tenantId: 'acme', reason: 'r' })
    world.do({
      type: 'deleteTenant',
      tenantId: 'acme',
      reason: 'r',
      operationId: 'op1',
      requestedBy: 't1',
      locksEndedBy: 0,
    })
    t.match(world.run({ ...command, limits }), { code: 'precondition_failed' })
  })
})
