/**
 * If-Match and If-None-Match on writes: refused before a body is read where possible, decided at commit.
 */
import t from 'tap'
import { deferred } from '../helpers/async.ts'
import { BucketClient, etagOf, idOf } from './bucket-client.ts'

t.test(
  '[native: Upload rules 4] putObject honours If-Match and If-None-Match [objects.put.rule-4] [objects.put.if-match] [objects.put.if-none-match] [errors.precondition_failed]',
  async (t) => {
    const films = await BucketClient.start(t, { versioning: 'Enabled' })
    const etag = etagOf(await films.put('k', 'one'))
    await films.put('gone', 'x')
    await films.remove('gone')
    const table = [
      ['k', { 'if-match': `"${etag}"` }, 200],
      ['k', { 'if-match': etag }, 200],
      ['k', { 'if-match': '*' }, 200],
      ['k', { 'if-match': `"x", "${etag}"` }, 200],
      ['k', { 'if-match': '"x"' }, 412],
      ['k', { 'if-match': `W/"${etag}"` }, 412],
      ['absent', { 'if-match': '*' }, 412],
      ['absent', { 'if-match': etag }, 412],
      ['gone', { 'if-match': '*' }, 412],
      ['k', { 'if-none-match': '*' }, 412],
      ['k', { 'if-none-match': `"${etag}"` }, 412],
      ['k', { 'if-none-match': `W/"${etag}"` }, 412],
      ['k', { 'if-none-match': '"x"' }, 200],
      ['absent', { 'if-none-match': '*' }, 200],
      ['gone', { 'if-none-match': '*' }, 200],
      ['k', { 'if-match': '*', 'if-none-match': '"x"' }, 200],
      ['k', { 'if-match': '*', 'if-none-match': '*' }, 412],
    ] as const
    for (const [key, headers, status] of table) {
      const before = await films.shown({ prefix: key })
      const answer = await films.put(key, 'one', headers)
      t.equal(answer.status, status, `${key} ${JSON.stringify(headers)}`)
      if (status === 412) {
        t.equal(answer.code, 'precondition_failed')
        t.same(await films.shown({ prefix: key }), before, 'and nothing was stored')
      } else if (key !== 'k') await films.remove(`${key}?versionId=${idOf(answer)}`)
    }
    for (const name of ['if-match', 'if-none-match'])
      for (const empty of ['', ' , ', '""'])
        t.match(
          await films.put('k', 'x', { [name]: empty }),
          { status: 400, code: 'invalid_argument' },
          empty,
        )
  },
)

t.test('a failed condition is answered before the body is sent [objects.put.early]', async (t) => {
  const films = await BucketClient.start(t)
  await films.put('k')
  const upload = (headers: string) =>
    films.world.raw(
      `PUT /api/v1/buckets/films/objects/k HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${films.token}\r\n` +
        `Content-Length: 5\r\nExpect: 100-continue\r\n${headers}\r\n\r\n`,
    )
  const before = films.world.memory.proposals
  t.match(await upload('If-None-Match: *'), /^HTTP\/1\.1 412 [^]*"code":"precondition_failed"/)
  t.match(await upload('If-Match: "x"'), /^HTTP\/1\.1 412 /)
  t.match(await upload('X-Service-Legal-Hold: ON'), /^HTTP\/1\.1 400 [^]*"code":"object_lock_not_enabled"/)
  t.match(await upload('Idempotency-Key: i'), /^HTTP\/1\.1 400 [^]*"code":"checksum_required"/)
  t.equal(films.world.memory.proposals, before, 'and nothing was proposed')
})

t.test('of two create-only uploads the commit accepts one [objects.put.race]', async (t) => {
  const films = await BucketClient.start(t)
  const { memory } = films.world
  const { content } = memory.services
  const ingest = content.ingest.bind(content)
  const both = deferred()
  let looked = 0
  content.ingest = (request) => {
    looked += 1
    if (looked === 2) both.resolve()
    return ingest(request)
  }
  memory.beforeApply = () => both.promise
  const answer = await Promise.all(
    ['one', 'two'].map((body) => films.put('k', body, { 'if-none-match': '*' })),
  )
  t.same(
    answer.map(({ status }) => status).sort((a, b) => a - b),
    [200, 412],
    'both had passed the early check',
  )
  const winner = answer.find(({ status }) => status === 200)
  t.equal((await films.get('k')).headers.etag, winner?.headers.etag)
})

t.test('deleteObject honours If-Match, of the version to delete [objects.delete.if-match]', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const one = await films.put('k', 'one')
  const two = await films.put('k', 'two')
  const old = `k?versionId=${idOf(one)}`
  t.match(await films.remove('k', { 'if-match': etagOf(one) }), {
    status: 412,
    code: 'precondition_failed',
  })
  t.match(await films.remove(old, { 'if-match': etagOf(two) }), {
    status: 412,
    code: 'precondition_failed',
  })
  t.match(await films.remove('absent', { 'if-match': '*' }), { status: 412 })
  t.match(await films.remove('k?versionId=01J', { 'if-match': '*' }), { status: 412 }, 'an absent version')
  t.equal((await films.shown()).length, 2)
  t.equal((await films.remove(old, { 'if-match': `"${etagOf(one)}"` })).status, 204)
  const marked = await films.remove('k', { 'if-match': etagOf(two) })
  t.equal(marked.status, 204)
  t.match(await films.remove('k', { 'if-match': '*' }), { status: 412 }, 'a delete marker is no object')
  t.match(await films.remove(`k?versionId=${idOf(marked)}`, { 'if-match': '*' }), { status: 412 })
  t.same(await films.shown(), [`k-${idOf(marked)}*`, `k@${idOf(two)}`])
})
