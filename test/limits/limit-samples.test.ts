/** What limits do is counted, and tenants are named only on demand and within a bound. */
import t from 'tap'
import { limitSamples } from '../../src/limits/limit-samples.ts'
import { Limits } from '../../src/limits/limits.ts'
import { NO_CALLER_LIMITS, TEST_CALLERS } from '../helpers/content-world.ts'

function worldOf() {
  const tenant = { ...NO_CALLER_LIMITS, requestsPerSecond: 1, burstSeconds: 1 }
  let nowMs = 0
  const settings = { ...TEST_CALLERS, tenant }
  const limits = new Limits({ settings, state: { get: () => undefined }, now: () => nowMs })
  const ask = (tenantId: string): void => {
    const caller = { tenantId, accessKeyId: `AK${tenantId}`, address: '::1' }
    const admission = limits.admit(caller, { isUpload: false, client: new AbortController() })
    if (admission instanceof Promise) throw new Error('nothing waits here')
    admission.charge('out', 10)
    admission.release()
  }
  const sample = (name: string, isPerTenant = false) =>
    limitSamples(limits, { isPerTenant, nowMs }).filter((one) => one.name === name)
  return { ask, sample, pass: (ms: number) => void (nowMs += ms) }
}

t.test('limitSamples', async (t) => {
  t.test('count refusals by limit and scope, and the tenants they concern for a minute', async (t) => {
    const { ask, sample, pass } = worldOf()
    t.match(sample('holdfast_limits_refused_total'), [{ value: 0 }], 'the series is there from the start')
    ask('acme')
    t.throws(() => ask('acme'), { code: 'rate_limited' })
    const labels = { limit: 'requests_per_second', scope: 'tenant' }
    t.match(sample('holdfast_limits_refused_total'), [{ value: 1, labels }])
    t.match(sample('holdfast_limits_limited_tenants'), [{ value: 1 }])
    pass(60_000)
    t.match(sample('holdfast_limits_limited_tenants'), [{ value: 0 }])
    t.match(sample('holdfast_limits_working_requests'), [{ value: 0 }])
  })

  t.test('name tenants only on demand, and no more than 200', async (t) => {
    const { ask, sample } = worldOf()
    for (let n = 0; n < 203; n++) ask(`t${n}`)
    t.same(sample('holdfast_tenant_requests_total'), [])
    const named = sample('holdfast_tenant_requests_total', true)
    t.equal(named.length, 201)
    t.match(named.at(-1), { labels: { tenant: 'other' }, value: 3 })
    t.match(sample('holdfast_tenant_sent_bytes_total', true).at(-1), { value: 30 })
  })
})
