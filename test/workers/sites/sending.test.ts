/** What is sent to another site, in which order, and what becomes of it, over a real store and a modelled target. [docs/adr/0090-replication-to-a-second-site.md] */
import t from 'tap'
import { SiteFault } from '../../../src/operations/base/remote-store.ts'
import { bucketKeys } from '../../../src/state-machine/buckets/keys.ts'
import { siteRanges } from '../../../src/state-machine/sites/keys.ts'
import { MARK_NAME, markText } from '../../../src/state-machine/sites/mark.ts'
import { recountState } from '../../../src/store/reads/recount-state.ts'
import { remove } from '../../state-machine/map-world.ts'
import { setReplication, siteRule } from '../../state-machine/site-commands.ts'
import { Bench } from './site-bench.ts'

const HOUR_MS = 3_600_000

const silent = () => new SiteFault('unreachable', 'PutObject was not answered in time')
const failed = () => new SiteFault('failed', 'The target stored other bytes than it was sent')

t.test('each change arrives, those of a key in their order', async (t) => {
  const bench = await Bench.start(t)
  for (const key of ['a', 'b', 'a', 'c', 'a']) await bench.put(key)
  await bench.propose(remove('c'))
  await bench.settle()
  t.same(bench.site.contents, await bench.contents())
  const ofA = bench.site.effects.filter((effect) => effect.startsWith('put a'))
  t.same(ofA, ['put a e1', 'put a e3', 'put a e5'])
  t.match(bench.state, { sent: 6, pending: 0 })
})

t.test('a change that waits for its next attempt holds back its key, and no other', async (t) => {
  const bench = await Bench.start(t)
  let isFirst = true
  bench.site.fault = (request) => {
    if (request !== 'put a' || !isFirst) return null
    isFirst = false
    return failed()
  }
  for (const key of ['a', 'a', 'b']) await bench.put(key)
  await bench.rounds()
  await bench.rounds()
  t.same(bench.site.effects, ['put b e3'], 'the second change of a does not pass the first')
  bench.site.fault = () => null
  await bench.settle()
  t.same(bench.site.effects, ['put b e3', 'put a e1', 'put a e2'])
})

t.test('a change that was given up and is repeated replaces nothing newer', async (t) => {
  const bench = await Bench.start(t)
  bench.site.fault = (request) =>
    request === 'put a' ? new SiteFault('refused', 'PutObject was answered 400 InvalidRequest') : null
  await bench.put('a')
  await bench.settle()
  bench.site.fault = () => null
  await bench.put('a')
  await bench.settle()
  const range = siteRanges.failedSiteChanges(bench.world.photos.id)
  const { items } = await bench.world.store.reader.page(range, { limit: 10 })
  t.match(items, [{ key: 'a', lastError: /InvalidRequest/ }])
  const changeIds = items.map(({ changeId }) => changeId)
  await bench.world.do({ type: 'retrySiteChanges', tenantId: 'acme', name: 'photos', changeIds })
  await bench.settle()
  t.same(bench.site.effects, ['put a e2'])
  t.match(bench.state, { failed: 0, skipped: 1 })
})

t.test('an answer that is lost makes no second version', async (t) => {
  const bench = await Bench.start(t)
  bench.site.lost = (request) => (request.startsWith('put') || request.startsWith('remove') ? silent() : null)
  await bench.put('a')
  await bench.rounds()
  t.match(bench.state, { pending: 1, failures: 1 })
  bench.site.lost = () => null
  await bench.propose(remove('a'))
  await bench.settle()
  t.same(bench.site.effects, ['put a e1', 'remove a'])
  t.match(bench.state, { failed: 0, sent: 2 })
})

t.test('a target that is away for days gives nothing up', async (t) => {
  const bench = await Bench.start(t)
  bench.site.fault = silent
  for (let n = 0; n < 20; n++) await bench.put(`k${n}`)
  for (let hour = 0; hour < 72; hour++) {
    await bench.rounds()
    bench.world.later(HOUR_MS)
  }
  t.match(bench.state, { pending: 20, failed: 0 })
  t.ok((bench.state.failingSince ?? 0) < bench.world.time - 70 * HOUR_MS, 'and the state says since when')
  bench.site.fault = () => null
  await bench.settle()
  t.same(bench.site.contents, await bench.contents())
})

t.test('a node that leaves duty lets nothing arrive behind its follower', async (t) => {
  const bench = await Bench.start(t)
  await bench.put('a')
  let release = (): void => undefined
  bench.site.before = (request) =>
    request === 'put a' ? new Promise((resolve) => (release = () => resolve(undefined))) : Promise.resolve()
  const old = bench.sending
  await old.round()
  bench.site.before = async () => undefined
  bench.duty.isOn = false
  await old.round()
  bench.duty.isOn = true
  bench.sending = bench.another()
  await bench.put('a')
  await bench.settle()
  release()
  await old.idle()
  t.same(bench.site.effects, ['put a e1', 'put a e2'], 'the late request of the old node changes nothing')
  await old.close()
})

t.test(
  'what comes between question and change is looked at again at once, a bounded number of times',
  async (t) => {
    const bench = await Bench.start(t)
    let changes = 1
    bench.site.before = async (request) => {
      if (request !== 'put a' || changes-- <= 0) return
      const bytes = Buffer.from('another')
      const made = {
        isDeleteMarker: false,
        etag: `x${changes}`,
        size: 7,
        versionId: `x${changes}`,
        modifiedAt: 0,
      }
      const plain = { crc64nvme: null, mark: null, metadata: {}, tags: {}, retention: null, legalHold: false }
      bench.site.keys.set('a', [{ ...made, ...plain, bytes }])
    }
    await bench.put('a')
    await bench.rounds()
    t.same(bench.site.effects, ['put a e1'])
    t.match(bench.state, { pending: 0, sent: 1 }, 'without waiting for another attempt')
    changes = 100
    await bench.put('a')
    await bench.rounds()
    t.match(bench.state, { pending: 1, failures: 0, lastError: /PreconditionFailed/ })
  },
)

t.test('conflicts', async (t) => {
  t.test('the later second wins; what loses is counted', async (t) => {
    const bench = await Bench.start(t)
    const there = (ms: number) => ({
      clusterId: 'cluster-b',
      bucketId: 'B',
      versionId: '0'.repeat(26),
      time: bench.world.time + ms,
    })
    const at = (key: string, ms: number) =>
      bench.site.keys.set(key, [
        {
          isDeleteMarker: false,
          etag: 'other',
          size: 5,
          versionId: 'x',
          modifiedAt: 0,
          crc64nvme: null,
          mark: there(ms),
          bytes: Buffer.from('other'),
          metadata: {},
          tags: {},
          retention: null,
          legalHold: false,
        },
      ])
    at('older', -5000)
    at('later', 5000)
    for (const key of ['older', 'later']) await bench.put(key)
    await bench.settle()
    t.same([bench.site.contents.get('older'), bench.site.contents.get('later')], ['e1', 'other'])
    t.match(bench.state, { conflicts: 1, sent: 1 })
    await bench.propose(remove('later'))
    await bench.settle()
    t.equal(bench.site.contents.get('later'), 'other', 'a deletion that lost deletes nothing')
    t.match(bench.state, { conflicts: 2 })
  })

  t.test(
    'what was made over a version of the other site replaces it there, whatever the clocks say',
    async (t) => {
      const bench = await Bench.start(t, { identity: 'cluster-z Z' })
      bench.site.now = () => bench.world.time + HOUR_MS
      for (const key of ['a', 'b']) {
        const versionId = bench.site.write(key, `other ${key}`)
        const mark = markText({ clusterId: 'cluster-z', bucketId: 'Z', versionId, time: bench.site.now() })
        await bench.put(key, { metadata: { [MARK_NAME]: mark } })
      }
      await bench.put('a')
      await bench.propose(remove('b'))
      await bench.settle()
      t.same(bench.site.contents, new Map([['a', 'e3']]))
      t.match(bench.state, { conflicts: 0 })
    },
  )

  t.test('what the other site has written over is not sent again', async (t) => {
    const bench = await Bench.start(t)
    bench.site.lost = (request) => (request.startsWith('put') ? silent() : null)
    await bench.put('a')
    await bench.rounds()
    bench.site.write('a', 'over', 0)
    bench.site.lost = () => null
    await bench.settle()
    t.same(bench.site.effects, ['put a e1'])
    t.match(bench.state, { sent: 1 })
  })

  t.test('a resync hides no later version of this site that the other one has written over', async (t) => {
    const bench = await Bench.start(t)
    for (let n = 0; n < 2; n++) await bench.put('a')
    await bench.settle()
    bench.site.write('a', 'over', 0)
    await bench.propose({ type: 'startResync', tenantId: 'acme', name: 'photos' })
    await bench.settle()
    t.same(bench.site.effects, ['put a e1', 'put a e2'])
  })

  t.test('what came from there is not sent back, also by a resync', async (t) => {
    const bench = await Bench.start(t)
    const mark = markText({ clusterId: 'cluster-b', bucketId: 'B', versionId: '0'.repeat(26), time: 1 })
    await bench.put('a', { metadata: { [MARK_NAME]: mark } })
    await bench.propose({ type: 'startResync', tenantId: 'acme', name: 'photos' })
    await bench.settle()
    t.same(bench.site.effects, [])
  })
})

t.test(
  'of delete markers in a row the target has one, which goes when none hides the object here',
  async (t) => {
    const bench = await Bench.start(t, { rules: [siteRule({ deletes: 'all' })] })
    await bench.put('a')
    for (let n = 0; n < 2; n++) await bench.propose(remove('a'))
    await bench.settle()
    const [second, first] = await bench.versionsOf('a')
    await bench.propose(remove('a', first ?? ''))
    await bench.settle()
    t.same(bench.site.contents, new Map(), 'the other marker hides it')
    await bench.propose(remove('a', second ?? ''))
    await bench.settle()
    t.same(bench.site.contents, new Map([['a', 'e1']]))
  },
)

t.test('retention that has ended is not sent, and one that ends on the way gives nothing up', async (t) => {
  const bench = await Bench.start(t, { hasLock: true })
  const until = bench.world.time + HOUR_MS
  bench.site.fault = silent
  await bench.put('a', { retention: { mode: 'COMPLIANCE', until } })
  await bench.rounds()
  bench.world.later(2 * HOUR_MS)
  let isFirst = true
  bench.site.fault = (request) => {
    if (request !== 'put b' || !isFirst) return null
    isFirst = false
    bench.world.later(2 * HOUR_MS)
    return new SiteFault('refused', 'PutObject was answered 400 InvalidRequest')
  }
  await bench.put('b', { retention: { mode: 'COMPLIANCE', until: bench.world.time + HOUR_MS } })
  await bench.settle()
  t.same(
    ['a', 'b'].map((key) => bench.site.keys.get(key)?.map(({ retention }) => retention)),
    [[null], [null]],
  )
  t.match(bench.state, { failed: 0, sent: 2 })
})

t.test('tags and locks follow their version', async (t) => {
  const bench = await Bench.start(t)
  await bench.put('a', { tags: { x: '1' } })
  await bench.put('a')
  await bench.settle()
  const [first] = [...(bench.site.keys.get('a') ?? [])].reverse()
  const versionId = first?.mark?.versionId ?? ''
  const name = { tenantId: 'acme', bucket: 'photos', key: 'a' }
  await bench.propose({ type: 'setObjectTags', ...name, versionId, tags: { x: '2' } })
  await bench.settle()
  t.same(first?.tags, { x: '2' }, 'of the older version, by its mark')
  t.same(bench.site.keys.get('a')?.[0]?.tags, {})
})

t.test('a version that is removed by its id goes there by `all`', async (t) => {
  const bench = await Bench.start(t, { rules: [siteRule({ deletes: 'all' })] })
  await bench.put('a')
  await bench.put('a')
  await bench.settle()
  const versionId = bench.site.keys.get('a')?.[1]?.mark?.versionId ?? ''
  await bench.propose(remove('a', versionId))
  await bench.settle()
  t.same(
    bench.site.keys.get('a')?.map(({ bytes }) => bytes.toString()),
    ['e2'],
  )
})

t.test('a resync sends what was there, the versions of a key in their order', async (t) => {
  const bench = await Bench.start(t, { existing: true })
  for (let n = 0; n < 300; n++) await bench.put(`k${n % 150}`)
  await bench.world.do(setReplication(bench.world.store.reader, [siteRule()], true))
  await bench.settle()
  t.same(bench.site.contents, await bench.contents())
  t.match(bench.state.resync, { queued: 300 })
  const ids = [...bench.site.keys.values()].map((versions) =>
    versions.map(({ mark }) => mark?.versionId ?? ''),
  )
  t.ok(ids.every((of) => of.length === 2 && (of[0] ?? '') > (of[1] ?? '')))
})

t.test('removed replication leaves no row and sends nothing more', async (t) => {
  const bench = await Bench.start(t)
  for (let n = 0; n < 600; n++) await bench.put(`k${n}`)
  await bench.world.do({ type: 'deleteBucketReplication', tenantId: 'acme', name: 'photos' })
  while (await bench.resyncing.round());
  await bench.sending.round()
  t.same(bench.site.effects, [])
  const { items } = await bench.world.store.reader.page(siteRanges.siteStates(), { limit: 10 })
  t.same(items, [])
  t.equal(bench.world.store.reader.get(bucketKeys.bucket('acme', 'photos'))?.hasReplication, undefined)
})

/** A small generator with a seed. */
function drawn(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}

for (let seed = 1; seed <= 12; seed++) {
  t.test(
    `seed ${seed}: outages of hours, lost answers, lies and other nodes on duty: the sites converge in order`,
    async (t) => {
      const isVersioned = seed % 3 !== 0
      const bench = await Bench.start(t, { isVersioned, rules: [siteRule({ deletes: 'all' })] })
      const random = drawn(seed)
      const { site, world } = bench
      let isAway = false
      site.fault = (request) => {
        if (isAway || random() < 0.05) return silent()
        return random() < 0.05 ? (request.startsWith('put') ? failed() : silent()) : null
      }
      site.lost = () => (random() < 0.1 ? silent() : null)
      for (let step = 0; step < 200; step++) {
        const key = `k${Math.floor(random() * 6)}`
        const chance = random()
        if (chance < 0.35) await bench.put(key)
        else if (chance < 0.5) await bench.propose(remove(key))
        else if (chance < 0.55)
          await bench.propose({
            type: 'setObjectTags',
            tenantId: 'acme',
            bucket: 'photos',
            key,
            versionId: null,
            tags: { n: `${step}` },
          })
        else if (chance < 0.6) isAway = !isAway
        else if (chance < 0.65) world.later(Math.floor(random() * 8 * HOUR_MS))
        else if (chance < 0.7) {
          const old = bench.sending
          bench.duty.isOn = false
          await old.round()
          bench.duty.isOn = true
          bench.sending = bench.another()
          t.teardown(() => old.close())
        } else await bench.sending.round()
      }
      isAway = false
      site.fault = () => null
      site.lost = () => null
      await bench.settle()
      const failures = (
        await world.store.reader.page(siteRanges.failedSiteChanges(world.photos.id), { limit: 1000 })
      ).items
      if (failures.length > 0) {
        const changeIds = failures.map(({ changeId }) => changeId)
        await world.do({
          type: 'retrySiteChanges',
          tenantId: 'acme',
          name: 'photos',
          changeIds: changeIds.slice(0, 256),
        })
        await bench.settle()
      }
      t.same(Object.fromEntries(site.contents), Object.fromEntries(await bench.contents()))
      for (const [key, versions] of site.keys) {
        const marks = versions.map(({ mark }) => mark?.versionId ?? '')
        t.ok(
          marks.every((id, n) => n === 0 || id < (marks[n - 1] ?? '')),
          `${key}: no version above a newer one`,
        )
      }
      t.same((await recountState(world.store.reader, () => true))?.differences, [])
    },
  )
}
