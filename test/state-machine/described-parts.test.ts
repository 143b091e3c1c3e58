/** What an assembled object keeps of its parts, from which feature level on, and through copies. */
import t from 'tap'
import { PARTS_PER_PAGE, readParts } from '../../src/state-machine/bodies/bodies.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import type { CompositeChecksum, ObjectPart } from '../../src/state-machine/bodies/records.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { commandLevel } from '../../src/state-machine/command-levels.ts'
import { PART_BYTES_MIN } from '../../src/state-machine/objects/limits.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import { ANYTHING, fresh, type MapWorld, NO_SETTINGS, recounted, worldWithBucket } from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

const COMPOSITE: CompositeChecksum = { algorithm: 'CRC32', checksum: 'AAAAAA==-2' }
const NAMED = [3, 7].map((partNumber) => ({ partNumber, etag: `etag of ${partNumber}` }))

function assembled(world: MapWorld, composite?: CompositeChecksum): ObjectRecord {
  const { uploadId } = world.do(createUpload('k', { checksumAlg: 'CRC32', checksumType: 'COMPOSITE' }))
  for (const partNumber of [3, 7]) {
    const part = putPart({ key: 'k', uploadId, partNumber }, [
      fresh(`c${partNumber}`, { size: PART_BYTES_MIN }),
    ])
    world.do({ ...part, checksums: { CRC32: `crc of ${partNumber}` } })
  }
  const more = composite === undefined ? {} : { composite }
  return world.do(completeUpload({ key: 'k', uploadId }, 2, { parts: NAMED, ...more }))
}

function copied(world: MapWorld, { key, versionId }: ObjectRecord): ObjectRecord {
  const source = { bucket: 'photos', key, versionId }
  const about = { contentType: 'text/plain', metadata: {}, masterKeyId: 'mk-1', ...NO_SETTINGS }
  const name = { tenantId: 'acme', bucket: 'photos', key: 'copy' }
  return world.do({ type: 'copyObject', ...name, ...about, precondition: ANYTHING, source })
}

function partsOf(world: MapWorld, { versionId: id, body }: ObjectRecord): readonly ObjectPart[] {
  const bucket = world.get(bucketKeys.bucket('acme', 'photos'))
  if (bucket === undefined || body.kind !== 'parts') throw new Error('it is assembled')
  return readParts(world, { bucket, id }, body.count)
}

t.test('an object keeps the numbers and checksums of its parts, and so does a copy', async (t) => {
  const world = worldWithBucket()
  const object = assembled(world, COMPOSITE)
  const kept = [
    { partNumber: 3, size: PART_BYTES_MIN, checksums: { CRC32: 'crc of 3' } },
    { partNumber: 7, size: PART_BYTES_MIN, checksums: { CRC32: 'crc of 7' } },
  ]
  t.match(partsOf(world, object), kept)
  t.strictSame(object.composite, COMPOSITE)
  const copy = copied(world, object)
  t.match(partsOf(world, copy), kept)
  t.not(partsOf(world, copy)[0]?.partId, partsOf(world, object)[0]?.partId)
  t.strictSame(copy.composite, COMPOSITE)
  t.same(recounted(world), [])
})

t.test('without a composite checksum the record has no member for it', async (t) => {
  const world = worldWithBucket()
  t.notOk('composite' in assembled(world))
})

t.test('below level 4 nothing of a part is kept, as older nodes keep nothing', async (t) => {
  const world = worldWithBucket()
  world.featureLevel = 3
  const { uploadId } = world.do(createUpload('k'))
  for (const partNumber of [3, 7])
    world.do(putPart({ key: 'k', uploadId, partNumber }, [fresh(`c${partNumber}`, { size: PART_BYTES_MIN })]))
  const object = world.do(completeUpload({ key: 'k', uploadId }, 2, { parts: NAMED }))
  const bucket = world.get(bucketKeys.bucket('acme', 'photos'))
  const row = world.get(bodyKeys.partPage(bucket?.id ?? '', object.versionId, 0))
  t.strictSame(
    row?.parts.map((part) => Object.keys(part)),
    [
      ['partId', 'size', 'body'],
      ['partId', 'size', 'body'],
    ],
  )
  world.featureLevel = 4
  t.notOk(
    'checksums' in (partsOf(world, copied(world, object))[0] ?? {}),
    'and a later copy has nothing to keep',
  )
})

t.test('the starts of pages of parts are kept where there is more than one, from level 4 on', async (t) => {
  for (const featureLevel of [3, 4]) {
    const world = worldWithBucket()
    world.featureLevel = featureLevel
    const { uploadId } = world.do(createUpload('k'))
    const count = PARTS_PER_PAGE + 1
    for (let partNumber = 1; partNumber <= count; partNumber++) {
      const name = { key: 'k', uploadId, partNumber }
      // The same chunk again and again, which the first part has stored.
      const chunk = fresh('c', { size: PART_BYTES_MIN })
      world.do(putPart(name, [partNumber === 1 ? chunk : { ...chunk, existing: true, replicas: [] }]))
    }
    const object = world.do(completeUpload({ key: 'k', uploadId }, count))
    const pageStarts = [PARTS_PER_PAGE * PART_BYTES_MIN]
    const expected = { kind: 'parts', count, ...(featureLevel === 3 ? {} : { pageStarts }) }
    const { compression: _, ...body } = { compression: null, ...object.body }
    t.strictSame(body, expected)
    world.featureLevel = 4
    t.strictSame(copied(world, object).body, object.body, 'a copy knows what its source does')
  }
})

t.test('a command that says a checksum type or a composite checksum needs level 4', async (t) => {
  const name = { key: 'k', uploadId: 'mpu' }
  t.equal(commandLevel(createUpload('k', { checksumAlg: 'CRC32' })), 1)
  t.equal(commandLevel(createUpload('k', { checksumAlg: 'CRC32', checksumType: 'FULL_OBJECT' })), 4)
  t.equal(commandLevel(completeUpload(name, 1)), 1)
  t.equal(commandLevel(completeUpload(name, 1, { composite: COMPOSITE })), 4)
})
