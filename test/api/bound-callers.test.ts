/**
 * Access keys and admin tokens that are bound to addresses, through real sockets: each request is asked, whatever it comes with.
 */
import t, { type Test } from 'tap'
import { testTerms } from '../access/signed-url-terms.ts'
import { metricValue } from '../helpers/metric-value.ts'
import { ApiWorld, type Ask } from './api-world.ts'
import { AuditedWorld } from './audited-world.ts'

const KEYS = '/admin/api/v1/tenants/acme/keys'
const ELSEWHERE = ['203.0.113.0/24', '2001:db8::/32']
const HERE = ['127.0.0.0/8']
const DENIED = { status: 403, code: 'access_denied' }

async function start(t: Test) {
  const world = await ApiWorld.start(t)
  await world.memory.tenant('acme')
  const token = await world.memory.adminToken('operator')
  const admin = (ask: Ask) => world.call({ admin: true, method: 'POST', token, ...ask })
  const create = async (body: object) => {
    const { json } = await admin({ path: KEYS, body })
    return { id: String(json['accessKeyId']), secret: String(json['secretKey']), json }
  }
  const exchange = (accessKeyId: string, secretKey: string) =>
    world.call({ method: 'POST', path: '/api/v1/auth/token', body: { accessKeyId, secretKey } })
  return { world, admin, create, exchange }
}

t.test('a key that is bound to addresses', async (t) => {
  const { world, admin, create, exchange } = await start(t)

  await t.test(
    'gives no token elsewhere, and gives one where it may be used [admin.keys.bound.address]',
    async (t) => {
      const far = await create({ allowedAddresses: ELSEWHERE })
      t.strictSame(far.json['allowedAddresses'], ELSEWHERE)
      t.match(await exchange(far.id, far.secret), DENIED)
      t.match(world.memory.auditRows.at(-1), {
        code: 'access_denied',
        tenantId: 'acme',
        actor: { type: 'accessKey', id: far.id },
      })
      const refused = () =>
        metricValue(world.memory.access.samples(), 'holdfast_access_binding_refused_total', {
          credential: 'access_key',
          gate: 'address',
        })
      t.equal(refused(), 1, 'and is counted')
      t.match(await exchange(far.id, `${far.secret}x`), { status: 401, code: 'invalid_credentials' })
      const near = await create({ allowedAddresses: [...ELSEWHERE, ...HERE] })
      t.match(await exchange(near.id, near.secret), { status: 200 })
    },
  )

  await t.test(
    'is asked at each request, by tokens and links as well [admin.keys.bound.each-request]',
    async (t) => {
      const { id } = await create({ scopes: 'read,write', allowedAddresses: HERE })
      const { access } = world.memory.services
      const there = { address: '192.0.2.1', isSecure: false }
      const secret = access.newSecret(id)
      await world.memory.change({
        type: 'rotateAccessKey',
        accessKeyId: id,
        tenantId: 'acme',
        secret: secret.sealed,
        scopes: null,
        expiresAt: null,
      })
      const grant = access.exchange({
        accessKeyId: id,
        secretKey: secret.secretKey,
        clientAddress: '127.0.0.1',
        connection: { address: '127.0.0.1' },
      })
      const bearer = `Bearer ${grant.token}`
      t.match(await world.call({ path: '/api/v1/buckets', token: grant.token }), { status: 200 })
      t.throws(() => access.openBearer(bearer)(there), { code: 'access_denied' }, 'a rotation keeps it')
      const here = access.openBearer(bearer)({ ...there, address: '127.0.0.9' })
      const url = access.signUrl(here, testTerms(), { ttlSeconds: null, isHolderHidden: true })
      t.ok(access.openSignedUrl(url.token).holder({ ...there, address: '127.0.0.9' }))
      t.throws(() => access.openSignedUrl(url.token).holder(there), { code: 'access_denied' })
      t.equal(access.openSignedUrl(url.token).formerHolder(there), null)
    },
  )

  await t.test(
    'a small PUT from elsewhere, which is tried before a barrier and behind one, is counted once',
    async (t) => {
      const { id, secret } = await create({ scopes: 'read,write', allowedAddresses: ELSEWHERE })
      const { access } = world.memory.services
      const { token } = access.exchange({
        accessKeyId: id,
        secretKey: secret,
        clientAddress: '127.0.0.1',
        connection: { address: '203.0.113.9' },
      })
      const refused = () =>
        metricValue(world.memory.access.samples(), 'holdfast_access_binding_refused_total', {
          credential: 'access_key',
          gate: 'address',
        })
      const before = refused()
      const { barriers } = world.memory
      t.match(
        await world.call({ method: 'PUT', path: '/api/v1/buckets/photos/objects/a', token, body: 'a' }),
        DENIED,
      )
      t.equal(world.memory.barriers - barriers, 1, 'it was tried twice')
      t.equal(refused(), Number(before) + 1)
    },
  )

  await t.test(
    'keeps its list through a rotation that gives none, and loses it by an empty one [admin.keys.bound.rotate]',
    async (t) => {
      const { id } = await create({ allowedAddresses: ELSEWHERE, clientCertificates: ['cn:ci'] })
      const rotate = (body: object) => admin({ path: `${KEYS}/${id}/rotate`, body })
      const kept = await rotate({ scopes: 'read' })
      t.match(kept.json, { allowedAddresses: ELSEWHERE, clientCertificates: ['cn:ci'] })
      const changed = await rotate({ clientCertificates: [] })
      t.strictSame(changed.json['allowedAddresses'], ELSEWHERE)
      t.equal(changed.json['clientCertificates'], undefined)
      const freed = await rotate({ allowedAddresses: [] })
      t.equal(freed.json['allowedAddresses'], undefined)
      t.match(await exchange(id, String(freed.json['secretKey'])), { status: 200 })
    },
  )

  await t.test(
    'is refused with what is wrong when the list names no address [admin.keys.bound.refused]',
    async (t) => {
      for (const body of [{ allowedAddresses: ['10.0.0.0/40'] }, { clientCertificates: ['ci'] }])
        t.match(await admin({ path: KEYS, body }), { status: 400, code: 'invalid_argument' })
      const many = Array.from({ length: 33 }, (_, i) => `10.0.0.${i}`)
      t.match(await admin({ path: KEYS, body: { allowedAddresses: many } }), { status: 400 })
    },
  )
})

t.test(
  'an admin token that is bound to addresses opens nothing elsewhere [admin.tokens.bound]',
  async (t) => {
    const { world } = await start(t)
    const { memory } = world
    const list = (token: string) => world.call({ admin: true, path: '/admin/api/v1/tenants', token })
    t.match(
      await list(
        await memory.adminToken('owner', null, null, { boundTo: { addresses: ELSEWHERE, certificates: [] } }),
      ),
      DENIED,
    )
    t.match(
      await list(
        await memory.adminToken('owner', null, null, { boundTo: { addresses: HERE, certificates: [] } }),
      ),
      {
        status: 200,
      },
    )
    const metrics = await memory.adminToken('viewer', null, null, {
      boundTo: { addresses: ELSEWHERE, certificates: [] },
    })
    t.match(await world.call({ admin: true, path: '/metrics', token: metrics }), DENIED)
    const refused = (labels: Record<string, string>) =>
      metricValue(memory.access.samples(), 'holdfast_access_binding_refused_total', labels)
    t.equal(refused({ credential: 'admin_token', gate: 'address' }), 2, 'and is counted')
    t.equal(refused({ credential: 'admin_token', gate: 'certificate' }), 0)
  },
)

t.test('where a key may be used is in the row of the change that says so [audit.record]', async (t) => {
  const audited = await AuditedWorld.empty(t)
  await audited.world.memory.tenant('acme')
  const change = (path: string, body: object) =>
    audited.row({ admin: true, method: 'POST', path, token: audited.owner, body })
  const bound = { allowedAddresses: HERE, clientCertificates: ['cn:ci'] }
  const made = await change(KEYS, bound)
  t.match(made.row.details, bound)
  const rotate = `${KEYS}/${String(made.answer.json['accessKeyId'])}/rotate`
  t.notMatch((await change(rotate, {})).row.details, { allowedAddresses: [] }, 'nothing was said')
  t.match((await change(rotate, { allowedAddresses: [] })).row.details, { ...bound, allowedAddresses: [] })
})
