/**
 * Small rules of the operations on objects that need no socket: conditions, entity tags, times, metadata from clients.
 */
import fc from 'fast-check'
import t from 'tap'
import { checkContentType, checkMetadata } from '../../src/operations/objects/description.ts'
import { failedCondition, type ReadConditions } from '../../src/operations/objects/conditions.ts'
import { strongTags, weakTags } from '../../src/operations/objects/entity-tags.ts'
import { fingerprintOf } from '../../src/operations/objects/fingerprint.ts'
import { checkTags } from '../../src/operations/base/tags.ts'
import { WritesInProgress } from '../../src/operations/base/writes-in-progress.ts'
import { parseTimestamp } from '../../src/operations/base/timestamp.ts'
import { metadataHeaders, readMetadata } from '../../src/api/native/metadata-headers.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { deferred } from '../helpers/async.ts'

const NONE: ReadConditions = {
  ifMatch: null,
  ifNoneMatch: null,
  ifModifiedSince: null,
  ifUnmodifiedSince: null,
}
const OBJECT: ObjectRecord = {
  kind: 'object',
  key: 'k',
  versionId: '0'.repeat(26),
  isNull: true,
  lastModified: 5_500,
  older: null,
  newer: null,
  size: 0,
  etag: 'e',
  contentType: 'a/b',
  checksums: {},
  metadata: {},
  masterKeyId: 'mk',
  body: { kind: 'empty' },
  tags: {},
  retention: null,
  legalHold: false,
}

t.test('[RFC 9110 13.2.2] failedCondition', async (t) => {
  const table = [
    [{}, null],
    [{ ifMatch: ['e'] }, null],
    [{ ifMatch: ['x', '*'] }, null],
    [{ ifMatch: [] }, 'isMeant'],
    [{ ifMatch: ['x'], ifNoneMatch: ['e'] }, 'isMeant'],
    [{ ifUnmodifiedSince: 5_499 }, 'isMeant'],
    [{ ifUnmodifiedSince: 5_500 }, null],
    [{ ifUnmodifiedSince: 5_000 }, null],
    [{ ifUnmodifiedSince: 4_000 }, 'isMeant'],
    [{ ifMatch: ['e'], ifUnmodifiedSince: 0 }, null],
    [{ ifNoneMatch: ['e'] }, 'isNew'],
    [{ ifNoneMatch: ['*'] }, 'isNew'],
    [{ ifNoneMatch: ['x'], ifModifiedSince: 9_000 }, null],
    [{ ifNoneMatch: ['e'], ifModifiedSince: 0 }, 'isNew'],
    [{ ifModifiedSince: 5_499 }, null],
    [{ ifModifiedSince: 5_500 }, 'isNew'],
    [{ ifModifiedSince: 5_000 }, 'isNew'],
    [{ ifModifiedSince: 4_000 }, null],
  ] as const
  for (const [conditions, expected] of table)
    t.equal(failedCondition({ ...NONE, ...conditions }, OBJECT), expected, JSON.stringify(conditions))
})

t.test('entity tags', async (t) => {
  t.same(strongTags('"a", b ,*'), ['a', 'b', '*'])
  t.same(strongTags('W/"a"'), ['W/"a"'], 'is no strong tag')
  t.same(weakTags('W/"a","b", W/"c"'), ['a', 'b', 'c'])
  for (const empty of ['', ' ', ',', '""']) {
    t.throws(() => strongTags(empty), { code: 'invalid_argument' })
    t.throws(() => weakTags(empty), { code: 'invalid_argument' })
  }
})

t.test('parseTimestamp', async (t) => {
  const table = [
    ['2026-11-20T02:05:22.012Z', Date.UTC(2026, 10, 20, 2, 5, 22, 12)],
    ['2026-11-20t02:05:22z', Date.UTC(2026, 10, 20, 2, 5, 22)],
    ['2026-11-20T02:05:22+05:30', Date.UTC(2026, 10, 19, 20, 35, 22)],
    ['2028-02-29T00:00:00.123456789Z', Date.UTC(2028, 1, 29, 0, 0, 0, 123)],
  ] as const
  for (const [text, time] of table) t.equal(parseTimestamp(text), time, text)
  const none = [
    '',
    '2026-11-20',
    '2026-11-20T02:05Z',
    '2026-11-20T02:05:22',
    '2026-11-20 02:05:22Z',
    '2027-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:61Z',
    '+2026-01-01T00:00:00Z',
    '20260101T000000Z',
    '1795140322000',
    'Fri, 20 Nov 2026 02:05:22 GMT',
  ]
  for (const text of none) t.equal(parseTimestamp(text), null, text)
  fc.assert(
    fc.property(
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(253402300799999) }),
      (date) => parseTimestamp(date.toISOString()) === date.getTime(),
    ),
    { numRuns: 200 },
  )
})

t.test('checkMetadata accepts exactly the values that headers can carry', async (t) => {
  t.same(
    checkMetadata([
      ['Camera', 'x100'],
      ['a.b', ''],
    ]),
    { camera: 'x100', 'a.b': '' },
  )
  const refused: readonly (readonly [string, string])[] = [
    ['', 'x'],
    ['a b', 'x'],
    ['a:b', 'x'],
    ['é', 'x'],
    ['\u212a', 'x'],
    ['__proto__', 'x'],
    ['a', ' x'],
    ['a', 'x\t'],
    ['a', 'x\n'],
    ['a', 'x\u0000y'],
    ['a', '\ud800'],
    ['a', 'x'.repeat(2048)],
  ]
  for (const pair of refused)
    t.throws(() => checkMetadata([pair]), { code: 'invalid_request' }, JSON.stringify(pair))
  t.throws(
    () =>
      checkMetadata([
        ['a', '1'],
        ['A', '2'],
      ]),
    { code: 'invalid_request' },
  )
  // Accepted metadata is equal after the way through headers.
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (value) => {
      let accepted
      try {
        accepted = checkMetadata([['a', value]])
      } catch {
        return true
      }
      const headers = metadataHeaders(accepted)
      const [header = ''] = Object.values(headers)
      return (
        /^[\t\x20-\x7e\x80-\xff]*$/.test(header) &&
        !/^[ \t]|[ \t]$/.test(header) &&
        readMetadata(headers)['a'] === value
      )
    }),
    { numRuns: 500 },
  )
})

t.test('checkContentType', async (t) => {
  for (const type of ['a/b', '?', 'x'.repeat(256)]) t.equal(checkContentType(type), type)
  for (const type of ['', ' ', ' a/b', 'a/b ', 'x'.repeat(257), 'é', 'a\nb'])
    t.throws(() => checkContentType(type), { code: 'invalid_request' })
})

t.test('checkTags', async (t) => {
  t.same(
    checkTags([
      ['a', ''],
      ['b', 'x'],
    ]),
    { a: '', b: 'x' },
  )
  t.throws(
    () =>
      checkTags([
        ['a', '1'],
        ['a', '1'],
      ]),
    { code: 'invalid_tag' },
  )
  t.throws(() => checkTags([['', '1']]), { code: 'invalid_tag' })
})

t.test('[native: Upload rules 3] a fingerprint distinguishes any two uploads', async (t) => {
  const upload = fc.record({
    size: fc.nat(3),
    contentTag: fc.constantFrom('e', 'f'),
    contentType: fc.constantFrom('a', 'b'),
    metadata: fc.dictionary(fc.constantFrom('m', 'n'), fc.constantFrom('1', '2'), { noNullPrototype: true }),
  })
  const sorted = (one: { readonly metadata: object }) =>
    JSON.stringify({ ...one, metadata: Object.entries(one.metadata).sort(([a], [b]) => a.localeCompare(b)) })
  fc.assert(
    fc.property(
      upload,
      upload,
      (a, b) => (fingerprintOf(a) === fingerprintOf(b)) === (sorted(a) === sorted(b)),
    ),
    { numRuns: 500 },
  )
  t.match(fingerprintOf({ ...OBJECT, contentTag: OBJECT.etag }), /^[0-9a-f]{64}$/)
})

t.test('WritesInProgress', async (t) => {
  const writes = new WritesInProgress(2)
  const [one, two] = [deferred(), deferred()]
  const running = [writes.alone(['a', 'b'], () => one.promise), writes.alone(['a,b'], () => two.promise)]
  await t.rejects(
    writes.alone(['a', 'b'], async () => 1),
    { code: 'idempotency_in_progress' },
  )
  await t.rejects(
    writes.alone(['c'], async () => 1),
    { code: 'slow_down' },
    'it is bounded',
  )
  one.resolve()
  two.resolve()
  await Promise.all(running)
  await t.rejects(
    writes.alone(['a', 'b'], () => Promise.reject(new Error('failed'))),
    { message: 'failed' },
  )
  t.equal(await writes.alone(['a', 'b'], async () => 1), 1, 'a name is free again after any outcome')
})
