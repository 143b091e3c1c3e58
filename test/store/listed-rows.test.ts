/** Lines of listings that are read from rows without decoding them, against the decoded rows. */
import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'
import { Packr } from 'msgpackr'
import t from 'tap'
import fc from 'fast-check'
import { comesBefore } from '../../src/state-machine/base/key-order.ts'
import { listedVersion } from '../../src/state-machine/versions/listed-version.ts'
import type { ObjectRecord, VersionRecord } from '../../src/state-machine/versions/records.ts'
import {
  readDescribedObject,
  readListedObject,
  readListedVersion,
} from '../../src/store/reads/listed-rows.ts'
import { decodePayload, encodeRow, keyBytes, openNamed } from '../../src/store/rows/row-codec.ts'
import { RowMembers } from '../../src/store/rows/row-members.ts'
import { byteSum, textSum } from '../../src/store/rows/text-sum.ts'

const PACKR = new Packr({ useRecords: false, variableMapSize: true })

/** As long as each of the forms that MessagePack has for a text, and beyond ASCII. */
const text = fc.oneof(
  fc.string({ maxLength: 40, unit: 'binary' }),
  fc.constantFrom('', 'x'.repeat(31), 'x'.repeat(32), 'é'.repeat(16), 'x'.repeat(255), 'x'.repeat(256), '😀'),
)
const texts = fc.dictionary(text, text, { maxKeys: 20, noNullPrototype: true })
const wholeNumber = fc.oneof(
  fc.constantFrom(0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1),
  fc.integer({ min: 0 }),
  fc.maxSafeNat(),
)
const nullOr = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })
const place = {
  key: text,
  versionId: text,
  isNull: fc.boolean(),
  lastModified: wholeNumber,
  older: nullOr(text),
  newer: nullOr(text),
}
/** In any order, with members that no version has today. */
const record = fc
  .tuple(
    fc.record({
      kind: fc.constant('object' as const),
      ...place,
      size: wholeNumber,
      etag: text,
      checksums: texts,
    }),
    fc.record(
      {
        composite: fc.record({ algorithm: text, checksum: text }),
        metadata: texts,
        body: fc.jsonValue({ maxDepth: 4 }),
        [`${'of'.repeat(12)}x`]: fc.jsonValue(),
        extra: fc.oneof(fc.double(), fc.integer(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
        bytes: fc.uint8Array({ maxLength: 300 }),
        many: fc.array(fc.integer(), { maxLength: 40 }),
        eleven_here: fc.boolean(),
        twelve_there: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
    fc.infiniteStream(fc.nat()),
  )
  .map(([own, more, order]) => {
    const members = Object.entries({ ...own, ...more }).map((member) => [order.next().value, member] as const)
    return Object.fromEntries(members.toSorted(([a], [b]) => a - b).map(([, member]) => member))
  })
const marker = fc.record({ kind: fc.constant('deleteMarker' as const), ...place })

function payloadOf(key: string, row: object): Buffer {
  const bytes = encodeRow(keyBytes(key), row)
  return openNamed(key, textSum(key), bytes)
}

t.test('a line is what the decoded row says, for any members in any order', async () => {
  fc.assert(
    fc.property(fc.oneof(record, marker), (row) => {
      const payload = payloadOf('row', row)
      const decoded: VersionRecord = decodePayload('row', payload)
      assert.deepEqual(readListedVersion('row', decoded.key, payload), listedVersion(decoded))
    }),
    { seed: 61, numRuns: 2000 },
  )
})

t.test('a line with metadata has that of the decoded row', async () => {
  fc.assert(
    fc.property(record, texts, fc.boolean(), (row, metadata, isLast) => {
      const payload = payloadOf(
        'row',
        isLast ? { ...row, metadata } : Object.assign({ metadata: {} }, row, { metadata }),
      )
      const decoded: ObjectRecord = decodePayload('row', payload)
      const line = readDescribedObject('row', decoded.key, payload)
      assert.deepEqual(line, { ...listedVersion(decoded), metadata: Object.entries(decoded.metadata) })
    }),
    { seed: 64, numRuns: 1000 },
  )
})

t.test('rows in forms that this build does not write are decoded whole', async (t) => {
  const object = {
    kind: 'object',
    key: 'k',
    versionId: 'v',
    isNull: false,
    lastModified: 1,
    newer: null,
    size: 2,
    etag: 'e',
    checksums: { CRC32: 'x' },
  }
  const line = { kind: 'object', key: 'k', versionId: 'v', isNull: false, isLatest: true, lastModified: 1 }
  const whole = { ...line, size: 2, etag: 'e', algorithms: ['CRC32'], isComposite: false }
  const read = (row: object) => readListedVersion('row', 'k', payloadOf('row', row))
  t.same(read(object), whole)
  t.same(read({ ...object, lastModified: -1 }), { ...whole, lastModified: -1 })
  t.same(read({ ...object, size: 1.5 }), { ...whole, size: 1.5 })
  t.same(read({ ...object, size: 2n ** 60n }), { ...whole, size: 2n ** 60n })
  t.same(read({ ...object, etag: 'x'.repeat(70_000) }), { ...whole, etag: 'x'.repeat(70_000) })
  t.same(read({ ...object, composite: { algorithm: 'SHA1', checksum: 'y-2' } }), {
    ...whole,
    algorithms: ['SHA1'],
    isComposite: true,
  })
  t.same(read({ ...object, newer: undefined }), { ...whole, isLatest: false })
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`m${n}`, n]))
  t.same(read({ ...many, ...object }), whole, 'a map of more than 15 members')
  t.throws(() => readListedVersion('row', 'k', Buffer.of(0x81)), { name: 'RowDamagedError' })
  const removed = payloadOf('row', { ...line, kind: 'deleteMarker', newer: null })
  t.throws(() => readListedObject('row', 'k', removed), /holds a delete marker/)
  const long = { ...object, metadata: { a: 'x'.repeat(70_000) } }
  const described = readDescribedObject('row', 'k', payloadOf('row', long))
  t.same(described.metadata, Object.entries(long.metadata), 'a text of more than 64 KiB')
  const found: Pick<ObjectRecord, 'key'> = readListedObject('row', 'k', payloadOf('row', object))
  t.equal(found.key, 'k')
})

t.test('a value is stepped over with all that is in it, and never beyond the end', async () => {
  fc.assert(
    fc.property(fc.oneof(record, fc.jsonValue(), text, wholeNumber), (value) => {
      const bytes = PACKR.pack(value)
      const members = new RowMembers(Buffer.from(bytes))
      assert.ok(members.stepOver())
      assert.equal(members.at, bytes.length)
      const short = new RowMembers(Buffer.from(bytes.subarray(0, bytes.length - 1)))
      assert.ok(!short.stepOver(), 'a value that is cut short')
    }),
    { seed: 62, numRuns: 1000 },
  )
})

t.test('every form of MessagePack has its length', async (t) => {
  const forms: readonly (readonly [head: readonly number[], length: number])[] = [
    [[0xc0], 1],
    [[0xc4, 3, 1, 2, 3], 5],
    [[0xc5, 0, 2, 1, 2], 5],
    [[0xc6, 0, 0, 0, 1, 9], 6],
    [[0xc7, 2, 1, 8, 9], 5],
    [[0xc8, 0, 1, 1, 8], 5],
    [[0xc9, 0, 0, 0, 1, 1, 8], 7],
    [[0xca, 1, 2, 3, 4], 5],
    [[0xd0, 1], 2],
    [[0xd3, 1, 2, 3, 4, 5, 6, 7, 8], 9],
    [[0xd4, 0, 0], 3],
    [[0xd8, ...Array.from({ length: 17 }, () => 7)], 18],
    [[0xdb, 0, 0, 0, 2, 97, 98], 7],
    [[0xdc, 0, 2, 1, 2], 5],
    [[0xdd, 0, 0, 0, 1, 0xa1, 97], 7],
    [[0xdf, 0, 0, 0, 1, 1, 2], 7],
    [[0xe0], 1],
    [[0xff], 1],
  ]
  for (const [bytes, length] of forms) {
    const members = new RowMembers(Buffer.from(bytes))
    t.ok(members.stepOver())
    t.equal(members.at, length, `${bytes[0]?.toString(16)}`)
    t.notOk(new RowMembers(Buffer.from(bytes.slice(0, -1))).stepOver(), 'cut short')
  }
  t.notOk(new RowMembers(Buffer.of(0xc1)).stepOver(), 'no value begins with it')
})

t.test('sums and order of texts are those of their bytes', async () => {
  const any = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(fc.constantFrom('a', '\u007f', '\u0080', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'))
      .map((all) => all.join('')),
  )
  fc.assert(
    fc.property(any, any, fc.nat({ max: 2 ** 32 - 1 }), fc.nat({ max: 20 }), (one, other, sum, from) => {
      assert.equal(textSum(one), crc32(one))
      assert.equal(textSum(one, sum), crc32(one, sum))
      const rest = Array.from(one).slice(from).join('')
      assert.equal(textSum(one, sum, one.length - rest.length), crc32(rest, sum))
      assert.equal(byteSum(from, sum), crc32(Uint8Array.of(from), sum))
      assert.equal(comesBefore(one, other), Buffer.compare(keyBytes(one), keyBytes(other)) < 0)
    }),
    { seed: 63, numRuns: 1000 },
  )
})
