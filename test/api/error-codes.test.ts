/**
 * Codes without a test named after them elsewhere: each with the smallest request that causes it. [decisions 10]
 */
import t from 'tap'
import { BucketClient } from './bucket-client.ts'

t.test('the codes of buckets and bodies', async (t) => {
  const films = await BucketClient.start(t, { objectLockEnabled: true })
  const create = (body: object | string, headers = {}) =>
    films.ask({ method: 'POST', path: '/api/v1/buckets', body, headers })
  const json = { 'content-type': 'application/json' }

  await t.test(
    'invalid_request: a field of the wrong type, or an unknown one [errors.invalid_request]',
    async (t) => {
      t.match(await create({ name: 5 }), { status: 400, code: 'invalid_request' })
      t.match(await create({ name: 'new', colour: 'red' }), { status: 400, code: 'invalid_request' })
    },
  )

  await t.test('invalid_json: no JSON, or a key twice [errors.invalid_json]', async (t) => {
    t.match(await create('{"name":', json), { status: 400, code: 'invalid_json' })
    t.match(await create('{"name":"new","name":"new"}', json), { status: 400, code: 'invalid_json' })
  })

  await t.test('unsupported_media_type: JSON by another name [errors.unsupported_media_type]', async (t) => {
    const answer = await create('{"name":"new"}', { 'content-type': 'text/plain' })
    t.match(answer, { status: 415, code: 'unsupported_media_type' })
  })

  await t.test('invalid_bucket_name [errors.invalid_bucket_name]', async (t) => {
    t.match(await create({ name: 'No Name' }), { status: 400, code: 'invalid_bucket_name' })
  })

  await t.test('bucket_already_exists [errors.bucket_already_exists]', async (t) => {
    t.match(await create({ name: 'films' }), { status: 409, code: 'bucket_already_exists' })
  })

  await t.test('invalid_bucket_state [errors.invalid_bucket_state]', async (t) => {
    t.match(await films.versioning('Suspended'), { status: 409, code: 'invalid_bucket_state' })
  })

  await t.test('bucket_not_empty [errors.bucket_not_empty]', async (t) => {
    await films.put('k')
    const answer = await films.ask({ method: 'DELETE', path: '/api/v1/buckets/films' })
    t.match(answer, { status: 409, code: 'bucket_not_empty' })
  })

  t.equal((await films.ask({ path: '/api/v1/buckets/new' })).status, 404, 'nothing of this made a bucket')
})

t.test('every problem has one body, and its id in a header [errors.body] [errors.request-id]', async (t) => {
  const films = await BucketClient.start(t)
  const answer = await films.get('a/absent?versionId=null')
  t.equal(answer.headers['content-type'], 'application/problem+json')
  const { requestId, message, detail, ...rest } = answer.json
  t.equal(requestId, answer.headers['x-request-id'])
  t.type(message, 'string')
  t.equal(detail, message)
  t.strictSame(rest, {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    code: 'not_found',
    instance: '/api/v1/buckets/films/objects/a/absent',
  })
  const again = await films.get('a/absent')
  t.not(again.json['requestId'], requestId, 'an id is of one request')
})
