/** A disk is doubted after a single error or when flushes take long, and by nothing else; that alone changes nothing. */
import t from 'tap'
import { DiskHealth } from '../../cluster/blobs/disk/watched-file-ops.ts'
import { DisksWorld, largeBlobs, writeAll } from './disks-world.ts'

const failing = (code: string) => async () => {
  throw Object.assign(new Error(code), { code })
}

t.test('DiskHealth', async (t) => {
  t.test('doubts a disk after one error of it, also when calls succeed later', async (t) => {
    const health = new DiskHealth(3)
    await health.watch('a', failing('ENOENT')).catch(() => undefined)
    t.equal(health.doubt, null, 'a file that is not there says nothing')
    await health.watch('a', failing('EIO')).catch(() => undefined)
    await health.watch('a', async () => undefined)
    t.equal(health.doubt, 'errors')
    t.notOk(health.isSuspect)
  })

  t.test('doubts a disk when half of the last flushes are slow, and not for a few', async (t) => {
    let now = 0
    const health = new DiskHealth(3, () => now)
    const flush = (ms: number) =>
      health.flush('a', async () => {
        now += ms
      })
    for (let n = 0; n < 15; n++) await flush(5_000)
    t.equal(health.doubt, null)
    await flush(1_000)
    t.equal(health.doubt, 'slow_flushes')
    for (let n = 0; n < 17; n++) await flush(10)
    t.equal(health.doubt, null, 'the last ones count')
  })
})

t.test('a doubted disk is shown as such, and used', async (t) => {
  const world = await DisksWorld.make(t)
  const { set, store } = await world.open()
  await writeAll(store, largeBlobs(10))
  const [bad = ''] = world.directories
  world.broken = bad
  const [blob] = (
    await Promise.all(largeBlobs(10).map(async (one) => ((await world.where(one))[0] === bad ? [one] : [])))
  ).flat()
  if (blob !== undefined) await t.rejects(store.verify(blob))
  world.broken = null
  await set.look()
  t.match((await store.usage()).disks, [{ status: 'serving', doubt: 'errors' }, { status: 'serving' }])
  t.notOk('doubt' in ((await store.usage()).disks?.[1] ?? {}))
})
