/** The walk over the chunks of a bucket sees all of them, for any place at which it is cut and started again. */
import t from 'tap'
import { ALL_PLANNED } from '../../src/state-machine/long-operations/operations.ts'
import { chunksOfBucket, chunksOfTenant } from '../../src/store/reads/chunk-walk.ts'
import { PART_BYTES_MIN } from '../../src/state-machine/objects/limits.ts'
import { createTenant, fresh, put, putChunks, remove } from '../state-machine/map-world.ts'
import { completeUpload, createUpload, putPart } from '../state-machine/upload-commands.ts'
import { StoreWorld } from '../store/store-world.ts'

/** Ids of all chunks, taking `limit` at a time and continuing behind the `taken`th of them. */
async function walk(world: StoreWorld, limit: number, taken = limit): Promise<string[]> {
  const seen: string[] = []
  for (let position = ''; position !== ALL_PLANNED; ) {
    const { chunks, next } = await chunksOfBucket(world.store.reader, world.photos, position, limit)
    const some = chunks.slice(0, taken)
    seen.push(...some.map(({ chunk }) => chunk.id))
    position = some.length < chunks.length ? (some.at(-1)?.position ?? ALL_PLANNED) : next
  }
  return seen
}

t.test('chunksOfBucket', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const ids: string[] = []
  for (const [n, count] of [3, 1, 0, 7, 1500, 2].entries()) {
    const mine = Array.from({ length: count }, (_, i) => `k${n}x${i}`)
    ids.push(...mine)
    if (count > 0) await world.do(putChunks(`k${n}`, mine))
    else await world.do(put(`k${n}`, { kind: 'empty' }, 0))
  }
  for (const [limit, taken] of [
    [1000, 1000],
    [256, 256],
    [256, 255],
    [4, 1],
    [3, 3],
  ] as const) {
    t.strictSame(await walk(world, limit, taken), ids, `${limit} at a time, ${taken} of them taken`)
  }

  t.test('sees what older versions, parts of objects and parts of uploads name', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const versioning = { tenantId: 'acme', name: 'photos', versioning: 'Enabled' } as const
    await world.do({ type: 'setBucketVersioning', ...versioning })
    for (const chunk of ['older', 'newer']) await world.do(putChunks('k', [chunk]))
    await world.do(remove('k'))
    for (const [key, chunks] of [
      ['assembled', ['p1', 'p2']],
      ['under way', ['p3']],
    ] as const) {
      const { uploadId } = await world.do(createUpload(key))
      for (const [n, chunk] of chunks.entries())
        await world.do(
          putPart({ key, uploadId, partNumber: n + 1 }, [fresh(chunk, { size: PART_BYTES_MIN })]),
        )
      if (key !== 'under way') await world.do(completeUpload({ key, uploadId }, chunks.length))
    }
    for (const limit of [1, 2, 100])
      t.same(new Set(await walk(world, limit)), new Set(['older', 'newer', 'p1', 'p2', 'p3']))
  })

  t.test('passes over many objects without chunks', async (t) => {
    const empty = await StoreWorld.withBucket(t)
    for (let n = 0; n < 150; n++) await empty.do(put(`k${String(n).padStart(3, '0')}`, { kind: 'empty' }, 0))
    await empty.do(putChunks('z', ['c1']))
    t.strictSame(await walk(empty, 10), ['c1'])
  })
})

t.test('chunksOfTenant gives those of one tenant, in steps', async (t) => {
  const world = await StoreWorld.withBucket(t)
  await world.do(createTenant('acmf'))
  await world.do(putChunks('k', ['c1', 'c2', 'c3']))
  const first = await chunksOfTenant(world.store.reader, 'acme', '', 2)
  const rest = await chunksOfTenant(world.store.reader, 'acme', first[1]?.position ?? '', 2)
  t.strictSame(
    [...first, ...rest].map(({ chunk }) => chunk.id),
    ['c1', 'c2', 'c3'],
  )
  t.strictSame(await chunksOfTenant(world.store.reader, 'acmf', '', 2), [])
  t.strictSame(
    await chunksOfTenant(world.store.reader, 'acm', '', 2),
    [],
    'a tenant whose name begins another',
  )
})
