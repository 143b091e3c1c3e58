/**
 * Repeatable uploads. [native: Upload rules 2, 3] [decisions 3]
 */
import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import t from 'tap'
import { Condition } from '../../cluster/index.ts'
import { WritesInProgress } from '../../src/operations/base/writes-in-progress.ts'
import { deferred, until } from '../helpers/async.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { BucketClient, etagOf, idOf } from './bucket-client.ts'

const sum = (body: string | Buffer) => ({
  'x-service-checksum-sha256': createHash('sha256').update(body).digest('base64'),
})

t.test('an upload with an idempotency key', async (t) => {
  const films = await BucketClient.start(t, { versioning: 'Enabled' })
  const put = (key: string, body: string | Buffer, headers: OutgoingHttpHeaders = {}) =>
    films.put(key, body, { ...sum(body), 'idempotency-key': 'i-1', ...headers })

  await t.test(
    'checksum_required: without a checksum header it is refused [objects.put.rule-2] [idempotency.checksum] [errors.checksum_required]',
    async (t) => {
      t.match(await films.put('k', 'x', { 'idempotency-key': 'i' }), {
        status: 400,
        code: 'checksum_required',
      })
      t.match(await films.put('k', 'x', { 'x-service-idempotency-key': 'i' }), { code: 'checksum_required' })
      t.equal((await films.get('k')).status, 404)
    },
  )

  const first = await put('k', 'one')
  await t.test(
    'gets the same answer when it is repeated, in any later state [idempotency.replay] [idempotency.twin]',
    async (t) => {
      t.equal(first.status, 200)
      t.notOk('idempotent-replayed' in first.headers)
      const again = await put('k', 'one')
      t.equal(again.status, 200)
      t.equal(again.headers['idempotent-replayed'], 'true')
      t.same(again.json, first.json)
      t.equal(again.headers.etag, first.headers.etag)
      const twin = { 'idempotency-key': undefined, 'x-service-idempotency-key': 'i-1' }
      t.equal(idOf(await put('k', 'one', twin)), idOf(first), 'by either name of the header')
      await films.put('k', 'two')
      await films.remove('k')
      t.same((await put('k', 'one')).json, first.json, 'after others have written')
      t.equal((await films.get('k')).status, 404, 'and their writes stay')
      t.equal((await films.shown({ prefix: 'k' })).length, 3, 'nothing was stored again')
    },
  )

  await t.test(
    'that is create-only gets the same answer, not a refusal for its own object [idempotency.condition]',
    async (t) => {
      const headers = { 'if-none-match': '*', 'idempotency-key': 'create' }
      const made = await put('once', 'x', headers)
      const again = await put('once', 'x', headers)
      t.match(again, { status: 200, headers: { 'idempotent-replayed': 'true' } })
      t.same(again.json, made.json)
    },
  )

  await t.test(
    'idempotency_conflict: the key is bound to bytes, length, content type and metadata [objects.put.rule-3] [idempotency.conflict] [idempotency.bound] [errors.idempotency_conflict]',
    async (t) => {
      const body = patternBytes(5000)
      await put('bound', body, { 'content-type': 'a/b', 'x-service-meta-a': '1', 'x-service-meta-b': '2' })
      const same = { 'x-service-meta-b': '2', 'x-service-meta-a': '1', 'content-type': 'a/b' }
      t.equal((await put('bound', body, same)).headers['idempotent-replayed'], 'true', 'in any order')
      const others = [
        [patternBytes(5000, 2), same],
        [body.subarray(0, 4999), same],
        [body, { ...same, 'content-type': 'a/c' }],
        [body, { ...same, 'x-service-meta-b': '3' }],
        [body, { ...same, 'x-service-meta-c': '3' }],
        [body, { 'content-type': 'a/b', 'x-service-meta-a': '1' }],
      ] as const
      for (const [other, headers] of others) {
        t.match(await put('bound', other, headers), { status: 409, code: 'idempotency_conflict' })
      }
      t.equal((await films.shown({ prefix: 'bound' })).length, 1)
    },
  )

  await t.test('is known only in its bucket and for its object key [idempotency.scope]', async (t) => {
    for (const client of [films, films.as({ name: 'photos' })]) {
      const other = await client.put('elsewhere', 'other', { ...sum('other'), 'idempotency-key': 'i-1' })
      t.equal(other.status, 200)
      t.notOk('idempotent-replayed' in other.headers)
    }
  })

  await t.test('takes 1 to 255 printable ASCII characters [idempotency.key]', async (t) => {
    for (const key of ['x', '~'.repeat(255), 'a b', '"quoted"'])
      t.equal((await put('named', 'x', { 'idempotency-key': key })).status, 200, key)
    for (const key of ['', 'x'.repeat(256), 'é'])
      t.match(await put('named', 'x', { 'idempotency-key': key }), { status: 400, code: 'invalid_request' })
    const two = { 'idempotency-key': 'a', 'x-service-idempotency-key': 'b' }
    t.match(await put('named', 'x', two), { status: 400, code: 'invalid_request' })
  })
})

t.test(
  'idempotency_in_progress: while one runs on this node, another one waits [idempotency.in-progress] [errors.idempotency_in_progress]',
  async (t) => {
    const films = await BucketClient.start(t)
    const { memory } = films.world
    const headers = { ...sum('x'), 'idempotency-key': 'i' }
    const inApply = deferred()
    const mayApply = deferred()
    memory.beforeApply = () => {
      inApply.resolve()
      return mayApply.promise
    }
    const running = films.put('k', 'x', headers)
    await inApply.promise
    const second = await films.put('k', 'x', headers)
    t.match(second, { status: 409, code: 'idempotency_in_progress', headers: { 'retry-after': '1' } })
    mayApply.resolve()
    const first = await running
    t.equal(first.status, 200)
    const third = await films.put('k', 'x', headers)
    t.match(third, { status: 200, headers: { 'idempotent-replayed': 'true' } })
    t.equal(etagOf(third), etagOf(first))

    memory.proposeFault = new Condition('commit_unknown', 'Outcome unknown')
    const other = { ...headers, 'idempotency-key': 'j' }
    t.equal((await films.put('k', 'x', other)).status, 503)
    memory.proposeFault = null
    t.equal((await films.put('k', 'x', other)).status, 200, 'a failed one does not block it')
  },
)

t.test(
  'of two that race through two nodes, one is stored and both get its answer [idempotency.entry]',
  async (t) => {
    const films = await BucketClient.start(t, { versioning: 'Enabled' })
    const { memory } = films.world
    const headers = { ...sum('x'), 'idempotency-key': 'i', 'if-none-match': '*' }
    const { content } = memory.services
    const ingest = content.ingest.bind(content)
    const both = deferred()
    let looked = 0
    content.ingest = (request) => {
      // Each node knows of its own uploads only.
      memory.services.writesInProgress = new WritesInProgress()
      looked += 1
      if (looked === 2) both.resolve()
      return ingest(request)
    }
    memory.beforeApply = () => both.promise
    const first = films.put('k', 'x', headers)
    await until('the first upload is in progress', () => looked === 1)
    const answer = [await films.put('k', 'x', headers), await first]
    t.same(
      answer.map(({ status }) => status),
      [200, 200],
    )
    t.same(answer[0]?.json, answer[1]?.json)
    t.equal(answer.filter(({ headers: reported }) => reported['idempotent-replayed'] === 'true').length, 1)
    t.equal((await films.shown()).length, 1)
  },
)

t.test('an idempotency key is known only to its tenant [idempotency.tenant]', async (t) => {
  const films = await BucketClient.start(t)
  const headers = { ...sum('x'), 'idempotency-key': 'i' }
  t.equal((await films.put('k', 'x', headers)).status, 200)
  await films.world.memory.tenant('rival')
  const rival = films.as({ token: await films.world.memory.bearer('rival') })
  await rival.ask({ method: 'POST', path: '/api/v1/buckets', body: { name: 'films' } })
  const other = await rival.put('k', 'other', { ...sum('other'), 'idempotency-key': 'i' })
  t.equal(other.status, 200, 'no conflict')
  t.notOk('idempotent-replayed' in other.headers)
  t.equal((await films.put('k', 'x', headers)).headers['idempotent-replayed'], 'true')
})
