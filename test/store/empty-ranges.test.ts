/** Ranges in which nothing lies are read once, until something is written; and what is written is never missed. */
import t, { type Test } from 'tap'
import { rangeOf } from '../../src/state-machine/base/row-key.ts'
import { versionRanges } from '../../src/state-machine/versions/keys.ts'
import { lastRow } from '../../src/store/reads/row-page.ts'
import { EmptyRanges } from '../../src/store/rows/empty-ranges.ts'
import { put } from '../state-machine/map-world.ts'
import { heldBatches, StoreWorld } from './store-world.ts'

/** Iterators of the database that were opened since. */
function opened(t: Test, world: StoreWorld): () => number {
  const { db } = world.store.stateMachine.handle.current
  const captured = t.capture(db, 'iterator', db.iterator.bind(db))
  return () => captured().length
}

t.test('an empty range is read once, and again after each write', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader } = world.store
  const objects = versionRanges.objects(world.photos.id)
  const pages = opened(t, world)
  const read = async () => [
    (await reader.page(objects, { limit: 5 })).items.length,
    (await lastRow(reader, objects)) === null ? 0 : 1,
  ]
  t.same(await read(), [0, 0])
  t.equal(pages(), 1, 'the second read has learned from the first')
  t.same(await read(), [0, 0])
  t.equal(pages(), 0)
  await world.apply([put('k', { kind: 'empty' }, 0)])
  t.same(await read(), [1, 1])
  t.same(await read(), [1, 1])
  t.equal(pages(), 4, 'what lies there is read each time')
})

t.test('a page behind a row, and one of a prefix, say nothing of the whole range', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { reader } = world.store
  const objects = versionRanges.objects(world.photos.id)
  await world.apply([put('k', { kind: 'empty' }, 0)])
  t.same((await reader.page(objects, { limit: 5, after: 'k' })).items, [])
  t.same((await reader.page(objects, { limit: 5, prefix: 'x' })).items, [])
  t.equal((await reader.page(objects, { limit: 5 })).items.length, 1)
})

t.test('a read beside a write is not remembered', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const { db } = world.store.stateMachine.handle.current
  const { reader } = world.store
  const objects = versionRanges.objects(world.photos.id)
  const count = async () => (await reader.page(objects, { limit: 5 })).items.length
  const before = count()
  const beside: Promise<number>[] = []
  t.intercept(db, 'batch', {
    value: heldBatches(db, async (write) => {
      beside.push(count())
      await Promise.all(beside)
      await write()
      beside.push(count())
    }),
  })
  await world.apply([put('k', { kind: 'empty' }, 0)])
  await before
  t.same(await Promise.all(beside), [0, 1])
  t.equal(await count(), 1)
})

t.test('a range that ends elsewhere is another one, and there are not more than may be', (t) => {
  const ranges = new EmptyRanges()
  const { start, end } = rangeOf('a')
  ranges.found({ start, end: `${start}5` }, ranges.moment)
  t.notOk(ranges.has({ start, end }))
  t.ok(ranges.has({ start, end: `${start}5` }))
  for (let n = 0; n < 256; n++) ranges.found(rangeOf(`${n}`), ranges.moment)
  t.notOk(ranges.has({ start, end: `${start}5` }))
  t.ok(ranges.has(rangeOf('255')))
  const { moment } = ranges
  const failed = ranges.writing()
  t.equal(ranges.moment, null)
  ranges.found({ start, end }, moment)
  t.notOk(ranges.has({ start, end }))
  failed()
  ranges.found({ start, end }, moment)
  t.notOk(ranges.has({ start, end }), 'read before the write')
  ranges.found({ start, end }, ranges.moment)
  t.ok(ranges.has({ start, end }))
  t.end()
})
