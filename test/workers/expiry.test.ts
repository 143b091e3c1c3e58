/** What ends when, over a real store whose log gives the time. */
import t from 'tap'
import { Expiry } from '../../src/workers/expiry.ts'
import { SILENT } from '../helpers/loggers.ts'
import { put } from '../state-machine/map-world.ts'
import { createUpload } from '../state-machine/upload-commands.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'
import { objectKeys, objectRanges } from '../../src/state-machine/objects/keys.ts'

const HOUR_MS = 3_600_000

async function bench(t: Teardown) {
  const world = await StoreWorld.withBucket(t)
  const { reader: state } = world.store
  const clock = { now: 0, isJobRunner: true }
  const expiry = new Expiry({
    cluster: { isJobRunner: () => clock.isJobRunner },
    state,
    propose: world.propose,
    confirmedTime: () => clock.now,
    logger: SILENT,
  })
  const left = async () =>
    (await state.page(objectRanges.expiries(Number.MAX_SAFE_INTEGER - 1), { limit: 1000 })).items.length
  return { world, clock, expiry, left }
}

const answered = (n: number) => ({
  ...put('k', { kind: 'empty' } as const, 0),
  idempotency: { key: `i${n}`, fingerprint: 'f' },
})

t.test('Expiry', async (t) => {
  t.test('ends what is due and nothing else, and only on duty', async (t) => {
    const { world, clock, expiry, left } = await bench(t)
    await world.do(answered(1))
    const { uploadId } = await world.do(createUpload('u'))
    t.equal(await left(), 2)
    world.later(25 * HOUR_MS)
    clock.now = world.time
    clock.isJobRunner = false
    t.equal(await expiry.round(), false)
    t.equal(await left(), 2)
    clock.isJobRunner = true
    t.equal(await expiry.round(), false)
    t.equal(await left(), 1, 'the answer is forgotten, the upload continues')
    t.ok(world.store.reader.get(objectKeys.upload(world.photos.id, 'u', uploadId)))
    world.later(7 * 24 * HOUR_MS)
    clock.now = world.time
    await expiry.round()
    t.equal(await left(), 0)
    t.notOk(world.store.reader.get(objectKeys.upload(world.photos.id, 'u', uploadId)))
    t.equal(world.photos.uploadCount, 0)
  })

  t.test('a clock that is ahead of the log ends nothing', async (t) => {
    const { world, clock, expiry, left } = await bench(t)
    await world.do(answered(1))
    clock.now = world.time + 48 * HOUR_MS
    t.equal(await expiry.round(), false, 'and it is not asked again at once')
    t.equal(await left(), 1)
  })

  t.test('works off a long queue without waiting in between', async (t) => {
    const { world, clock, expiry, left } = await bench(t)
    await world.apply(Array.from({ length: 200 }, (_, n) => answered(n)))
    world.later(25 * HOUR_MS)
    clock.now = world.time
    t.equal(await expiry.round(), true)
    t.equal(await expiry.round(), false)
    t.equal(await left(), 0)
  })
})
