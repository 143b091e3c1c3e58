/**
 * Object lock of a bucket that exists, and its default retention, through HTTP. [decisions 2]
 */
import t from 'tap'
import { NATIVE_NAMES } from '../../src/api/s3/s3-api.ts'
import { BucketClient, idOf } from './bucket-client.ts'
import { MIB } from './multipart-client.ts'

const DAY_MS = 86_400_000

async function start(t: Parameters<typeof BucketClient.start>[0], bucket: object = {}, maxDays = 400) {
  const films = await BucketClient.start(t, bucket, { security: { maxRetentionMs: maxDays * DAY_MS } })
  const admin = await films.asAdmin()
  const path = '/api/v1/buckets/films/object-lock'
  const put = (body: object) => admin.ask({ method: 'PUT', path, body })
  return { films, put, read: () => films.ask({ path }) }
}

t.test(
  'getBucketObjectLock and setBucketObjectLock [buckets.object-lock.get] [buckets.object-lock.set] [errors.invalid_bucket_state]',
  async (t) => {
    const { films, put, read } = await start(t)
    t.same((await read()).json, { objectLockEnabled: false, defaultRetention: null })
    t.match(await put({}), { status: 409, code: 'invalid_bucket_state' }, 'versioning must be Enabled')
    await films.versioning('Suspended')
    t.match(await put({}), { status: 409, code: 'invalid_bucket_state' })
    await films.versioning('Enabled')
    const locked = { objectLockEnabled: true, defaultRetention: null }
    t.match(await put({}), { status: 200, json: locked })
    t.same((await read()).json, locked)
    for (const defaultRetention of [
      { mode: 'GOVERNANCE', days: 30 },
      { mode: 'COMPLIANCE', years: 1 },
    ]) {
      t.same((await put({ defaultRetention })).json, { objectLockEnabled: true, defaultRetention })
      t.same((await read()).json, { objectLockEnabled: true, defaultRetention })
      t.match((await films.ask({ path: '/api/v1/buckets/films' })).json, { defaultRetention })
    }
    t.same((await put({ defaultRetention: null })).json, locked, 'the default goes, object lock stays')
    t.match(await films.versioning('Suspended'), { status: 409, code: 'invalid_bucket_state' })
  },
)

t.test('setBucketObjectLock refuses what is no duration, and what locks too far ahead', async (t) => {
  const { put, read } = await start(t, { objectLockEnabled: true })
  for (const defaultRetention of [
    {},
    { mode: 'GOVERNANCE' },
    { days: 1 },
    { mode: 'GOVERNANCE', days: 1, years: 1 },
    { mode: 'governance', days: 1 },
    { mode: 'GOVERNANCE', days: 0 },
    { mode: 'GOVERNANCE', days: 1.5 },
    { mode: 'GOVERNANCE', days: '1' },
    { mode: 'GOVERNANCE', days: 1, months: 1 },
  ])
    t.match(
      await put({ defaultRetention }),
      { status: 400, code: 'invalid_request' },
      JSON.stringify(defaultRetention),
    )
  for (const defaultRetention of [
    { mode: 'COMPLIANCE', days: 401 },
    { mode: 'COMPLIANCE', years: 2 },
  ])
    t.match(await put({ defaultRetention }), {
      status: 400,
      code: 'invalid_request',
      json: { message: /give at most 400 days \(security\.max_retention\)/ },
    })
  t.match((await read()).json, { defaultRetention: null }, 'nothing changed')
  t.match(await put({ defaultRetention: { mode: 'COMPLIANCE', days: 400 } }), { status: 200 })
})

t.test('a new version gets the default retention, however it is made [retention.default]', async (t) => {
  const { films, put } = await start(t, { objectLockEnabled: true })
  await films.put('before')
  await put({ defaultRetention: { mode: 'COMPLIANCE', days: 2 } })
  const daysLeft = async (key: string) => {
    const { status, json } = await films.on('object-retention', key)
    if (status === 404) return null
    const made = Date.parse(String((await films.head(key)).headers['last-modified']))
    return [json['mode'], Math.floor((Date.parse(String(json['retainUntil'])) - made) / DAY_MS)]
  }
  const stored = await films.put('small')
  t.match(stored.json, { retention: { mode: 'COMPLIANCE' } }, 'and the answer shows it')
  await films.put('large', Buffer.alloc(MIB))
  await films.copy('copied', { sourceKey: 'before' })
  for (const key of ['small', 'large', 'copied']) t.same(await daysLeft(key), ['COMPLIANCE', 2], key)
  t.equal(await daysLeft('before'), null)
  t.match(await films.remove(`small?versionId=${idOf(stored)}`), { status: 403, code: 'object_locked' })
  const retainUntil = new Date(films.world.memory.now + 100 * DAY_MS).toISOString()
  const own = { 'x-service-retention-mode': 'GOVERNANCE', 'x-service-retain-until': retainUntil }
  t.match((await films.put('own', 'x', own)).json, { retention: { mode: 'GOVERNANCE', retainUntil } })
  await put({})
  t.match((await films.put('after')).json, { retention: null })
})

t.test(
  'invalid_bucket_name: a new bucket is not called like an address at the root [buckets.create.reserved]',
  async (t) => {
    const { films } = await start(t)
    for (const name of new Set([...NATIVE_NAMES, 'livez']))
      t.match(await films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name } }), {
        status: 400,
        code: 'invalid_bucket_name',
        json: { message: /reserved/ },
      })
    for (const name of ['a.-b', 'a-.b'])
      t.match(await films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name } }), {
        status: 400,
        code: 'invalid_bucket_name',
      })
    t.equal(
      (await films.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'apis' } })).status,
      201,
    )
  },
)
