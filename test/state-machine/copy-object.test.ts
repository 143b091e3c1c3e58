/** Server-side copies: other versions that name the same chunks, for every kind of body. */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { kindOf } from '../../src/state-machine/base/row-key.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { OBJECT_COPY_BYTES_MAX, PART_BYTES_MIN } from '../../src/state-machine/objects/limits.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import {
  createBucket,
  fresh,
  type MapWorld,
  put,
  putChunks,
  recounted,
  releaseAll,
  remove,
  worldWithBucket,
} from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

type Copy = Extract<Command, { type: 'copyObject' }>

function copy(from: string, versionId: string, to: string, more: Partial<Copy> = {}): Copy {
  const {
    size: _size,
    etag: _etag,
    checksums: _sums,
    body: _body,
    idempotency: _key,
    ...requested
  } = put(to, { kind: 'empty' }, 0)
  return { ...requested, type: 'copyObject', source: { bucket: 'photos', key: from, versionId }, ...more }
}

const references = (world: MapWorld, id: string) => world.get(chunkKeys.chunk('acme', id))?.references

function assembled(world: MapWorld): ObjectRecord {
  const { uploadId } = world.do(createUpload('k'))
  const name = { key: 'k', uploadId }
  world.do(putPart({ ...name, partNumber: 1 }, [fresh('c1', { size: PART_BYTES_MIN })]))
  const { body, ...part } = putPart({ ...name, partNumber: 2 }, [])
  void body
  world.do({ ...part, size: 7, body: { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(5) } })
  return world.do(completeUpload(name, 2))
}

const SOURCES: Readonly<Record<string, (world: MapWorld) => ObjectRecord>> = {
  'an empty body': (world) => world.do(put('k', { kind: 'empty' }, 0)).object,
  'an inline body': (world) =>
    world.do(put('k', { kind: 'inline', chunkId: 'ci', sealed: Uint8Array.of(5) }, 7)).object,
  'a body of chunks': (world) =>
    world.do(
      putChunks(
        'k',
        ['c1', 'c2', 'c1'].map((id, n) => (n === 2 ? fresh(id) : fresh(id))),
      ),
    ).object,
  'a large body': (world) =>
    world.do(
      putChunks(
        'k',
        Array.from({ length: 40 }, (_, n) => `c${n}`),
      ),
    ).object,
  'a body of parts': assembled,
}

t.test('copyObject', (t) => {
  for (const [name, source] of Object.entries(SOURCES)) {
    t.test(`of ${name}: the copy outlives its source, and nothing is left of either`, (t) => {
      const world = worldWithBucket()
      world.do(createBucket('other'))
      const object = source(world)
      const twin = world.do(copy('k', object.versionId, 'twin', { bucket: 'other', contentType: 'a/b' }))
      t.match(twin, { size: object.size, etag: object.etag, key: 'twin', contentType: 'a/b' })
      t.same(recounted(world), [])
      world.do(remove('k'))
      releaseAll(world)
      t.same(recounted(world), [])
      if (references(world, 'c1') !== undefined)
        t.ok((references(world, 'c1') ?? 0) > 0, 'still named by the copy')
      world.do(remove('twin', null, 'other'))
      releaseAll(world)
      t.same(recounted(world), [])
      t.same(
        [...world.rows.keys()].filter((key) =>
          ['inlineBody', 'manifestPage', 'partPage', 'uploadPage'].includes(kindOf(key)),
        ),
        [],
      )
      t.end()
    })

    t.test(`of ${name} onto itself replaces it, and never releases its chunks in between`, (t) => {
      const world = worldWithBucket()
      const object = source(world)
      const before = references(world, 'c1')
      const again = world.do(copy('k', object.versionId, 'k', { metadata: { a: 'b' } }))
      t.match(again, { size: object.size, etag: object.etag, metadata: { a: 'b' } })
      t.not(again.versionId, object.versionId)
      releaseAll(world)
      t.equal(references(world, 'c1'), before)
      t.same(recounted(world), [])
      t.match(world.run(copy('k', object.versionId, 'k')), { code: 'not_found' }, 'that version is gone')
      t.end()
    })
  }

  t.test('checksums that come along are added, and replace a composite one', (t) => {
    const world = worldWithBucket()
    const object = assembled(world)
    const { checksums } = object
    t.same(world.do(copy('k', object.versionId, 'plain')).checksums, checksums)
    const { uploadId } = world.do(createUpload('c'))
    world.do(putPart({ key: 'c', uploadId, partNumber: 1 }, [fresh('c9')]))
    const composite = { algorithm: 'CRC32', checksum: 'AAAAAA==-1' } as const
    const whole = world.do({ ...completeUpload({ key: 'c', uploadId }, 1), composite })
    t.same(world.do(copy('c', whole.versionId, 'as-it-is')).composite, composite)
    const digested = world.do(copy('c', whole.versionId, 'digested', { checksums: { SHA1: 'x' } }))
    t.same(digested.checksums, { ...whole.checksums, SHA1: 'x' })
    t.notOk('composite' in digested)
    t.end()
  })

  t.test('copies an older version, and a null one by its own id', (t) => {
    const world = worldWithBucket()
    const { object: first } = world.do(putChunks('k', ['c1']))
    world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    world.do(putChunks('k', ['c2']))
    const restored = world.do(copy('k', first.versionId, 'k'))
    t.match(restored, { size: 10, isNull: false, older: /./ })
    t.equal(references(world, 'c1'), 2)
    t.same(recounted(world), [])
    t.end()
  })

  t.test('not_found when the version is gone, is a delete marker, or the bucket does not exist', (t) => {
    const world = worldWithBucket()
    world.do({ type: 'setBucketVersioning', tenantId: 'acme', name: 'photos', versioning: 'Enabled' })
    const { object } = world.do(putChunks('k', ['c1']))
    world.do(putChunks('k', ['c2']))
    const { version } = world.do(remove('k')) as { version: ObjectRecord }
    world.do(remove('k', object.versionId))
    for (const id of [object.versionId, version.versionId, 'x'])
      t.match(world.run(copy('k', id, 'twin')), { code: 'not_found' }, 'never another version instead')
    const elsewhere = { bucket: 'none', key: 'k', versionId: object.versionId }
    t.match(world.run(copy('k', object.versionId, 'twin', { source: elsewhere })), { code: 'not_found' })
    t.end()
  })

  t.test('entity_too_large above the size of one put, then the checks of every new version in order', (t) => {
    const world = worldWithBucket()
    const { object } = world.do(putChunks('k', ['c1']))
    const { id } = world.do(createBucket('other'))
    void id
    const row = [...world.rows.keys()].find((key) => key.includes('\u0000object\u0000')) ?? ''
    world.rows.set(row, { ...object, size: OBJECT_COPY_BYTES_MAX + 1 })
    t.match(world.run(copy('k', object.versionId, 'twin')), { code: 'entity_too_large' })
    world.rows.set(row, object)
    const never = { ifMatch: ['*'], ifNoneMatch: null }
    t.match(world.run(copy('k', object.versionId, 'twin', { precondition: never })), {
      code: 'precondition_failed',
    })
    world.do({ type: 'setQuota', tenantId: 'acme', maxBytes: 19, maxObjects: null, maxBuckets: null })
    t.match(world.run(copy('k', object.versionId, 'twin')), { code: 'quota_exceeded' })
    t.match(world.run(copy('k', object.versionId, 'k')), { ok: true }, 'the replaced version frees quota')
    t.match(world.run(copy('k', object.versionId, 'k', { legalHold: true })), { ok: false })
    t.end()
  })
  t.end()
})
