/**
 * The parts of stored objects: pages of them, and where each lies.
 */
import assert from 'node:assert/strict'
import t from 'tap'
import { getObject } from '../../src/operations/objects/get-object.ts'
import { getObjectParts, type ObjectPartsPage } from '../../src/operations/objects/get-object-parts.ts'
import { placedPart } from '../../src/operations/objects/object-parts.ts'
import { headObject } from '../../src/operations/objects/object-lookups.ts'
import { PARTS_PER_PAGE } from '../../src/state-machine/bodies/bodies.ts'
import type { View } from '../../src/state-machine/base/view.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import type { ObjectPart } from '../../src/state-machine/bodies/records.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { versionKeys } from '../../src/state-machine/versions/keys.ts'
import { collected } from '../helpers/async.ts'
import { patternBytes } from '../helpers/content-world.ts'
import { principalOf } from './copy-world.ts'
import { large, S3UploadWorld } from './s3-upload-world.ts'

const BODIES = [large(1), large(2), patternBytes(5, 3)]
const FILM = { bucket: 'films', key: 'film', versionId: undefined }
const ALL = { maxParts: undefined, partNumberMarker: undefined }

async function assembled(world: S3UploadWorld): Promise<void> {
  const upload = await world.create('film', { checksumAlg: 'SHA1', checksumType: 'COMPOSITE' })
  const parts = []
  for (const [n, bytes] of BODIES.entries()) parts.push(await world.part(upload, 10 * n + 5, bytes))
  await world.complete(
    upload,
    parts.map(({ partNumber, etag }) => ({ partNumber, etag })),
  )
}

/** An object of `count` parts, of n bytes by its rows part n, none of them stored. The rows have no checksums. */
async function manyParts(world: S3UploadWorld, count: number): Promise<void> {
  await assembled(world)
  const { memory } = world.films.world
  const bucket = memory.services.state.get(bucketKeys.bucket('acme', 'films'))
  assert(bucket !== undefined)
  const object = memory.services.state.get(versionKeys.object(bucket.id, 'film'))
  assert(object !== undefined)
  const size = (count * (count + 1)) / 2
  await memory.writeRow(versionKeys.object(bucket.id, 'film'), {
    ...object,
    size,
    body: { kind: 'parts', count },
  })
  for (let page = 0; page * PARTS_PER_PAGE < count; page++) {
    const numbers = Array.from(
      { length: Math.min(PARTS_PER_PAGE, count - page * PARTS_PER_PAGE) },
      (_, n) => n,
    )
    const parts = numbers.map((n): ObjectPart => {
      const number = page * PARTS_PER_PAGE + n + 1
      return { partId: `p${number}`, size: number, body: { kind: 'empty' } }
    })
    await memory.writeRow(bodyKeys.partPage(bucket.id, object.versionId, page), { parts })
  }
}

t.test('getObjectParts', async (t) => {
  t.test('shows the parts of an assembled object by their places, page by page', async (t) => {
    const world = await S3UploadWorld.start(t)
    await assembled(world)
    const { services, principal } = world
    const all = await getObjectParts(services, principal, { ...FILM, ...ALL })
    t.match(all, {
      object: { key: 'film' },
      partCount: 3,
      maxParts: 1000,
      partNumberMarker: 0,
      next: null,
      parts: BODIES.map((body, n) => ({
        number: n + 1,
        size: body.length,
        uploadedAs: 10 * n + 5,
        checksums: { SHA1: String, CRC64NVME: String },
      })),
    })
    const first = await getObjectParts(services, principal, { ...FILM, ...ALL, maxParts: 2 })
    t.match(first, { next: 2, parts: { length: 2 } })
    const second = await getObjectParts(services, principal, { ...FILM, maxParts: 2, partNumberMarker: 2 })
    t.match(second, { next: null, partNumberMarker: 2 })
    t.strictSame([...first.parts, ...second.parts], all.parts)
    for (const partNumberMarker of [3, 10_000, 1e9])
      t.match(await getObjectParts(services, principal, { ...FILM, ...ALL, partNumberMarker }), {
        next: null,
        parts: { length: 0 },
      })
  })

  t.test('has none of an object that was not assembled', async (t) => {
    const world = await S3UploadWorld.start(t)
    await world.put('film', Buffer.from('x'))
    const page = await getObjectParts(world.services, world.principal, { ...FILM, ...ALL })
    t.match(page, { partCount: null, next: null })
    t.strictSame(page.parts, [])
  })

  t.test('goes through the pages of parts of earlier versions, which have no checksums', async (t) => {
    const world = await S3UploadWorld.start(t)
    await manyParts(world, 2500)
    const seen: number[] = []
    for (let marker: ObjectPartsPage['next'] = 0; marker !== null; ) {
      const input = { ...FILM, maxParts: 700, partNumberMarker: marker }
      const page: ObjectPartsPage = await getObjectParts(world.services, world.principal, input)
      for (const part of page.parts) {
        assert.deepEqual(part, { number: part.number, size: part.number, checksums: null, uploadedAs: null })
        seen.push(part.number)
      }
      marker = page.next
    }
    t.strictSame(
      seen,
      Array.from({ length: 2500 }, (_, n) => n + 1),
    )
  })

  t.test('access_denied without the right to read, not_found where nothing is', async (t) => {
    const world = await S3UploadWorld.start(t)
    await assembled(world)
    const writer = await principalOf(world.films, 'write')
    await t.rejects(getObjectParts(world.services, writer, { ...FILM, ...ALL }), { code: 'access_denied' })
    await t.rejects(getObjectParts(world.services, world.principal, { ...FILM, key: 'k', ...ALL }), {
      code: 'not_found',
    })
  })
})

t.test('part of getObject and headObject', async (t) => {
  t.test('gives the range of each part, with which its bytes are read', async (t) => {
    const world = await S3UploadWorld.start(t)
    await assembled(world)
    const found = await getObject(world.services, world.principal, FILM)
    const head = await headObject(world.services, world.principal, FILM)
    for (const [n, body] of BODIES.entries()) {
      const part = found.part(n + 1)
      t.match(part, { number: n + 1, size: body.length, uploadedAs: 10 * n + 5, checksums: { SHA1: String } })
      t.strictSame(head.part(n + 1), part)
      const bytes = await collected(found.read(part?.range ?? { start: 0, end: 0 }))
      t.ok(Buffer.concat(bytes).equals(body))
    }
    for (const none of [0, 4, -1, 1.5, Number.NaN, 10_001]) t.equal(found.part(none), null, `${none}`)
  })

  t.test('an object that was not assembled is its only part', async (t) => {
    const world = await S3UploadWorld.start(t)
    for (const bytes of [Buffer.alloc(0), Buffer.from('hello'), patternBytes(300_000)]) {
      const { object } = await world.put('film', bytes)
      const found = await getObject(world.services, world.principal, FILM)
      t.match(found.part(1), { number: 1, size: bytes.length, range: { start: 0, end: bytes.length } })
      t.strictSame(found.part(1)?.checksums, object.checksums)
      t.equal(found.part(2), null)
    }
  })

  t.test('sums up the sizes before it, at the borders of pages too', async (t) => {
    const world = await S3UploadWorld.start(t)
    await manyParts(world, 2500)
    const head = await headObject(world.services, world.principal, FILM)
    const part = (number: number) => head.part(number)
    for (const number of [1, 2, 999, 1000, 1001, 1002, 2000, 2001, 2500]) {
      const start = (number * (number - 1)) / 2
      t.strictSame(part(number)?.range, { start, end: start + number }, `part ${number}`)
    }
    t.equal(part(2501), null)
  })

  t.test('reads one page where the starts of pages are kept', async (t) => {
    const world = await S3UploadWorld.start(t)
    await manyParts(world, 2500)
    const { bucket, object } = await headObject(world.services, world.principal, FILM)
    const pageStarts = [1, 2].map((page) => (page * PARTS_PER_PAGE * (page * PARTS_PER_PAGE + 1)) / 2)
    const placed = { ...object, body: { kind: 'parts', count: 2500, pageStarts } } as const
    const { state } = world.services
    const keys: string[] = []
    const view: View = {
      get: (key) => {
        keys.push(key)
        return state.get(key)
      },
    }
    for (const number of [1, 1000, 1001, 2000, 2001, 2500]) {
      keys.length = 0
      const start = (number * (number - 1)) / 2
      const found = placedPart(view, { bucketId: bucket.id, object: placed }, number)
      t.strictSame(found?.range, { start, end: start + number }, `part ${number}`)
      t.strictSame(keys, [
        bodyKeys.partPage(bucket.id, object.versionId, Math.floor((number - 1) / PARTS_PER_PAGE)),
      ])
    }
  })

  t.test(
    'asks to look again when the object was replaced since, rather than to give other ranges',
    async (t) => {
      const world = await S3UploadWorld.start(t)
      await manyParts(world, 1500)
      const { memory } = world.films.world
      const head = await headObject(world.services, world.principal, FILM)
      const { bucket, object } = head
      const part = (number: number) => head.part(number)
      const page = (number: number) => bodyKeys.partPage(bucket.id, object.versionId, number)
      await memory.writeRow(page(1), { parts: [{ partId: 'p', size: 1001, body: { kind: 'empty' } }] })
      t.ok(part(1001))
      t.throws(() => part(1500), { name: 'BodyGoneError' }, 'its last page becomes shorter first')
      await memory.removeRow(page(1))
      await memory.removeRow(page(0))
      t.throws(() => part(1), { name: 'BodyGoneError' })
    },
  )
})
