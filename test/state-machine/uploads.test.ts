/** Multipart uploads: each refusal by its code, completion exactly once, and the end of uploads that are not completed. */
import t from 'tap'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { objectKeys } from '../../src/state-machine/objects/keys.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { readManifest } from '../../src/state-machine/bodies/manifests.ts'
import { readParts } from '../../src/state-machine/bodies/bodies.ts'
import {
  PART_BYTES_MAX,
  PART_BYTES_MIN,
  PARTS_MAX,
  UPLOADS_PER_BUCKET_MAX,
} from '../../src/state-machine/objects/limits.ts'
import type { DiscardRecord } from '../../src/state-machine/bodies/records.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import type { ObjectRecord } from '../../src/state-machine/versions/records.ts'
import {
  createBucket,
  fresh,
  type MapWorld,
  put,
  recounted,
  releaseAll,
  remove,
  rowsOf,
  worldWithBucket,
} from './map-world.ts'
import { completeUpload, createUpload, putPart, UPLOAD_LASTS_MS } from './upload-commands.ts'

const DAY_MS = 24 * 3_600_000
const photos = (world: MapWorld): BucketRecord => {
  const bucket = world.get(bucketKeys.bucket('acme', 'photos'))
  if (bucket === undefined) throw new Error('no bucket')
  return bucket
}
const large = (id: string) => fresh(id, { size: PART_BYTES_MIN })

/** Parts 1 and 2 large enough, part 3 small; each of one chunk, named after it. */
function started(world = worldWithBucket()) {
  const { uploadId } = world.do(createUpload('k'))
  const name = { key: 'k', uploadId }
  for (const partNumber of [1, 2]) world.do(putPart({ ...name, partNumber }, [large(`c${partNumber}`)]))
  world.do(putPart({ ...name, partNumber: 3 }, ['c3']))
  return { world, name }
}

function chunksOf(world: MapWorld, { versionId: id, body }: ObjectRecord): readonly string[] {
  if (body.kind !== 'parts') throw new Error('it is assembled')
  const bucket = photos(world)
  return readParts(world, { bucket, id }, body.count).flatMap(({ partId, body: piece }) =>
    piece.kind === 'chunks' ? readManifest(world, bucket.id, partId, piece.count).map((link) => link.id) : [],
  )
}

t.test('putPart', (t) => {
  t.test('counts in bucket and tenant from its entry on; a part sent again counts once', (t) => {
    const { world, name } = started()
    t.match(photos(world), {
      uploadCount: 1,
      uploadBytes: 2 * PART_BYTES_MIN + 10,
      objectCount: 0,
      logicalBytes: 0,
    })
    world.do(putPart({ ...name, partNumber: 1 }, ['c4', 'c5']))
    t.match(photos(world), { uploadBytes: PART_BYTES_MIN + 30 })
    t.match(world.get(usageKeys.usage('acme')), {
      uploads: 1,
      uploadBytes: PART_BYTES_MIN + 30,
      logicalBytes: 0,
    })
    t.match(world.get(chunkKeys.chunk('acme', 'c1')), { references: 0 }, 'the earlier bytes are released')
    t.match(world.get(objectKeys.upload(photos(world).id, 'k', name.uploadId)), { partCount: 3 })
    t.same(recounted(world), [])
    t.end()
  })

  t.test('invalid_argument, entity_too_large, not_found', (t) => {
    const { world, name } = started()
    for (const partNumber of [0, PARTS_MAX + 1, 1.5, -1])
      t.match(world.run(putPart({ ...name, partNumber }, ['c9'])), { code: 'invalid_argument' })
    const part = putPart({ ...name, partNumber: PARTS_MAX }, ['c9'])
    t.match(world.run({ ...part, size: PART_BYTES_MAX + 1 }), { code: 'entity_too_large' })
    t.match(
      world.run({ ...part, size: 11 }),
      { code: 'invalid_argument' },
      'a size that is not that of its chunks',
    )
    t.match(world.run({ ...part, uploadId: 'mpu_none' }), { code: 'not_found' })
    t.match(world.run({ ...part, key: 'other' }), { code: 'not_found' }, 'an upload belongs to one key')
    t.match(world.run(part), { ok: true })
    t.end()
  })
  t.end()
})

t.test('completeUpload', (t) => {
  t.test(
    'makes one version of the named parts, exactly once, and returns the same answer for a day [multipart.complete.again]',
    (t) => {
      const { world, name } = started()
      const command = completeUpload(name, 3)
      const object = world.do(command)
      t.match(object, {
        size: 2 * PART_BYTES_MIN + 10,
        etag: 'assembled-3',
        body: { kind: 'parts', count: 3 },
      })
      t.same(chunksOf(world, object), ['c1', 'c2', 'c3'])
      t.match(photos(world), { uploadCount: 0, uploadBytes: 0, objectCount: 1, logicalBytes: object.size })
      const rows = new Map(world.rows)
      t.same(world.do(command), object)
      t.same(world.rows, rows, 'the repeat changes nothing')
      t.match(
        world.run(completeUpload(name, 2)),
        { code: 'not_found' },
        'other parts make another completion',
      )
      t.match(world.run(putPart({ ...name, partNumber: 4 }, ['c4'])), { code: 'not_found' })
      world.time += DAY_MS
      world.do({ type: 'expire', items: [{ at: world.time - 7 * 3, id: name.uploadId }, ...due(world)] })
      t.match(world.run(command), { code: 'not_found' }, 'after a day the answer has expired')
      t.same(recounted(world), [])
      t.end()
    },
  )

  t.test('invalid_part when one was never uploaded or has another etag, invalid_part_order', (t) => {
    const { world, name } = started()
    const one = { partNumber: 1, etag: 'etag of 1' }
    const two = { partNumber: 2, etag: 'etag of 2' }
    const run = (parts: readonly { partNumber: number; etag: string }[]) =>
      world.run(completeUpload(name, 0, { parts }))
    t.match(run([one, { partNumber: 7, etag: 'x' }]), { code: 'invalid_part', message: /Part 7 was never/ })
    t.match(run([{ ...one, etag: 'x' }]), { code: 'invalid_part', message: /has the etag "etag of 1"/ })
    t.match(run([two, one]), { code: 'invalid_part_order' })
    t.match(run([one, one]), { code: 'invalid_part_order' }, 'nor twice')
    t.match(run([{ ...one, partNumber: 0 }]), { code: 'invalid_part_order' })
    t.match(run([]), { code: 'invalid_request' })
    t.match(run(Array.from({ length: PARTS_MAX + 1 }, () => one)), { code: 'invalid_request' })
    t.end()
  })

  t.test('entity_too_small when a part that is not the last has less than 5 MiB', (t) => {
    const { world, name } = started()
    world.do(putPart({ ...name, partNumber: 4 }, ['c4']))
    t.match(world.run(completeUpload(name, 4)), { code: 'entity_too_small', message: /Part 3/ })
    t.match(world.run(completeUpload(name, 3)), { ok: true })
    t.end()
  })

  t.test('entity_too_large when the parts make more than an object may have [limits.object]', (t) => {
    const { world, name } = started()
    const { id } = photos(world)
    for (const partNumber of [1, 2]) {
      const key = bodyKeys.uploadPage(id, name.uploadId, 0)
      const { parts } = world.get(key) ?? { parts: [] }
      const size = PARTS_MAX * PART_BYTES_MAX
      world.rows.set(key, {
        parts: parts.map((part) => (part.partNumber === partNumber ? { ...part, size } : part)),
      })
    }
    t.match(world.run(completeUpload(name, 2)), { code: 'entity_too_large' })
    t.end()
  })

  t.test('precondition_failed does not change the upload', (t) => {
    const { world, name } = started()
    world.do(put('k', { kind: 'empty' }, 0))
    const rows = new Map(world.rows)
    const never = { ifMatch: null, ifNoneMatch: ['*'] }
    t.match(world.run(completeUpload(name, 3, { precondition: never })), { code: 'precondition_failed' })
    t.same(world.rows, rows)
    t.end()
  })

  t.test('releases the parts that the request does not name', (t) => {
    const { world, name } = started()
    world.do(completeUpload(name, 1))
    t.match(rowsOf<DiscardRecord>(world, 'discard'), [
      { id: name.uploadId, what: { kind: 'upload', partCount: 2, bytes: PART_BYTES_MIN + 10 } },
    ])
    t.match(photos(world), { uploadBytes: 0, logicalBytes: PART_BYTES_MIN })
    t.equal(releaseAll(world), 1)
    for (const [chunk, references] of [
      ['c1', 1],
      ['c2', 0],
      ['c3', 0],
    ] as const)
      t.equal(world.get(chunkKeys.chunk('acme', chunk))?.references, references)
    t.same(recounted(world), [])
    t.end()
  })

  t.test('keeps the settings of its creation, also a retention that has ended since', (t) => {
    const world = worldWithBucket()
    world.do(createBucket('vault', { versioning: 'Enabled', objectLockEnabled: true }))
    const retention = { mode: 'COMPLIANCE', until: world.time + DAY_MS } as const
    const requested = {
      bucket: 'vault',
      retention,
      tags: { a: 'b' },
      metadata: { m: 'x' },
      contentType: 'image/png',
    }
    const { uploadId } = world.do(createUpload('k', requested))
    world.do({ ...putPart({ key: 'k', uploadId, partNumber: 1 }, ['c1']), bucket: 'vault' })
    world.time += 2 * DAY_MS
    const object = world.do(completeUpload({ key: 'k', uploadId }, 1, { bucket: 'vault' }))
    const { bucket: _bucket, ...kept } = requested
    t.match(object, kept)
    t.match(world.run(createUpload('k', { ...requested, bucket: 'photos' })), {
      code: 'object_lock_not_enabled',
    })
    t.match(
      world.run(createUpload('k', requested)),
      { code: 'invalid_request' },
      'in a new upload it is in the past',
    )
    t.end()
  })

  t.test('takes 10,000 parts in one entry, and they are released in bounded steps', (t) => {
    const world = worldWithBucket()
    const { uploadId } = world.do(createUpload('k'))
    for (let first = 1; first <= PARTS_MAX; first += 500)
      world.entry(
        Array.from({ length: 500 }, (_, n) =>
          putPart({ key: 'k', uploadId, partNumber: first + n }, [large(`c${first + n}`)]),
        ),
      )
    t.match(photos(world), { uploadBytes: PARTS_MAX * PART_BYTES_MIN })
    const object = world.do(completeUpload({ key: 'k', uploadId }, PARTS_MAX))
    t.match(object, { size: PARTS_MAX * PART_BYTES_MIN, body: { kind: 'parts', count: PARTS_MAX } })
    t.equal(rowsOf(world, 'uploadPage').length, 0)
    t.equal(rowsOf(world, 'partPage').length, 10)
    world.do(remove('k'))
    t.equal(releaseAll(world), 40, '256 of one chunk each in a step, of one page of parts')
    t.same(recounted(world), [])
    t.equal(rowsOf(world, 'manifestPage').length, 0)
    t.end()
  })
  t.end()
})

/** All items in the queue. */
function due(world: MapWorld) {
  return rowsOf<{ at: number; id: string }>(world, 'expiry').map(({ at, id }) => ({ at, id }))
}

t.test('an upload that ends without completion', (t) => {
  t.test(
    'by its owner: counts change at once, bytes are released in steps, and repeating it succeeds',
    (t) => {
      const { world, name } = started()
      const command = { type: 'abortUpload', tenantId: 'acme', bucket: 'photos', ...name } as const
      world.do(command)
      t.match(photos(world), { uploadCount: 0, uploadBytes: 0 })
      t.same(due(world), [], 'its expiry row is removed')
      t.equal(world.do(command), null)
      t.equal(releaseAll(world), 1)
      t.same(rowsOf(world, 'uploadPage'), [])
      t.same(recounted(world), [])
      t.end()
    },
  )

  t.test('by time, and not before [multipart.expiry]', (t) => {
    const { world, name } = started()
    world.time += UPLOAD_LASTS_MS - 1000
    t.same(world.do({ type: 'expire', items: due(world) }), { expired: 0 })
    t.match(photos(world), { uploadCount: 1 })
    world.time += 1000
    const items = due(world)
    t.same(world.do({ type: 'expire', items: [...items, ...items] }), { expired: 1 }, 'once')
    t.match(photos(world), { uploadCount: 0, uploadBytes: 0 })
    t.match(world.run(completeUpload(name, 3)), { code: 'not_found' })
    releaseAll(world)
    t.same(recounted(world), [])
    t.end()
  })

  t.test('permits deleting its bucket before its bytes are released', (t) => {
    const { world, name } = started()
    t.match(world.run({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' }), {
      code: 'bucket_not_empty',
    })
    world.do({ type: 'abortUpload', tenantId: 'acme', bucket: 'photos', ...name })
    world.do({ type: 'deleteBucket', tenantId: 'acme', name: 'photos' })
    t.same(recounted(world), [])
    t.equal(releaseAll(world), 1)
    t.same(recounted(world), [])
    t.end()
  })

  t.test('does not count as released while parts are left, for any proposal', (t) => {
    const { world, name } = started()
    world.do({ type: 'abortUpload', tenantId: 'acme', bucket: 'photos', ...name })
    const release = { type: 'releaseDiscarded', id: name.uploadId } as const
    t.same(world.do({ ...release, partNumbers: [] }), { isDone: false })
    t.same(world.do({ ...release, partNumbers: [1, 1, 9] }), { isDone: false })
    t.match(world.run({ ...release, partNumbers: Array.from({ length: 257 }, () => 1) }), {
      code: 'invalid_argument',
    })
    t.same(world.do({ ...release, partNumbers: [2, 3] }), { isDone: true })
    t.same(world.do({ ...release, partNumbers: [2, 3] }), { isDone: true }, 'and again')
    t.same(recounted(world), [])
    t.end()
  })
  t.end()
})

t.test('a bucket has a bound of unfinished uploads, and an ended one permits another', (t) => {
  const world = worldWithBucket()
  const first = world.do(createUpload('k'))
  world.rows.set(bucketKeys.bucket('acme', 'photos'), {
    ...photos(world),
    uploadCount: UPLOADS_PER_BUCKET_MAX - 1,
  })
  world.do(createUpload('k'))
  t.match(world.run(createUpload('k')), { code: 'invalid_bucket_state', message: /complete or abort/ })
  world.do({ type: 'abortUpload', tenantId: 'acme', bucket: 'photos', key: 'k', uploadId: first.uploadId })
  t.match(world.run(createUpload('k')), { ok: true })
  t.end()
})
