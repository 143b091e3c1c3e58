/** What a bucket held before it was replicated is queued page by page. [docs/adr/0090-replication-to-a-second-site.md] */
import t from 'tap'
import { siteKeys } from '../../src/state-machine/sites/keys.ts'
import { MARK_NAME, markText } from '../../src/state-machine/sites/mark.ts'
import { bucketId } from './hook-commands.ts'
import { type MapWorld, put, recounted, rowsOf, worldWithBucket } from './map-world.ts'
import { MARK, namesOf, setReplication, siteRule, siteState, waiting } from './site-commands.ts'

const EMPTY = { kind: 'empty' } as const
const marked = (key: string) => ({ ...put(key, EMPTY, 0), metadata: { [MARK_NAME]: markText(MARK) } })

function replicated(): MapWorld {
  const world = worldWithBucket()
  world.do(setReplication(world))
  return world
}

t.test('a resync', async (t) => {
  const page = (world: MapWorld, place: string, next: string | null, keys: readonly string[]) => {
    const resync = siteState(world).resync
    const versions = new Map(
      rowsOf<{ key: string; versionId: string }>(world, 'object').map((one) => [one.key, one.versionId]),
    )
    const items = keys.map((key) => ({ key, versionId: versions.get(key) ?? 'gone' }))
    const { id: resyncId = 0 } = resync ?? {}
    return world.do({ type: 'queueExisting', bucketId: bucketId(world), resyncId, place, next, items })
  }

  t.test('counts what only its client can read, and queues the rest', async (t) => {
    const world = worldWithBucket()
    world.do({
      ...put('a', EMPTY, 0),
      customerSeal: { salt: 'salt', proof: 'proof' },
    })
    world.do(put('b', EMPTY, 0))
    world.do(setReplication(world, [siteRule()], true))
    t.same(page(world, '', null, ['a', 'b']), { queued: 1 })
    t.match(siteState(world), { notReplicable: 0, resync: { queued: 1, notReplicable: 1 } })
    t.same(namesOf(waiting(world)), ['put b'])
  })

  t.test('queues what is there and named, page by page, each page once', async (t) => {
    const world = worldWithBucket()
    for (const key of ['a', 'b', 'x/c']) world.do(put(key, EMPTY, 0))
    world.do(marked('m'))
    world.do(
      setReplication(
        world,
        [
          siteRule({ id: 'x', prefix: 'x/' }),
          siteRule({ tags: { no: 'no' }, deletes: 'none' }),
          siteRule({ id: 'm', prefix: 'm' }),
          siteRule({ id: 'a', prefix: 'a' }),
        ],
        true,
      ),
    )
    t.same(page(world, '', 'b', ['a', 'b', 'gone']), { queued: 1 })
    t.same(page(world, '', 'b', ['a', 'b']), { queued: 0 }, 'the same page again')
    t.match(siteState(world).resync, { place: 'b', queued: 1, endedAt: null })
    t.same(page(world, 'b', null, ['m', 'x/c']), { queued: 1 })
    t.same(namesOf(waiting(world)), ['put a', 'put x/c'])
    t.match(siteState(world).resync, { queued: 2, endedAt: world.time - 0 })
    t.same(page(world, 'b', null, ['m', 'x/c']), { queued: 0 }, 'it is over')
    t.same(recounted(world), [])
  })

  t.test('that is started again forgets the place of the one before', async (t) => {
    const world = replicated()
    world.do({ type: 'startResync', tenantId: 'acme', name: 'photos' })
    page(world, '', 'b', [])
    const { resync } = world.do({ type: 'startResync', tenantId: 'acme', name: 'photos' })
    t.match(resync, { place: '', queued: 0 })
    t.ok(world.get(siteKeys.busySite(bucketId(world))))
    page(world, '', null, [])
    t.notOk(world.get(siteKeys.busySite(bucketId(world))))
  })

  t.test('not_found without replication', async (t) => {
    const world = worldWithBucket()
    t.match(world.run({ type: 'startResync', tenantId: 'acme', name: 'photos' }), {
      ok: false,
      code: 'not_found',
    })
  })
})
