/** Proofs of the listing of a directory, which is read once for many pages. */
import t from 'tap'
import { placeAfter, ShardListings } from '../../cluster/blobs/files/shard-listings.ts'
import { deferred } from '../helpers/async.ts'

t.test('ShardListings', async (t) => {
  t.test('reads a directory once for all its pages, and again after a change', async (t) => {
    const disk = new Map([['00', ['c', 'a', 'b']]])
    let reads = 0
    const listings = new ShardListings(async (shard) => {
      reads++
      return [...(disk.get(shard) ?? [])]
    })
    for (let page = 0; page < 1_000; page++) t.strictSame(await listings.of('00'), ['a', 'b', 'c'])
    t.equal(reads, 1)
    disk.set('00', ['c', 'a'])
    listings.forget('00')
    t.strictSame(await listings.of('00'), ['a', 'c'])
    listings.forgetAll()
    disk.clear()
    t.strictSame(await listings.of('00'), [])
  })

  t.test('keeps few listings, and none that changed while it was read', async (t) => {
    let reads = 0
    const gate = deferred()
    const listings = new ShardListings(async (shard) => {
      reads++
      if (shard === 'slow') await gate.promise
      return [shard]
    })
    for (const shard of ['00', '01', '02', '00']) await listings.of(shard)
    t.equal(reads, 4)
    const slow = listings.of('slow')
    listings.forget('slow')
    gate.resolve()
    await slow
    await listings.of('slow')
    t.equal(reads, 6)
  })

  t.test('finds the position of a name, present or absent', (t) => {
    const names = ['b', 'd', 'f']
    t.strictSame(
      ['', 'a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => placeAfter(names, name)),
      [0, 0, 1, 1, 2, 2, 3, 3],
    )
    t.equal(placeAfter([], 'a'), 0)
    t.end()
  })
})
