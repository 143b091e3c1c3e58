/**
 * Lifecycle rules through the native API: set, read, removed, refused, and what they would do. [docs/adr/0085-lifecycle-rules.md]
 */
import t from 'tap'
import type { ApiAnswer } from './api-world.ts'
import { BucketClient } from './bucket-client.ts'

const PATH = '/api/v1/buckets/films/lifecycle'
const DAY_MS = 86_400_000
const EXPIRES = { id: 'tmp', status: 'Enabled', filter: { prefix: 'tmp/' }, expiration: { days: 30 } }
const FULL = {
  id: 'all',
  status: 'Disabled',
  filter: { prefix: 'a/', tags: { x: '1', y: '' }, sizeGreaterThan: 10, sizeLessThan: 1000 },
  expiration: { date: '2027-01-31T00:00:00.000Z' },
  noncurrentVersionExpiration: { noncurrentDays: 3, newerNoncurrentVersions: 2 },
}
const REST = {
  id: 'rest',
  status: 'Enabled',
  filter: {},
  expiration: { expiredObjectDeleteMarker: true },
  abortIncompleteMultipartUpload: { daysAfterInitiation: 7 },
}

const start = async (t: Parameters<typeof BucketClient.start>[0], bucket: object = {}) =>
  (await BucketClient.start(t, bucket)).asAdmin()
const set = (films: BucketClient, ...rules: readonly object[]) =>
  films.ask({ method: 'PUT', path: PATH, body: { rules } })
const preview = (films: BucketClient, body: object) =>
  films.ask({ method: 'POST', path: `${PATH}/preview`, body })
/** So many days later, by a token of that day. */
async function later(films: BucketClient, days: number): Promise<BucketClient> {
  films.world.memory.now = Date.now() + days * DAY_MS
  return films.asAdmin()
}

t.test('set, read, replace and remove [lifecycle.get] [lifecycle.set] [lifecycle.delete]', async (t) => {
  const films = await start(t)
  const unset = {
    status: 404,
    code: 'not_found',
    json: { message: 'Bucket "films" has no lifecycle rules' },
  }
  t.match(await films.ask({ path: PATH }), unset)
  for (const rules of [[EXPIRES], [FULL, REST]]) {
    t.match(await set(films, ...rules), { status: 200, json: { rules } })
    t.strictSame((await films.ask({ path: PATH })).json, { rules }, 'it is read back')
  }
  for (const again of ['first', 'again'])
    t.equal((await films.ask({ method: 'DELETE', path: PATH })).status, 204, again)
  t.match(await films.ask({ path: PATH }), unset)
})

t.test('a rule without an id gets one, and a day is a midnight', async (t) => {
  const films = await start(t)
  const plain = { status: 'Enabled', expiration: { date: '2027-01-31' } }
  const answer = await set(films, plain, { ...EXPIRES, id: 'rule-3' }, plain, plain)
  const { rules } = answer.json as { readonly rules: readonly { readonly id: string }[] }
  t.same(
    rules.map(({ id }) => id),
    ['rule-1', 'rule-3', 'rule-4', 'rule-5'],
  )
  t.match(rules[0], { filter: {}, expiration: { date: '2027-01-31T00:00:00.000Z' } })
})

t.test(
  'invalid_request: what contradicts itself or does nothing; invalid_argument: a value; by the name of the field [lifecycle.rules]',
  async (t) => {
    const films = await start(t)
    const rule = { status: 'Enabled' }
    const marker = { expiration: { expiredObjectDeleteMarker: true } }
    const abort = { abortIncompleteMultipartUpload: { daysAfterInitiation: 1 } }
    const cases: readonly (readonly [object, RegExp])[] = [
      [rule, /"rules.0" does nothing/],
      [{ ...rule, expiration: {} }, /"rules.0.expiration" is empty/],
      [{ ...rule, expiration: { expiredObjectDeleteMarker: false } }, /does nothing/],
      [{ ...rule, expiration: { days: 1, date: '2027-01-31' } }, /more than one of days, date/],
      [{ ...rule, ...marker, filter: { tags: { a: 'b' } } }, /removes delete markers, which have neither/],
      [{ ...rule, ...abort, filter: { sizeLessThan: 5 } }, /aborts uploads, which have neither/],
      [{ ...EXPIRES, filter: { sizeGreaterThan: 5, sizeLessThan: 6 } }, /more than 5 and less than 6 bytes/],
      [{ ...EXPIRES, filter: { sizeLessThan: 0 } }, /no object has such a size/],
      [{ ...EXPIRES, transitions: [] }, /transitions/],
    ]
    const values: typeof cases = [
      [{ ...rule, expiration: { date: '2027-01-31T10:00:00Z' } }, /no midnight in UTC: give one, such as/],
      [{ ...rule, expiration: { days: 36_501 } }, /"rules.0.expiration.days" is 36501/],
      [{ ...EXPIRES, filter: { prefix: 'ä'.repeat(513) } }, /more than 1024 bytes/],
    ]
    const refused = async (code: string, given: object, message: RegExp): Promise<void> =>
      void t.match(await set(films, given), { status: 400, code, json: { message } }, String(message))
    for (const [given, message] of cases) await refused('invalid_request', given, message)
    for (const [given, message] of values) await refused('invalid_argument', given, message)
    const tags = Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`t${n}`, '']))
    t.match(await set(films, { ...EXPIRES, filter: { tags } }), { status: 400, code: 'invalid_tag' })
    t.match(await set(films, EXPIRES, EXPIRES), {
      code: 'invalid_argument',
      json: { message: /like that of an earlier rule/ },
    })
    const many = Array.from({ length: 101 }, (_, n) => ({ ...EXPIRES, id: `r${n}` }))
    t.match(await set(films, ...many), { code: 'invalid_request', json: { message: /at most 100/ } })
    const large = Array.from({ length: 99 }, (_, n) => ({
      ...EXPIRES,
      id: `r${n}`,
      filter: { prefix: 'p'.repeat(900) },
    }))
    t.match(await set(films, ...large), { status: 413, code: 'entity_too_large' })
    t.match(await films.ask({ path: PATH }), { status: 404 }, 'nothing was set')
  },
)

t.test(
  'access_denied without the verb admin over the whole bucket; another tenant sees no bucket [lifecycle.admin]',
  async (t) => {
    const films = await start(t)
    const { memory } = films.world
    for (const scope of ['read,write,delete', 'op=admin:bucket=films:prefix=tmp/']) {
      const narrow = films.as({ token: await memory.bearer('acme', scope) })
      for (const answer of [
        await set(narrow, EXPIRES),
        await narrow.ask({ path: PATH }),
        await preview(narrow, {}),
      ])
        t.match(answer, { status: 403, code: 'access_denied' }, scope)
    }
    await memory.tenant('evil')
    const evil = films.as({ token: await memory.bearer('evil', 'admin') })
    t.match(await set(evil, EXPIRES), { status: 404, code: 'not_found' })
  },
)

t.test('precondition_failed below the feature level [lifecycle.level]', async (t) => {
  const films = await start(t)
  films.world.memory.featureLevel = 5
  const refused = { status: 412, code: 'precondition_failed', json: { message: /needs feature level 6/ } }
  t.match(await set(films, EXPIRES), refused)
  t.match(await films.ask({ method: 'DELETE', path: PATH }), refused)
  t.match(await preview(films, { rules: [EXPIRES] }), refused)
  t.match(await films.ask({ path: PATH }), { status: 404 })
})

t.test('previewBucketLifecycle', async (t) => {
  const counts = ({ json }: ApiAnswer) => [json['counts'], json['bytes'], json['locked']]
  const none = { expired: 0, hidden: 0, noncurrent: 0, marker: 0, upload: 0 }

  t.test(
    'says what would go now, by rules that are set or given, and changes nothing [lifecycle.preview]',
    async (t) => {
      const today = await start(t)
      await today.put('tmp/a')
      await today.put('tmp/b')
      await today.put('kept')
      t.match(await preview(today, {}), { status: 404, code: 'not_found' }, 'without rules')
      await set(today, EXPIRES)
      t.same(counts(await preview(today, {})), [none, 0, 0])
      const films = await later(today, 40)
      const before = films.world.memory.checksum()
      const answer = await preview(films, {})
      t.same(counts(answer), [{ ...none, expired: 2 }, 10, 0])
      t.match(answer.json, {
        isTruncated: false,
        items: [
          { kind: 'expired', ruleId: 'tmp', key: 'tmp/a', versionId: 'null', bytes: 5 },
          { kind: 'expired', ruleId: 'tmp', key: 'tmp/b' },
        ],
      })
      const given = { rules: [{ status: 'Enabled', expiration: { days: 1 } }], limit: 1 }
      const other = await preview(films, given)
      t.same(counts(other), [{ ...none, expired: 3 }, 15, 0])
      t.equal((other.json['items'] as object[]).length, 1)
      t.equal(films.world.memory.checksum(), before)
    },
  )

  t.test('shows what a lock keeps apart from what goes', async (t) => {
    const today = await start(t, { objectLockEnabled: true })
    for (const n of [1, 2, 3]) await today.put('a', `${n}`.repeat(n))
    const { json } = await today.ask({ path: '/api/v1/buckets/films/versions' })
    const { versions } = json as { readonly versions: readonly { readonly versionId: string }[] }
    const held = `a?versionId=${versions[2]?.versionId}`
    await today.on('object-legal-hold', held, { method: 'PUT', body: { status: 'ON' } })
    const films = await later(today, 9)
    const rules = [{ status: 'Enabled', noncurrentVersionExpiration: { noncurrentDays: 1 } }]
    const answer = await preview(films, { rules })
    t.same(counts(answer), [{ ...none, noncurrent: 1 }, 2, 1])
    t.match(answer.json['items'], [{ bytes: 2 }, { bytes: 1, lockedBy: 'it is under legal hold' }])
  })

  t.test('counts unfinished uploads, and refuses a token of something else', async (t) => {
    const today = await start(t)
    for (const n of [1, 2]) await today.put(`tmp/${n}`)
    const started = await today.on('multipart', 'tmp/u', { method: 'POST', body: {} })
    t.ok(started.status < 300, 'an upload that is not completed')
    const films = await later(today, 40)
    t.match(await preview(films, { rules: [EXPIRES], continuationToken: 'A'.repeat(40) }), {
      status: 400,
      code: 'invalid_continuation_token',
    })
    const upload = { status: 'Enabled', abortIncompleteMultipartUpload: { daysAfterInitiation: 3 } }
    t.same(counts(await preview(films, { rules: [upload, EXPIRES] })), [
      { ...none, expired: 2, upload: 1 },
      10,
      0,
    ])
  })
})
