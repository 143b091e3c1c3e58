/**
 * Retention and legal hold through HTTP: rights to set them, and that no way of deleting circumvents them. [native: Retention]
 */
import t from 'tap'
import { BucketClient, idOf } from './bucket-client.ts'

const FAR = '2099-01-01T00:00:00.000Z'
const LATER = '2099-06-01T00:00:00.000Z'
const locked = { status: 403, code: 'object_locked' }

t.test(
  'setObjectRetention and getObjectRetention [retention.get] [retention.set] [retention.unset] [retention.offset] [retention.no-object]',
  async (t) => {
    const films = await BucketClient.start(t, { objectLockEnabled: true })
    const id = idOf(await films.put('k'))
    const read = (key = 'k') => films.on('object-retention', key)
    const set = (body: object, key = 'k') => films.on('object-retention', key, { method: 'PUT', body })

    t.match(await read(), { status: 404, code: 'not_found' }, 'retention never set')
    const first = await set({ mode: 'GOVERNANCE', retainUntil: '2099-01-01T01:00:00+01:00' })
    t.match(first, { status: 200, json: { mode: 'GOVERNANCE', retainUntil: FAR } })
    t.equal(idOf(first), id)
    t.same((await read()).json, { mode: 'GOVERNANCE', retainUntil: FAR })
    t.same((await films.put('other')).json['retention'], null)

    await t.test(
      'is extended, never shortened, and never weakened [retention.extended] [retention.equal] [retention.shortened] [retention.stronger] [retention.weaker]',
      async (t) => {
        t.match(await set({ mode: 'GOVERNANCE', retainUntil: FAR }), { status: 200 }, 'equal is no change')
        t.match(await set({ mode: 'GOVERNANCE', retainUntil: '2098-12-31T23:59:59.999Z' }), locked)
        t.match(await set({ mode: 'COMPLIANCE', retainUntil: '2098-12-31T23:59:59.999Z' }), locked)
        t.match(await set({ mode: 'COMPLIANCE', retainUntil: FAR }), {
          status: 200,
          json: { mode: 'COMPLIANCE' },
        })
        t.match(await set({ mode: 'GOVERNANCE', retainUntil: LATER }), locked)
        t.match(await set({ mode: 'COMPLIANCE', retainUntil: LATER }), { json: { retainUntil: LATER } })
        t.same((await read()).json, { mode: 'COMPLIANCE', retainUntil: LATER })
      },
    )

    await t.test('refuses an invalid retention [retention.modes] [retention.past]', async (t) => {
      const table = [
        { mode: 'GOVERNANCE', retainUntil: '2001-01-01T00:00:00Z' },
        { mode: 'governance', retainUntil: FAR },
        { mode: 'NONE', retainUntil: FAR },
        { mode: 'GOVERNANCE', retainUntil: '2099-01-01' },
        { mode: 'GOVERNANCE', retainUntil: '2099-02-30T00:00:00Z' },
        { mode: 'GOVERNANCE', retainUntil: '1960-01-01T00:00:00Z' },
        { mode: 'GOVERNANCE', retainUntil: 4070908800000 },
        { mode: 'GOVERNANCE' },
        { retainUntil: FAR },
        { mode: 'GOVERNANCE', retainUntil: FAR, bypassGovernanceRetention: true },
      ]
      for (const body of table)
        t.match(await set(body, 'other'), { status: 400, code: 'invalid_request' }, JSON.stringify(body))
      t.equal((await read('other')).status, 404)
    })

    await t.test('is of one version [retention.version]', async (t) => {
      const newer = idOf(await films.put('k', 'newer'))
      t.equal((await read()).status, 404)
      t.same((await read(`k?versionId=${id}`)).json, { mode: 'COMPLIANCE', retainUntil: LATER })
      const older = await set({ mode: 'COMPLIANCE', retainUntil: LATER }, `k?versionId=${id}`)
      t.equal(idOf(older), id)
      t.equal((await films.remove(`k?versionId=${newer}`)).status, 204)
    })

    for (const key of ['absent', `k?versionId=${'Z'.repeat(26)}`]) {
      t.match(await read(key), { status: 404, code: 'not_found' })
      t.match(await set({ mode: 'GOVERNANCE', retainUntil: FAR }, key), { status: 404, code: 'not_found' })
    }
  },
)

t.test(
  'setObjectLegalHold and getObjectLegalHold [legal-hold.get] [legal-hold.set] [legal-hold.unset] [legal-hold.status] [legal-hold.no-object]',
  async (t) => {
    const films = await BucketClient.start(t, { objectLockEnabled: true })
    const id = idOf(await films.put('k'))
    const read = (key = 'k') => films.on('object-legal-hold', key)
    const set = (status: unknown, key = 'k') =>
      films.on('object-legal-hold', key, { method: 'PUT', body: { status } })
    t.same((await read()).json, { status: 'OFF' }, 'legal hold never set')
    for (const status of ['ON', 'ON', 'OFF', 'OFF', 'ON']) {
      t.match(await set(status), { status: 200, json: { status } })
      t.same((await read()).json, { status })
      t.equal(idOf(await read()), id)
    }
    for (const status of ['on', true, null, 'MAYBE', undefined])
      t.match(await set(status), { status: 400, code: 'invalid_request' }, String(status))
    t.same((await read()).json, { status: 'ON' })
    t.match(await read('absent'), { status: 404, code: 'not_found' })
    t.match(await set('ON', 'absent'), { status: 404, code: 'not_found' })
  },
)

t.test(
  'object_lock_not_enabled [retention.no-lock] [retention.unset.no-lock] [legal-hold.no-lock] [errors.object_lock_not_enabled]',
  async (t) => {
    const films = await BucketClient.start(t, { versioning: 'Enabled' })
    await films.put('k')
    const refused = { status: 400, code: 'object_lock_not_enabled' }
    const retention = { mode: 'GOVERNANCE', retainUntil: FAR }
    t.match(await films.on('object-retention', 'k', { method: 'PUT', body: retention }), refused)
    t.match(await films.on('object-legal-hold', 'k', { method: 'PUT', body: { status: 'ON' } }), refused)
    t.match(await films.put('k', 'x', { 'x-service-legal-hold': 'ON' }), refused)
    const headers = { 'x-service-retention-mode': 'COMPLIANCE', 'x-service-retain-until': FAR }
    t.match(await films.put('k', 'x', headers), refused)
    t.match(await films.on('object-retention', 'k'), { status: 404, code: 'not_found' })
    t.match(await films.on('object-legal-hold', 'k'), { status: 200, json: { status: 'OFF' } })
    t.equal((await films.put('k', 'x', { 'x-service-legal-hold': 'OFF' })).status, 200)
  },
)

t.test(
  'object_locked: a locked version cannot be deleted in any way [retention.delete] [legal-hold.delete] [errors.object_locked]',
  async (t) => {
    const films = await BucketClient.start(t, { objectLockEnabled: true })
    const held = idOf(await films.put('held', 'x', { 'x-service-legal-hold': 'ON' }))
    const retention = { 'x-service-retention-mode': 'GOVERNANCE', 'x-service-retain-until': FAR }
    const kept = idOf(await films.put('kept', 'y', retention))
    for (const [key, id] of [
      ['held', held],
      ['kept', kept],
    ] as const) {
      t.match(await films.remove(`${key}?versionId=${id}`), locked)
      const batch = await films.batchDelete({ objects: [{ key, versionId: id }] })
      t.match(batch.json['results'], [
        { key, versionId: id, deleted: false, status: 403, error: { code: 'object_locked' } },
      ])
      t.equal((await films.put(key, 'newer')).status, 200, 'a newer version hides it')
      t.equal((await films.remove(key)).status, 204, 'and so does a delete marker')
      t.equal((await films.copy(key, { sourceKey: key, sourceVersionId: id })).status, 200)
      t.equal((await films.get(`${key}?versionId=${id}`)).status, 200, 'it is still there')
    }
    t.match(await films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' }), {
      code: 'bucket_not_empty',
    })
    t.match(await films.versioning('Suspended'), { status: 409, code: 'invalid_bucket_state' })
    const off = { method: 'PUT', body: { status: 'OFF' } }
    t.equal((await films.on('object-legal-hold', `held?versionId=${held}`, off)).status, 200)
    t.equal((await films.remove(`held?versionId=${held}`)).status, 204, 'deletable after its release')
    const copied = (await films.list({ prefix: 'held' })).json['objects'] as { versionId: string }[]
    t.equal((await films.remove(`held?versionId=${copied[0]?.versionId}`)).status, 204, 'a copy has no lock')
  },
)

t.test('locks of an upload are refused when they cannot be read', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const table = [
    { 'x-service-retention-mode': 'GOVERNANCE' },
    { 'x-service-retain-until': FAR },
    { 'x-service-retention-mode': 'governance', 'x-service-retain-until': FAR },
    { 'x-service-retention-mode': 'GOVERNANCE', 'x-service-retain-until': '2099' },
    { 'x-service-retention-mode': 'GOVERNANCE', 'x-service-retain-until': '2001-01-01T00:00:00Z' },
    { 'x-service-retention-mode': '', 'x-service-retain-until': '' },
    { 'x-service-legal-hold': 'yes' },
    { 'x-service-legal-hold': '' },
    { 'x-service-legalhold': 'ON' },
  ]
  for (const headers of table)
    t.match(
      await films.put('k', 'x', headers),
      { status: 400, code: 'invalid_request' },
      JSON.stringify(headers),
    )
  t.equal((await films.get('k')).status, 404)
})

t.test('a legal hold is of one version [legal-hold.version]', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const one = idOf(await films.put('k', 'one'))
  const two = idOf(await films.put('k', 'two'))
  const hold = await films.on('object-legal-hold', `k?versionId=${one}`, {
    method: 'PUT',
    body: { status: 'ON' },
  })
  t.equal(idOf(hold), one)
  t.same((await films.on('object-legal-hold', `k?versionId=${one}`)).json, { status: 'ON' })
  t.same((await films.on('object-legal-hold', 'k')).json, { status: 'OFF' })
  t.equal((await films.remove(`k?versionId=${two}`)).status, 204)
  t.match(await films.remove(`k?versionId=${one}`), locked)
})

t.test('no header, field or scope bypasses governance [retention.no-bypass]', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const retention = { 'x-service-retention-mode': 'GOVERNANCE', 'x-service-retain-until': FAR }
  const version = `k?versionId=${idOf(await films.put('k', 'x', retention))}`
  const admin = films.as({ token: await films.world.memory.bearer('acme', 'read,write,delete,admin') })
  for (const name of ['x-service-bypass-governance-retention', 'x-amz-bypass-governance-retention'])
    t.ok((await admin.remove(version, { [name]: 'true' })).status >= 400, name)
  t.match(await admin.remove(version), locked)
  const shorter = { mode: 'GOVERNANCE', retainUntil: '2098-01-01T00:00:00Z' }
  const set = (body: object) => admin.on('object-retention', version, { method: 'PUT', body })
  t.match(await set(shorter), locked)
  t.match(await set({ ...shorter, bypassGovernanceRetention: true }), { status: 400 })
  t.equal((await admin.on('object-retention', version, { method: 'DELETE' })).status, 405)
  t.same((await admin.on('object-retention', version)).json, { mode: 'GOVERNANCE', retainUntil: FAR })
})
