/** Bodies of CompleteMultipartUpload and DeleteObjects, and the counts of listings: their forms. */
import t from 'tap'
import { COMPLETION, readCompletedParts } from '../../../src/api/s3/multipart/complete-upload-body.ts'
import { DELETION, readDeletion } from '../../../src/api/s3/objects/delete-objects-body.ts'
import { readCount, readEncoding } from '../../../src/api/s3/listings/listing-query.ts'
import { readXml, type XmlBounds } from '../../../src/api/s3/xml/read-xml.ts'
import { inPieces } from '../../helpers/content-world.ts'

const rootOf = (text: string, bounds: Omit<XmlBounds, 'depthMax'>) =>
  readXml(inPieces(Buffer.from(text), 4096), { ...bounds, depthMax: 16 })
const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
const TAG = `&quot;${'0'.repeat(32)}-1&quot;`

t.test('readCompletedParts', async (t) => {
  const read = async (text: string) => readCompletedParts(await rootOf(text, COMPLETION))
  const part = (number: string, tag = TAG) =>
    `<Part><ETag>${tag}</ETag><ChecksumCRC32>AAAAAA==</ChecksumCRC32><PartNumber>${number}</PartNumber></Part>`
  const whole = (parts: string) => `<CompleteMultipartUpload ${NAMESPACE}>${parts}</CompleteMultipartUpload>`
  t.same(await read(whole(part('1') + part(' 7 ', `\n${'a'.repeat(32)} `))), [
    { partNumber: 1, etag: `"${'0'.repeat(32)}-1"`, claimed: new Map([['CRC32', Buffer.alloc(4)]]) },
    { partNumber: 7, etag: 'a'.repeat(32), claimed: new Map([['CRC32', Buffer.alloc(4)]]) },
  ])
  const claiming = (inner: string) =>
    read(whole(`<Part><PartNumber>1</PartNumber><ETag>x</ETag>${inner}</Part>`))
  await t.rejects(claiming('<ChecksumCRC32>x</ChecksumCRC32>'), { code: 'checksum_malformed' })
  await t.rejects(claiming('<ChecksumMD4>AAAA</ChecksumMD4>'), { code: 'checksum_unsupported' })
  const malformed = [
    whole(''),
    whole('<Part><PartNumber>1</PartNumber></Part>'),
    whole('<Part><ETag>x</ETag></Part>'),
    ...['', 'x', '1.5', '-1', '1e3', '1'.repeat(10)].map((number) => whole(part(number))),
    whole('<Part><PartNumber>1</PartNumber><PartNumber>2</PartNumber><ETag>x</ETag></Part>'),
  ]
  for (const text of malformed) await t.rejects(read(text), { name: 'MalformedXmlError' }, text)
  const all = Array.from({ length: 10_000 }, (_, n) => `\n    ${part(`${n + 1}`)}`)
  t.equal((await read(whole(all.join('')))).length, 10_000, 'as many as an upload may have')
})

t.test('readDeletion', async (t) => {
  const read = async (text: string) => readDeletion(await rootOf(text, DELETION))
  const whole = (inner: string) => `<Delete ${NAMESPACE}>${inner}</Delete>`
  const object = (inner: string) => `<Object>${inner}</Object>`
  t.same(
    await read(
      whole(
        object('<Key> a&amp;b </Key>') +
          object('<VersionId>null</VersionId><Key>c</Key>') +
          object('<Key></Key><VersionId/>') +
          object('<Key>d</Key><ETag>&quot;e&quot;</ETag>'),
      ),
    ),
    {
      objects: [{ key: ' a&b ' }, { key: 'c', versionId: 'null' }, { key: '' }, { key: 'd', ifMatch: ['e'] }],
      isQuiet: false,
    },
  )
  for (const [text, isQuiet] of [
    ['true', true],
    ['TRUE', true],
    ['false', false],
    ['', false],
  ] as const)
    t.match(await read(whole(`<Quiet>${text}</Quiet>${object('<Key>a</Key>')}`)), { isQuiet })
  const many = (count: number) => whole(object('<Key>a</Key>').repeat(count))
  t.equal((await read(many(1000))).objects.length, 1000)
  const malformed = [whole(''), many(1001), whole(object('')), whole(object('<Key>a</Key><Key>b</Key>'))]
  for (const text of malformed) await t.rejects(read(text), { name: 'MalformedXmlError' })
  const longest = object(`<Key>${'&#x1;'.repeat(1024)}</Key><VersionId>${'0'.repeat(26)}</VersionId>`)
  await t.rejects(read(whole(longest)), { name: 'MalformedXmlError' }, 'what is no character of XML')
  const escaped = object(`<Key>${'&amp;'.repeat(1024)}</Key><VersionId>${'0'.repeat(26)}</VersionId>`)
  t.equal((await read(whole(escaped.repeat(1000)))).objects.length, 1000, 'keys as long as they may be')
})

t.test('readCount and readEncoding', async (t) => {
  const table = [
    [undefined, 1000, 1000, false],
    ['', 1000, 1000, false],
    ['0', 0, 1, true],
    ['1', 1, 1, false],
    ['2147483647', 1000, 1000, false],
  ] as const
  for (const [text, max, limit, isNothing] of table)
    t.same(readCount({ 'max-keys': text }, 'max-keys'), { max, limit, isNothing }, `${text}`)
  for (const text of ['-1', 'x', '1.5', ' 1', '2147483648', '1'.repeat(11), '\n'])
    t.throws(() => readCount({ 'max-keys': text }, 'max-keys'), { code: 'InvalidArgument' }, text)
  t.equal(readEncoding({}).text('a b/c'), 'a b/c')
  t.equal(readEncoding({}).type, null)
  t.match(readEncoding({ 'encoding-type': 'url' }), { type: { name: 'EncodingType' } })
  t.equal(readEncoding({ 'encoding-type': 'url' }).text('a/\u0001'), 'a/%01')
  t.throws(() => readEncoding({ 'encoding-type': 'base64' }), { code: 'InvalidArgument' })
})
