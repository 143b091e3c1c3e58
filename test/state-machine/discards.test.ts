/** Bodies too large for one entry are released in steps of bounded work, and all counts are right after every step. */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { WORK_PER_STEP } from '../../src/state-machine/bodies/discards.ts'
import { PART_BYTES_MIN } from '../../src/state-machine/objects/limits.ts'
import type { DiscardedBodyRecord, DiscardRecord } from '../../src/state-machine/bodies/records.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import {
  fresh,
  type MapWorld,
  putChunks,
  recounted,
  releaseAll,
  remove,
  rowsOf,
  worldWithBucket,
} from './map-world.ts'
import { completeUpload, createUpload, putPart } from './upload-commands.ts'

function references(world: MapWorld): number {
  return rowsOf<ChunkRecord>(world, 'chunk').reduce((sum, chunk) => sum + chunk.references, 0)
}

/** How many links each step released until none was left. */
function stepsOf(world: MapWorld): readonly number[] {
  const steps: number[] = []
  for (let before = references(world); rowsOf(world, 'discarded').length > 0; before = references(world)) {
    world.do(release(world))
    steps.push(before - references(world))
    t.same(recounted(world), [])
  }
  t.equal(rowsOf(world, 'manifestPage').length + rowsOf(world, 'partPage').length, 0)
  return steps
}

function release(world: MapWorld, upTo = world.index) {
  const items = rowsOf<DiscardedBodyRecord>(world, 'discarded').map(({ discardedAt, id }) => ({
    discardedAt,
    id,
  }))
  return { type: 'releaseDue', upTo, items } as const
}

t.test('no body that was discarded after the mark is released', (t) => {
  const world = worldWithBucket()
  world.do(putChunks('early', ['c1', 'c2']))
  world.do(putChunks('late', ['c3']))
  world.do(remove('early'))
  const upTo = world.index
  world.do(remove('late'))
  const before = new Map(world.rows)
  t.same(world.do(release(world, upTo - 1)), { released: 0 })
  t.same(world.rows, before)
  t.same(world.do(release(world, upTo)), { released: 1 })
  t.equal(references(world), 1)
  t.same(world.do(release(world, upTo)), { released: 0 }, 'however often it is proposed')
  const [first] = release(world).items
  const late = first ?? { discardedAt: 0, id: '' }
  const wrong = {
    type: 'releaseDue',
    upTo: 999,
    items: [{ ...late, discardedAt: late.discardedAt - 1 }],
  } as const
  t.same(world.do(wrong), { released: 0 }, 'nor under another index')
  t.match(world.run({ type: 'releaseDue', upTo, items: Array(257).fill(late) }), { code: 'invalid_argument' })
  t.same(recounted(world), [])
  t.end()
})

t.test('many bodies share the work of one entry', (t) => {
  const world = worldWithBucket()
  for (let n = 0; n < 60; n++)
    world.do(
      putChunks(
        'k',
        Array.from({ length: 10 }, (_, i) => `c${n}x${i}`),
      ),
    )
  world.do(remove('k'))
  const steps = stepsOf(world)
  t.same(steps, [256, 256, 88])
  t.end()
})

t.test('a body of several pages of links', (t) => {
  const world = worldWithBucket()
  const chunks = Array.from({ length: 1300 }, (_, n) => `c${n}`)
  world.do(putChunks('k', chunks))
  world.do(remove('k'))
  const steps = stepsOf(world)
  t.equal(Math.max(...steps), WORK_PER_STEP)
  t.ok(Math.min(...steps) > 0 && steps.length <= 1300 / WORK_PER_STEP + 3, `${steps.length} steps`)
  t.end()
})

t.test('a body of parts, also where a part has several pages', (t) => {
  const world = worldWithBucket()
  const { uploadId } = world.do(createUpload('k'))
  const many = Array.from({ length: 1300 }, (_, n) => fresh(`m${n}`, { size: 5000 }))
  for (const [n, chunks] of [
    many,
    [fresh('c2', { size: PART_BYTES_MIN })],
    many.map((use) => ({ ...use, existing: true, replicas: [] })),
  ].entries())
    world.do(putPart({ key: 'k', uploadId, partNumber: n + 1 }, chunks))
  world.do(completeUpload({ key: 'k', uploadId }, 3))
  world.do(remove('k'))
  t.equal(references(world), 2601)
  const steps = stepsOf(world)
  t.equal(Math.max(...steps), WORK_PER_STEP)
  t.ok(Math.min(...steps) > 0 && steps.length <= 2601 / WORK_PER_STEP + 6, `${steps.length} steps`)
  t.equal(world.get(chunkKeys.chunk('acme', 'm1299'))?.references, 0)
  t.end()
})

t.test('discarded parts, for any number of named ones', (t) => {
  const world = worldWithBucket()
  const { uploadId } = world.do(createUpload('k'))
  const name = { tenantId: 'acme', bucket: 'photos', key: 'k', uploadId }
  const numbers = Array.from({ length: 60 }, (_, n) => n + 1)
  for (const partNumber of numbers) {
    const chunks = Array.from({ length: 16 }, (_, n) => `c${partNumber}x${n}`)
    world.do(putPart({ ...name, partNumber }, chunks))
  }
  world.do({ type: 'abortUpload', ...name })
  t.same(world.do({ type: 'releaseDiscarded', id: uploadId, partNumbers: numbers }), { isDone: false })
  const [left] = rowsOf<DiscardRecord>(world, 'discard')
  t.match(left?.what, { kind: 'upload', partCount: 44 }, '16 parts of 16 links')
  t.same(recounted(world), [])
  t.equal(releaseAll(world), 3)
  t.same(recounted(world), [])
  t.end()
})
