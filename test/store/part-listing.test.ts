/** Listings of parts, page by page, against all of them at once. */
import assert from 'node:assert/strict'
import t from 'tap'
import fc from 'fast-check'
import { createUpload, putPart } from '../state-machine/upload-commands.ts'
import { StoreWorld } from './store-world.ts'
import { pageOfParts, type PartsPage } from '../../src/store/reads/part-listing.ts'
import { levelOf } from '../helpers/database-rows.ts'

const empty = (uploadId: string, partNumber: number) => ({
  ...putPart({ key: 'k', uploadId, partNumber }, []),
  body: { kind: 'empty' as const },
})

t.test('pages of any size show every part once, by its number', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const number = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 10_000 }))
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(number, { maxLength: 120, size: 'max' }),
      fc.array(fc.integer({ min: 1, max: 130 }), { minLength: 1, maxLength: 3 }),
      async (numbers, limits) => {
        const { uploadId } = await world.do(createUpload('k'))
        await world.apply(numbers.map((partNumber) => empty(uploadId, partNumber)))
        const sorted = numbers.toSorted((a, b) => a - b)
        for (const limit of limits) {
          const shown: number[] = []
          for (let after: number | null = 0; after !== null; ) {
            const page: PartsPage = await pageOfParts(
              world.store.reader,
              { bucketId: world.photos.id, uploadId },
              { after, limit },
            )
            assert.ok(page.parts.length === limit || page.next === null, 'a page before the last is full')
            shown.push(...page.parts.map(({ partNumber }) => partNumber))
            after = page.next
          }
          assert.deepEqual(shown, sorted)
        }
      },
    ),
    { seed: 54, numRuns: 25 },
  )
})

t.test('a page reads about as many rows as it fills', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { uploadId } = await world.do(createUpload('k'))
  const numbers = Array.from({ length: 3200 }, (_, n) => n + 1)
  await world.apply(numbers.map((partNumber) => empty(uploadId, partNumber)))
  const { db } = world.store.stateMachine.handle.current
  const opened = t.capture(levelOf(db), 'iterator', levelOf(db).iterator.bind(db))
  const page: PartsPage = await pageOfParts(
    world.store.reader,
    { bucketId: world.photos.id, uploadId },
    { after: 640, limit: 64 },
  )
  t.match(page, { next: 704, parts: { length: 64 } })
  const [one] = opened()
  t.ok(one !== undefined && 'returned' in one && one.returned.count <= 3)
})
