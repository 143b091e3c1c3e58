/**
 * Temporary credentials, through real sockets: never more than the key, gone with it, and named in the audit log.
 */
import t, { type Test } from 'tap'
import { tenantKeys } from '../../src/state-machine/tenants/keys.ts'
import { metricValue } from '../helpers/metric-value.ts'
import { ApiWorld } from './api-world.ts'
import { ship } from './audited-world.ts'
import { keyWithToken, revoke, rotate } from './issued-keys.ts'

const READ = 'op=read:bucket=photos:prefix=in/'
const DENIED = { status: 403, code: 'access_denied' }

async function start(t: Test, scopes = 'read,write') {
  const { world } = await ApiWorld.withBucket(t)
  const key = await keyWithToken(world.memory, { scopes })
  const make = (body: object, token = key.token) =>
    world.call({ method: 'POST', path: '/api/v1/auth/temporary', token, body })
  const made = async (body: object) => String((await make(body)).json['token'])
  const list = (token: string, prefix = 'in/') =>
    world.call({ path: `/api/v1/buckets/photos/objects?prefix=${prefix}`, token })
  return { world, key, make, made, list }
}

t.test('a temporary credential', async (t) => {
  await t.test('does what its scopes say and no more [tokens.temporary.scopes]', async (t) => {
    const { world, made, list } = await start(t)
    const token = await made({ sessionName: 'ci', scopes: READ })
    t.match(await list(token), { status: 200 })
    t.match(await list(token, 'out/'), DENIED)
    const put = { method: 'PUT', path: '/api/v1/buckets/photos/objects/in/a', token, body: 'x' }
    t.match(await world.call(put), DENIED, 'though the key may')
  })

  await t.test('cannot be made with more than the key has [tokens.temporary.subset]', async (t) => {
    const { make } = await start(t, READ)
    for (const scopes of [
      'read',
      'op=read:bucket=photos:prefix=',
      'op=read:bucket=*:prefix=in/',
      'op=write:bucket=photos:prefix=in/',
      `${READ},op=delete:bucket=photos:prefix=in/`,
    ])
      t.match(await make({ sessionName: 'ci', scopes }), DENIED, scopes)
    t.match(await make({ sessionName: 'ci', scopes: `${READ}deeper/` }), { status: 200 })
    t.match(
      await make({ sessionName: 'ci' }),
      { status: 200, json: { scopes: READ } },
      'all of them unless given',
    )
  })

  await t.test('does no more than its key may do now [tokens.temporary.scopes]', async (t) => {
    const { world, key, made, list } = await start(t)
    const token = await made({ sessionName: 'ci' })
    t.match(await list(token), { status: 200 })
    const row = tenantKeys.accessKey(key.accessKeyId)
    await world.memory.writeRow(row, { ...world.memory.reader.get(row), scopes: READ })
    t.match(await list(token), DENIED, 'the wider scope of the token is covered by none of the key any more')
    t.match(await list(key.token), { status: 200 })
  })

  await t.test(
    'ends at the next request when its key is rotated or revoked, and at its time [tokens.temporary.end]',
    async (t) => {
      const { world, key, made, list } = await start(t)
      const first = await made({ sessionName: 'ci' })
      t.match(await list(first), { status: 200 })
      await rotate(world.memory, key)
      t.match(await list(first), { status: 401, code: 'token_invalid' })
      const other = await keyWithToken(world.memory, { scopes: 'read' })
      const body = { sessionName: 'ci', ttlSeconds: 60 }
      const ask = { method: 'POST', path: '/api/v1/auth/temporary', token: other.token, body }
      const brief = String((await world.call(ask)).json['token'])
      const long = String((await world.call({ ...ask, body: { sessionName: 'ci' } })).json['token'])
      world.memory.now += 61_000
      t.match(await list(brief), { status: 401, code: 'token_expired' })
      t.match(await list(long), { status: 200 })
      await revoke(world.memory, other)
      t.match(await list(long), { status: 401, code: 'key_revoked' })
    },
  )

  await t.test('lives no longer than the deployment and its key allow [tokens.temporary.ttl]', async (t) => {
    const { world, make } = await start(t)
    t.match(await make({ sessionName: 'ci', ttlSeconds: 1_000_000 }), { json: { expiresIn: 43_200 } })
    const dying = await keyWithToken(world.memory, { expiresAt: world.memory.now + 100_000 })
    const { json } = await make({ sessionName: 'ci' }, dying.token)
    t.ok(Number(json['expiresIn']) <= 100)
  })

  await t.test('makes no other credential and signs no URL [tokens.temporary.chain]', async (t) => {
    const { world, make, made } = await start(t)
    const token = await made({ sessionName: 'ci' })
    t.match(await make({ sessionName: 'ci2' }, token), DENIED)
    const body = { method: 'GET', bucket: 'photos', key: 'a' }
    t.match(await world.call({ method: 'POST', path: '/api/v1/sign-url', token, body }), DENIED)
  })

  await t.test('names its session in the audit log [tokens.temporary.session]', async (t) => {
    const { world, key, made, list } = await start(t)
    const token = await made({ sessionName: 'build-17' })
    await list(token)
    t.match(world.memory.auditRows.at(-1), {
      actor: { type: 'accessKey', id: key.accessKeyId, session: 'build-17' },
    })
    t.notMatch(JSON.stringify(world.memory.auditRows), /svctmp_/)
  })

  await t.test(
    'is found in the audit log by its session, with the request that made it [audit.filters]',
    async (t) => {
      const { world, key, made, list } = await start(t)
      const owner = await world.memory.adminToken('auditor')
      await list(await made({ sessionName: 'build-17' }))
      await list(await made({ sessionName: 'build-18' }))
      await list(key.token)
      await ship(world, world.memory.auditRows)
      const path = '/admin/api/v1/audit?session=build-17'
      const { json } = await world.call({ admin: true, path, token: owner })
      t.match(json['records'], [
        { operation: 'listObjects', actor: { id: key.accessKeyId, session: 'build-17' } },
        { operation: 'createTemporaryToken', details: { session: 'build-17' } },
      ])
      t.equal(json['count'], 2)
    },
  )

  await t.test('is counted when it is made, refused, and used after its end', async (t) => {
    const { world, key, make, made, list } = await start(t)
    const value = (name: string, labels: Record<string, string>) =>
      metricValue(world.memory.access.samples(), `holdfast_access_${name}_total`, labels)
    t.equal(value('temporary_credentials', { result: 'made' }), 0, 'there from the start')
    const token = await made({ sessionName: 'ci' })
    await make({ sessionName: 'ci', scopes: 'admin' })
    await make({ sessionName: 'ci2' }, token)
    t.equal(value('temporary_credentials', { result: 'made' }), 1)
    t.equal(value('temporary_credentials', { result: 'refused' }), 2)
    await list(token)
    await list('svctmp_x.y')
    const brief = await made({ sessionName: 'ci', ttlSeconds: 60 })
    world.memory.now += 60_000
    await list(brief)
    await revoke(world.memory, key)
    await list(token)
    await list(key.token)
    for (const [code, count] of Object.entries({ token_expired: 1, key_revoked: 1, token_invalid: 0 }))
      t.equal(value('ended_credentials', { code }), count, code)
  })

  await t.test('needs a good name [tokens.temporary.name]', async (t) => {
    const { make } = await start(t)
    for (const sessionName of ['a b', 'ü1', 'a\n', 'x/y'])
      t.match(await make({ sessionName }), { status: 400, code: 'invalid_argument' }, sessionName)
    for (const sessionName of ['a', 'x'.repeat(65)]) t.match(await make({ sessionName }), { status: 400 })
  })
})
