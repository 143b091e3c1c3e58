/** Texts that are put together by hand, against those that the platform makes. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { jsonLines, jsonPage, jsonTexts } from '../../src/api/json-page.ts'
import { writeListedObject } from '../../src/api/native/object-view.ts'
import { writeListedVersion } from '../../src/api/native/version-listing.ts'
import { contentsElements, prefixElements, versionElements } from '../../src/api/s3/listings/listing-view.ts'
import { element, urlEncoded, xmlDocument, type XmlElement } from '../../src/api/s3/xml/write-xml.ts'
import { timeText } from '../../src/api/wire.ts'
import type { ListedObject, ListedVersion } from '../../src/state-machine/versions/listed-version.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('a/b', '"\\', '<&>\'"', '\u0001', '\n', '\ud7ff', '\uffff', '😀'),
)
const time = fc.oneof(
  fc.integer({ min: 0, max: 4_102_444_800_000 }),
  fc.integer({ min: 1_800_000_000_000, max: 1_800_000_120_000 }),
  fc.constantFrom(0, 59_999, 60_000, 1_800_000_000_009, 253_402_300_799_999),
)
const place = {
  key: text,
  versionId: fc.stringMatching(/^[0-9A-Z]{26}$/),
  isNull: fc.boolean(),
  isLatest: fc.boolean(),
  lastModified: time,
}
const object: fc.Arbitrary<ListedObject> = fc.record({
  kind: fc.constant('object'),
  ...place,
  size: fc.maxSafeNat(),
  etag: text,
  algorithms: fc.array(fc.constantFrom('CRC32', 'SHA256'), { maxLength: 2 }),
  isComposite: fc.boolean(),
})
const marker: fc.Arbitrary<ListedVersion> = fc.record({ kind: fc.constant('deleteMarker'), ...place })
const version = fc.oneof(object, marker)

t.test('timeText is the ISO text of any time', async () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(time, fc.integer({ min: -1_000_000, max: 0 }))), (times) => {
      for (const ms of times) assert.equal(timeText(ms), new Date(ms).toISOString())
    }),
    { seed: 64 },
  )
  assert.throws(() => timeText(Number.NaN), RangeError)
})

t.test('lines of JSON are what JSON.stringify makes of the view', async () => {
  const objectView = (one: ListedObject) => ({
    key: one.key,
    size: one.size,
    etag: one.etag,
    lastModified: new Date(one.lastModified).toISOString(),
    storageClass: 'STANDARD',
    versionId: one.isNull ? 'null' : one.versionId,
  })
  const versionView = (one: ListedVersion) => ({
    key: one.key,
    versionId: one.isNull ? 'null' : one.versionId,
    isLatest: one.isLatest,
    isDeleteMarker: one.kind === 'deleteMarker',
    lastModified: new Date(one.lastModified).toISOString(),
    ...(one.kind === 'object' ? { size: one.size, etag: one.etag, storageClass: 'STANDARD' } : {}),
  })
  fc.assert(
    fc.property(fc.array(object), fc.array(version), fc.array(text), (objects, versions, prefixes) => {
      const head = { bucket: 'b', isTruncated: false }
      const page = jsonPage(head, {
        objects: jsonLines(objects, writeListedObject),
        versions: jsonLines(versions, writeListedVersion),
        commonPrefixes: jsonTexts(prefixes),
      })
      assert.ok(page.kind === 'ready')
      const view = { objects: objects.map(objectView), versions: versions.map(versionView) }
      assert.equal(page.bytes.toString(), JSON.stringify({ ...head, ...view, commonPrefixes: prefixes }))
    }),
    { seed: 65 },
  )
})

t.test('lines of XML are those of a tree of elements', async () => {
  const owner = element('Owner', element('ID', 'acme'))
  const sums = ({ etag, algorithms, isComposite }: ListedObject): readonly XmlElement[] => [
    element('ETag', `"${etag}"`),
    ...algorithms.map((name) => element('ChecksumAlgorithm', name)),
    element('ChecksumType', isComposite ? 'COMPOSITE' : 'FULL_OBJECT'),
  ]
  const when = (ms: number): XmlElement => element('LastModified', new Date(ms).toISOString())
  const type = element('EncodingType', 'url')
  const encodings = [
    { text: (one: string) => one, type: null },
    { text: urlEncoded, type },
  ]
  fc.assert(
    fc.property(
      fc.record({
        objects: fc.array(object),
        versions: fc.array(version),
        prefixes: fc.array(text),
        encoding: fc.constantFrom(...encodings),
        isOwned: fc.boolean(),
      }),
      ({ objects, versions, prefixes, encoding, isOwned }) => {
        const written = [
          contentsElements(objects, encoding, isOwned ? owner : null),
          versionElements(versions, encoding, owner),
          prefixElements(prefixes, encoding),
        ]
        const tree = [
          ...objects.map((one) =>
            element(
              'Contents',
              element('Key', encoding.text(one.key)),
              when(one.lastModified),
              ...sums(one),
              element('Size', one.size),
              isOwned && owner,
              element('StorageClass', 'STANDARD'),
            ),
          ),
          ...versions.map((one) =>
            element(
              one.kind === 'object' ? 'Version' : 'DeleteMarker',
              element('Key', encoding.text(one.key)),
              element('VersionId', one.isNull ? 'null' : one.versionId),
              element('IsLatest', `${one.isLatest}`),
              when(one.lastModified),
              ...(one.kind === 'object'
                ? [...sums(one), element('Size', one.size), element('StorageClass', 'STANDARD')]
                : []),
              owner,
            ),
          ),
          ...prefixes.map((one) => element('CommonPrefixes', element('Prefix', encoding.text(one)))),
        ]
        assert.equal(
          xmlDocument(element('R', 'x', ...written)).toString(),
          xmlDocument(element('R', 'x', ...tree)).toString(),
        )
      },
    ),
    { seed: 66 },
  )
})
