/**
 * The states of versioning, and the options of a new bucket. [decisions 2]
 */
import t from 'tap'
import { BucketClient } from './bucket-client.ts'

t.test(
  'createBucket [buckets.create] [buckets.create.options] [buckets.create.lock-suspended] [buckets.get] [errors.unknown-field]',
  async (t) => {
    const films = await BucketClient.start(t)
    const create = (body: object) => films.ask({ method: 'POST', path: '/api/v1/buckets', body })
    const table = [
      [{}, 'Unversioned', false],
      [{ versioning: 'Unversioned' }, 'Unversioned', false],
      [{ versioning: 'enabled' }, 'Enabled', false],
      [{ versioning: 'SUSPENDED' }, 'Suspended', false],
      [{ objectLockEnabled: true }, 'Enabled', true],
      [{ objectLockEnabled: true, versioning: 'Enabled' }, 'Enabled', true],
    ] as const
    for (const [n, [options, versioning, objectLockEnabled]] of table.entries()) {
      const made = await create({ name: `b-${n}`, ...options })
      t.match(made, { status: 201, json: { versioning, objectLockEnabled, defaultRetention: null } })
      t.same((await films.ask({ path: `/api/v1/buckets/b-${n}` })).json, made.json)
    }
    t.match(await create({ name: 'no-versions', objectLockEnabled: true, versioning: 'Suspended' }), {
      status: 409,
      code: 'invalid_bucket_state',
    })
    t.match(await create({ name: 'misspelt', versioning: 'On' }), { status: 400, code: 'invalid_request' })
    t.match(await create({ name: 'misspelt', versionning: 'Enabled' }), {
      status: 400,
      json: { message: /did you mean "versioning"/ },
    })
    t.equal((await films.ask({ path: '/api/v1/buckets/misspelt' })).status, 404, 'nothing was made')
  },
)

t.test(
  'getBucketVersioning and setBucketVersioning [buckets.versioning.get] [buckets.versioning.set] [buckets.versioning.case] [buckets.versioning.never-back] [buckets.versioning.lock]',
  async (t) => {
    const films = await BucketClient.start(t)
    const path = '/api/v1/buckets/films/versioning'
    const state = async () => (await films.ask({ path })).json
    t.same(await state(), { status: 'Unversioned' })
    t.match(
      await films.versioning('Unversioned'),
      { status: 200, json: { status: 'Unversioned' } },
      'no change',
    )
    for (const status of ['enabled', 'Enabled', 'SUSPENDED', 'Enabled']) {
      t.match(await films.versioning(status), { status: 200 }, status)
      t.equal(String((await state())['status']).toLowerCase(), status.toLowerCase())
    }
    t.match(await films.versioning('Unversioned'), { status: 400, code: 'invalid_request' }, 'never back')
    t.match(await films.versioning('off'), { status: 400, code: 'invalid_request' })
    for (const body of [{}, { status: true }, { status: 'Enabled', mfaDelete: true }])
      t.match(await films.ask({ method: 'PUT', path, body }), { status: 400, code: 'invalid_request' })
    t.same(await state(), { status: 'Enabled' }, 'the refused requests changed nothing')

    const locked = films.as({ name: 'locked' })
    await films.ask({
      method: 'POST',
      path: '/api/v1/buckets',
      body: { name: 'locked', objectLockEnabled: true },
    })
    t.match(await locked.versioning('Suspended'), { status: 409, code: 'invalid_bucket_state' })
    t.match(await locked.versioning('Enabled'), { status: 200 })

    const absentBucket = films.as({ name: 'absent' })
    t.match(await absentBucket.versioning('Enabled'), { status: 404, code: 'not_found' })
    t.match(await films.ask({ path: path.replace('films', 'absent') }), { status: 404, code: 'not_found' })
  },
)

t.test('a caller without the right learns nothing about the fields [buckets.scope.whole]', async (t) => {
  const films = await BucketClient.start(t)
  const reader = films.as({ token: await films.world.memory.bearer('acme', 'read') })
  const path = '/api/v1/buckets/films/versioning'
  t.match(await reader.ask({ method: 'PUT', path, body: { nonsense: 1 } }), {
    status: 403,
    code: 'access_denied',
  })
  t.match(await reader.batchDelete({ nonsense: 1 }), { status: 403, code: 'access_denied' })
  t.match(await reader.copy('k', { nonsense: 1 }), { status: 403, code: 'access_denied' })
  const prefixed = await films.world.memory.bearer('acme', 'op=write:bucket=films:prefix=in/')
  t.match(await films.as({ token: prefixed }).versioning('Enabled'), { status: 403 }, 'it reaches all keys')
})

t.test('bucket_not_empty: versions and delete markers count [buckets.delete.versions]', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const remove = () => films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' })
  await films.put('k')
  await films.remove('k')
  t.match(await remove(), { status: 409, code: 'bucket_not_empty' })
  const [marker = '', object = ''] = (await films.shown()).map((shown) => shown.replace('*', '').slice(2))
  await films.remove(`k?versionId=${object}`)
  t.match(await remove(), { status: 409, code: 'bucket_not_empty' }, 'only a delete marker')
  await films.remove(`k?versionId=${marker}`)
  t.equal((await remove()).status, 204)
})

t.test('bucket_not_empty: an upload in progress counts [buckets.delete.uploads]', async (t) => {
  const films = await BucketClient.start(t)
  const remove = () => films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' })
  const started = await films.on('multipart', 'k', { method: 'POST', body: {} })
  t.match(await remove(), { status: 409, code: 'bucket_not_empty' })
  const abort = { method: 'DELETE' }
  t.equal((await films.on('multipart', `${String(started.json['uploadId'])}/k`, abort)).status, 204)
  t.equal((await remove()).status, 204)
})
