/**
 * Object lock through the S3 API: the configuration of a bucket, retention, legal hold and the bypass of GOVERNANCE.
 *
 * Actions: GetObjectLockConfiguration, PutObjectLockConfiguration, GetObjectRetention, PutObjectRetention, GetObjectLegalHold, PutObjectLegalHold
 */
import { crc32 } from 'node:zlib'
import t from 'tap'
import { S3World } from './s3-world.ts'

const DAY_MS = 86_400_000
const BYPASS = { 'x-amz-bypass-governance-retention': 'true' }

async function start(
  t: Parameters<typeof S3World.start>[0],
  options: Parameters<typeof S3World.start>[1] = {},
) {
  const s3 = await S3World.start(t, options)
  const headers = { 'x-amz-bucket-object-lock-enabled': 'true' }
  await s3.call({ method: 'PUT', path: '/vault', headers })
  const put = (path: string, body: string, more: Record<string, string> = {}) =>
    s3.call({ method: 'PUT', path, body, headers: more })
  const inDays = (days: number) => new Date(s3.world.memory.now + days * DAY_MS).toISOString()
  const retention = (mode: string, days: number) =>
    `<Retention><Mode>${mode}</Mode><RetainUntilDate>${inDays(days)}</RetainUntilDate></Retention>`
  const store = async (key: string) => {
    const { headers: answered } = await put(`/vault/${key}`, 'hello')
    return String(answered['x-amz-version-id'])
  }
  return { s3, put, inDays, retention, store }
}

const lock = (rule: string) =>
  `<ObjectLockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><ObjectLockEnabled>Enabled</ObjectLockEnabled>${rule}</ObjectLockConfiguration>`
const rule = (inner: string) => `<Rule><DefaultRetention>${inner}</DefaultRetention></Rule>`

t.test('PutObjectLockConfiguration and GetObjectLockConfiguration', async (t) => {
  const { s3, put, store } = await start(t)
  const path = '/vault?object-lock'
  t.match(await s3.call({ path: '/photos?object-lock' }), {
    status: 404,
    s3Code: 'ObjectLockConfigurationNotFoundError',
  })
  t.match(await put('/photos?object-lock', lock('')), { status: 409, s3Code: 'InvalidBucketState' })
  await put(
    '/photos?versioning',
    '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
  )
  t.match(await put('/photos?object-lock', lock('')), { status: 200 }, 'of a bucket that exists')
  const plain = (await s3.call({ path: '/photos?object-lock' })).xml
  t.equal(plain?.textOf('ObjectLockEnabled'), 'Enabled')
  t.equal(plain?.child('Rule'), null)

  for (const [unit, count] of [
    ['Days', '7'],
    ['Years', '2'],
  ] as const) {
    t.match(await put(path, lock(rule(`<Mode>COMPLIANCE</Mode><${unit}>${count}</${unit}>`))), {
      status: 200,
    })
    const given = (await s3.call({ path })).xml?.needed('Rule').needed('DefaultRetention')
    t.same([given?.textOf('Mode'), given?.textOf(unit)], ['COMPLIANCE', count])
  }
  await put(path, lock(rule('<Mode>GOVERNANCE</Mode><Days>3</Days>')))
  await store('k')
  const head = await s3.call({ method: 'HEAD', path: '/vault/k' })
  t.equal(head.headers['x-amz-object-lock-mode'], 'GOVERNANCE', 'a new version gets it')
  t.match(await s3.world.call({ path: '/api/v1/buckets/vault', token: s3.token }), {
    json: { defaultRetention: { mode: 'GOVERNANCE', days: 3 } },
  })

  for (const [inner, code] of [
    ['<Mode>GOVERNANCE</Mode>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>', 'MalformedXML'],
    ['<Mode>governance</Mode><Days>1</Days>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days>one</Days>', 'MalformedXML'],
    ['<Mode>GOVERNANCE</Mode><Days>0</Days>', 'InvalidRetentionPeriod'],
    ['<Mode>GOVERNANCE</Mode><Years>-1</Years>', 'InvalidRetentionPeriod'],
    ['<Mode>GOVERNANCE</Mode><Days>1</Days><Hours>1</Hours>', 'NotImplemented'],
  ] as const)
    t.match(await put(path, lock(rule(inner))), { s3Code: code }, inner)
  t.equal((await put(path, lock('').replace('Enabled<', 'Disabled<'))).s3Code, 'MalformedXML', 'never off')
  t.match(await put(path, lock('')), { status: 200 }, 'the default goes')
  t.equal((await s3.call({ path })).xml?.child('Rule'), null)
})

t.test('PutObjectRetention and GetObjectRetention', async (t) => {
  const { s3, put, inDays, retention, store } = await start(t)
  const id = await store('k')
  const path = '/vault/k?retention'
  t.match(await s3.call({ path }), { status: 404, s3Code: 'NoSuchObjectLockConfiguration' })
  const set = await put(path, retention('GOVERNANCE', 5))
  t.match(set, { status: 200, headers: { 'x-amz-version-id': id } })
  const got = await s3.call({ path: `${path}&versionId=${id}` })
  t.same([got.xml?.textOf('Mode'), got.xml?.textOf('RetainUntilDate')], ['GOVERNANCE', inDays(5)])
  t.match(await put(path, retention('GOVERNANCE', 6)), { status: 200 }, 'longer')
  const remove = (headers: Record<string, string> = {}) =>
    s3.call({ method: 'DELETE', path: `/vault/k?versionId=${id}`, headers })
  t.match(await remove(), { status: 403, s3Code: 'AccessDenied' })

  t.test('is shortened, removed and passed by only with the header and the verb admin', async (t) => {
    for (const body of [retention('GOVERNANCE', 1), '<Retention/>']) {
      t.match(await put(path, body), { status: 403, s3Code: 'AccessDenied' })
      t.match(await put(path, body, BYPASS), { status: 200 })
    }
    t.match(await s3.call({ path }), { status: 404 })
    await put(path, retention('GOVERNANCE', 2))
    const secret = await s3.world.memory.accessKey('acme', 'read,write,delete')
    const asOther = (ask: Parameters<S3World['call']>[0]) => s3.call({ ...ask, secret, headers: BYPASS })
    const gone = { method: 'DELETE', path: `/vault/k?versionId=${id}` }
    t.match(await asOther(gone), { status: 403, s3Code: 'AccessDenied' })
    t.match(await asOther({ method: 'PUT', path, body: '<Retention/>' }), { status: 403 })
    const items = `<Delete><Object><Key>k</Key><VersionId>${id}</VersionId></Object></Delete>`
    const batch = { method: 'POST', path: '/vault?delete', body: items }
    const digest = { 'x-amz-checksum-crc32': crc32Of(items) }
    const refused = await s3.call({ ...batch, secret, headers: { ...digest, ...BYPASS } })
    t.equal(refused.xml?.child('Error')?.textOf('Code'), 'AccessDenied', 'each key of a batch')
    t.match(await remove({ 'x-amz-bypass-governance-retention': 'false' }), { status: 403 })
    t.match(await remove({ 'x-amz-bypass-governance-retention': '1' }), { s3Code: 'InvalidArgument' })
    const done = await s3.call({ ...batch, headers: { ...digest, ...BYPASS } })
    t.equal(done.xml?.child('Deleted')?.textOf('VersionId'), id)
  })

  t.test('never ends sooner in mode COMPLIANCE', async (t) => {
    const strict = await store('strict')
    await put('/vault/strict?retention', retention('COMPLIANCE', 5))
    for (const body of [retention('COMPLIANCE', 4), retention('GOVERNANCE', 9), '<Retention/>'])
      t.match(await put('/vault/strict?retention', body, BYPASS), { status: 403, s3Code: 'AccessDenied' })
    const gone = { method: 'DELETE', path: `/vault/strict?versionId=${strict}`, headers: BYPASS }
    t.match(await s3.call(gone), { status: 403, s3Code: 'AccessDenied' })
  })

  t.test('is refused with the codes of S3', async (t) => {
    await store('other')
    const other = '/vault/other?retention'
    for (const [body, code] of [
      [retention('governance', 5), 'MalformedXML'],
      [retention('GOVERNANCE', -5), 'InvalidArgument'],
      ['<Retention><Mode>GOVERNANCE</Mode></Retention>', 'MalformedXML'],
      [
        '<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>soon</RetainUntilDate></Retention>',
        'InvalidArgument',
      ],
    ] as const)
      t.equal((await put(other, body)).s3Code, code, body)
    await put('/photos/k', 'hello')
    t.match(await put('/photos/k?retention', retention('GOVERNANCE', 5)), {
      status: 400,
      s3Code: 'InvalidRequest',
    })
    t.match(await s3.call({ path: '/photos/k?retention' }), { status: 400, s3Code: 'InvalidRequest' })
    t.match(await s3.call({ path: '/vault/none?retention' }), { status: 404, s3Code: 'NoSuchKey' })
  })
})

t.test('PutObjectLegalHold and GetObjectLegalHold', async (t) => {
  const { s3, put, store } = await start(t)
  const id = await store('k')
  const path = `/vault/k?legal-hold&versionId=${id}`
  const hold = (status: string) => put(path, `<LegalHold><Status>${status}</Status></LegalHold>`)
  const state = async () => (await s3.call({ path })).xml?.textOf('Status')
  t.equal(await state(), 'OFF', 'never set')
  t.match(await hold('ON'), { status: 200, headers: { 'x-amz-version-id': id } })
  t.equal(await state(), 'ON')
  const gone = { method: 'DELETE', path: `/vault/k?versionId=${id}`, headers: BYPASS }
  t.match(await s3.call(gone), { status: 403, s3Code: 'AccessDenied' }, 'no bypass of a hold')
  t.equal((await hold('on')).s3Code, 'MalformedXML')
  t.match(await hold('OFF'), { status: 200 })
  t.match(await s3.call(gone), { status: 204 })
  await put('/photos/k', 'hello')
  t.match(await s3.call({ path: '/photos/k?legal-hold' }), { status: 400, s3Code: 'InvalidRequest' })
  const body = '<LegalHold><Status>ON</Status></LegalHold>'
  t.match(await put('/photos/k?legal-hold', body), { status: 400, s3Code: 'InvalidRequest' })
})

t.test('the audit log shows a bypass', async (t) => {
  const { s3, put, retention, store } = await start(t)
  const id = await store('k')
  await put('/vault/k?retention', retention('GOVERNANCE', 5))
  await s3.call({ method: 'DELETE', path: `/vault/k?versionId=${id}`, headers: BYPASS })
  const owner = await s3.world.memory.adminToken('owner')
  const log = await s3.world.call({
    admin: true,
    token: owner,
    path: '/admin/api/v1/audit?operation=deleteObject',
  })
  t.match(log.json['records'], [
    { operation: 'deleteObject', api: 's3', details: { bypassGovernance: true } },
  ])
})

function crc32Of(text: string): string {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(text))
  return sum.toString('base64')
}
