/** The headers that say what is copied: every spelling that clients send, and what is refused by name. */
import t from 'tap'
import {
  readCopySource,
  readSourceConditions,
  readSourceRange,
} from '../../../src/api/s3/objects/copy-headers.ts'

const sourceOf = (text: string) => readCopySource({ 'x-amz-copy-source': text })

t.test('readCopySource', async (t) => {
  const table = [
    ['b/k', 'b', 'k', undefined],
    ['/b/k', 'b', 'k', undefined],
    ['b/a/b//c', 'b', 'a/b//c', undefined],
    ['b%2Fk%2Fl', 'b', 'k/l', undefined],
    ['%2Fb%2Fk', 'b', 'k', undefined],
    ['b/a%20b', 'b', 'a b', undefined],
    ['b/a+b', 'b', 'a+b', undefined],
    ['b/a%2Bb', 'b', 'a+b', undefined],
    ['b/a#b', 'b', 'a#b', undefined],
    ['b/%F0%9F%98%80', 'b', '😀', undefined],
    ['b/k?versionId=01ABC', 'b', 'k', '01ABC'],
    ['b/k?versionId=null', 'b', 'k', 'null'],
    ['b/what%3FversionId=x?versionId=y', 'b', 'what?versionId=x', 'y'],
    ['b/what?now', 'b', 'what?now', undefined],
    ['b/%2525', 'b', '%25', undefined],
  ] as const
  for (const [text, bucket, key, versionId] of table) t.same(sourceOf(text), { bucket, key, versionId }, text)
  const refused = ['', '/', 'b', 'b/', '/b/', '//k', 'b/%', 'b/%ff', 'b/k?versionId=']
  for (const text of refused)
    t.throws(
      () => sourceOf(text),
      { code: 'InvalidArgument', extras: { elements: { ArgumentName: 'x-amz-copy-source' } } },
      text,
    )
  const arn = 'arn:aws:s3:us-east-1:1:accesspoint/a/object/k'
  t.throws(() => sourceOf(arn), { code: 'NotImplemented' })
  t.throws(() => sourceOf(encodeURIComponent(arn)), { code: 'NotImplemented' })
})

t.test('readSourceRange', async (t) => {
  const rangeOf = (text: string) => readSourceRange({ 'x-amz-copy-source-range': text })
  t.equal(readSourceRange({}), null)
  t.same(rangeOf('bytes=0-0'), { start: 0, end: 1 })
  t.same(rangeOf('bytes=5-5368709124'), { start: 5, end: 5_368_709_125 })
  const refused = [
    '',
    '0-2',
    'bytes=0',
    'bytes=hello-world',
    'bytes=0-bar',
    'bytes=0-',
    'bytes=-5',
    'bytes=0-2,3-5',
    'bytes=9-2',
    'bytes=0-9999999999999999',
  ]
  for (const text of refused) t.throws(() => rangeOf(text), { code: 'InvalidArgument' }, text)
})

t.test('readSourceConditions', async (t) => {
  const none = { ifMatch: null, ifNoneMatch: null, ifModifiedSince: null, ifUnmodifiedSince: null }
  t.same(readSourceConditions({ 'if-match': '"a"' }), none, 'those of the target are others')
  t.same(
    readSourceConditions({
      'x-amz-copy-source-if-match': '"a"',
      'x-amz-copy-source-if-none-match': 'W/"b"',
      'x-amz-copy-source-if-modified-since': 'Fri, 20 Nov 2026 02:05:22 GMT',
      'x-amz-copy-source-if-unmodified-since': 'soon',
    }),
    { ...none, ifMatch: ['a'], ifNoneMatch: ['b'], ifModifiedSince: Date.UTC(2026, 10, 20, 2, 5, 22) },
  )
})
