/**
 * Conditions and ranges of a read: whatever they are together, S3 answers as the native API does. [RFC 9110 13, 14]
 */
import fc from 'fast-check'
import t from 'tap'
import { completionOf, MultipartCalls } from './multipart-calls.ts'
import { S3World } from './s3-world.ts'

const BODY = '0123456789'
const PAST = 'Wed, 01 Jan 2020 00:00:00 GMT'
const FUTURE = 'Tue, 01 Jan 2058 00:00:00 GMT'
const OTHER = `"${'0'.repeat(32)}"`
/** Repeats of the search. */
const RUNS = 400

const SHOWN = [
  'etag',
  'last-modified',
  'content-range',
  'content-length',
  'content-type',
  'accept-ranges',
  'cache-control',
]

t.test('conditions and ranges have one meaning', async (t) => {
  const s3 = await S3World.start(t)
  const put = await s3.call({
    method: 'PUT',
    path: '/photos/k',
    body: BODY,
    headers: { 'cache-control': 'no-store' },
  })
  const etag = String(put.headers.etag)
  const tags = fc.option(fc.constantFrom(etag, OTHER, '*', `W/${etag}`, `${OTHER}, ${etag}`, 'garbage', ''), {
    nil: undefined,
  })
  const dates = fc.option(fc.constantFrom(PAST, FUTURE, 'yesterday'), { nil: undefined })
  const ranges = fc.option(
    fc.constantFrom(
      'bytes=0-0',
      'bytes=-1',
      'bytes=5-',
      'bytes=9-1',
      'bytes=99-',
      'bytes=0-99',
      'bytes=-0',
      'bytes=0-0,2-2',
      'lines=1-2',
    ),
    { nil: undefined },
  )
  const asked = fc.record({
    'if-match': tags,
    'if-none-match': tags,
    'if-modified-since': dates,
    'if-unmodified-since': dates,
    range: ranges,
    'if-range': fc.option(fc.constantFrom(etag, OTHER, PAST, FUTURE), { nil: undefined }),
  })
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(asked, fc.constantFrom('GET', 'HEAD'), async (given, method) => {
      const headers = Object.fromEntries(
        Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
      )
      const [native, answer] = [
        await s3.world.call({ method, path: '/api/v1/buckets/photos/objects/k', token: s3.token, headers }),
        await s3.call({ method, path: '/photos/k', headers }),
      ]
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (answer.status !== native.status)
        throw new Error(`${answer.status} through S3, ${native.status} natively`)
      if (answer.status >= 400) return
      if (!answer.bytes.equals(native.bytes)) throw new Error('the bytes differ')
      for (const name of SHOWN)
        if (answer.headers[name] !== native.headers[name])
          throw new Error(
            `${name}: ${String(answer.headers[name])} through S3, ${String(native.headers[name])} natively`,
          )
    }),
    { seed: 20_261_126, numRuns: RUNS, endOnFailure: false, includeErrorInReport: true },
  )
  t.same(
    [...statuses.keys()].toSorted((one, other) => one - other),
    [200, 206, 304, 400, 412, 416],
  )
})

t.test('a part is read under the same conditions', async (t) => {
  const s3 = await S3World.start(t)
  const calls = new MultipartCalls(s3, 'p')
  const uploadId = await calls.begin()
  const part = await calls.part(uploadId, 1, BODY)
  const done = await s3.call({
    method: 'POST',
    path: `/photos/p?uploadId=${uploadId}`,
    body: completionOf([part]),
  })
  t.equal(done.status, 200)
  const read = (number: string, headers: Record<string, string> = {}, method = 'GET') =>
    s3.call({ method, path: `/photos/p?partNumber=${number}`, headers })
  const whole = await read('1')
  t.match(whole, { status: 206, headers: { 'x-amz-mp-parts-count': '1' } })
  t.equal(whole.bytes.toString(), BODY)
  const etag = String(whole.headers.etag)
  const rows = [
    ['1', { 'if-none-match': etag }, 304],
    ['1', { 'if-match': OTHER }, 412],
    ['1', { 'if-match': etag }, 206],
    ['1', { 'if-unmodified-since': PAST }, 412],
    ['1', { 'if-modified-since': FUTURE }, 304],
    ['1', { 'if-modified-since': PAST }, 206],
    ['1', { range: 'bytes=0-0' }, 400],
    ['2', {}, 416],
    ['0', {}, 416],
    ['10001', {}, 416],
  ] as const
  for (const [number, headers, status] of rows)
    for (const method of ['GET', 'HEAD'])
      t.equal(
        (await read(number, headers, method)).status,
        status,
        `${method} ${number} ${JSON.stringify(headers)}`,
      )
})
