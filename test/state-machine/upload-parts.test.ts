/** The pages of an upload's parts against a map, after any history. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { Draft } from '../../src/state-machine/base/draft.ts'
import { PARTS_MAX } from '../../src/state-machine/objects/limits.ts'
import type { PartRecord } from '../../src/state-machine/bodies/records.ts'
import {
  findPart,
  PARTS_PER_UPLOAD_PAGE,
  partFinder,
  storePart,
  takeParts,
} from '../../src/state-machine/bodies/upload-parts.ts'
import { MapWorld, partsOf, rowsOf } from './map-world.ts'

const PLACE = { bucketId: 'b', uploadId: 'mpu' }

function part(partNumber: number, size: number): PartRecord {
  const about = { partId: `p${size}`, size, etag: `e${size}`, checksums: {}, lastModified: 0 }
  return { partNumber, ...about, body: { kind: 'empty' } }
}

function change<T>(world: MapWorld, work: (draft: Draft) => T): T {
  const draft = new Draft(world)
  const result = work(draft)
  for (const { key, row } of draft.writes()) {
    if (row === null) world.rows.delete(key)
    else world.rows.set(key, row)
  }
  return result
}

const number = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constantFrom(PARTS_MAX - 1, PARTS_MAX))
interface Step {
  readonly put: readonly number[]
  readonly take: readonly number[]
}

const step: fc.Arbitrary<Step> = fc.oneof(
  number.map((one) => ({ put: [one], take: [] })),
  fc.array(number, { maxLength: 40 }).map((some) => ({ put: [], take: some })),
  fc.array(number, { maxLength: 40 }).map((some) => ({ put: some, take: [] })),
)

t.test('agree with a map: each number once, ascending, no empty page', (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const [world, model] = [new MapWorld(), new Map<number, PartRecord>()]
      for (const [n, { put, take }] of steps.entries()) {
        change(world, (draft) => {
          for (const one of put) storePart(draft, PLACE, part(one, n))
        })
        for (const one of put) model.set(one, part(one, n))
        const expected = take.filter((one, at) => model.has(one) && take.indexOf(one) === at)
        const taken = change(world, (draft) => takeParts(draft, PLACE, take))
        assert.deepEqual(
          taken.map(({ partNumber }) => partNumber).sort((a, b) => a - b),
          expected.sort((a, b) => a - b),
        )
        for (const one of take) model.delete(one)
        assert.deepEqual(
          partsOf(world, 'b', 'mpu'),
          [...model.values()].sort((a, b) => a.partNumber - b.partNumber),
        )
        for (const { parts } of rowsOf<{ parts: PartRecord[] }>(world, 'uploadPage'))
          assert.ok(parts.length >= 1 && parts.length <= PARTS_PER_UPLOAD_PAGE)
        const find = partFinder(world, PLACE)
        for (const one of [...take, ...put, 1, 33, 32]) {
          assert.deepEqual(find(one), model.get(one))
          assert.deepEqual(findPart(world, PLACE, one), model.get(one))
        }
      }
    }),
    { seed: 53, numRuns: 100 },
  )
  t.end()
})

t.test('of an upload never show those of another', (t) => {
  const world = new MapWorld()
  change(world, (draft) => storePart(draft, PLACE, part(1, 1)))
  t.equal(findPart(world, { ...PLACE, uploadId: 'mpu2' }, 1), undefined)
  t.equal(findPart(world, { ...PLACE, bucketId: 'c' }, 1), undefined)
  t.same([...world.rows.keys()], [bodyKeys.uploadPage('b', 'mpu', 0)])
  t.end()
})
