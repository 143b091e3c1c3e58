/**
 * Proofs of the watch over a real directory: an inventory at the start, and recovery from the loss of the directory.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { CopyWatch } from '../../cluster/repair/copy-watch.ts'
import { ScrubFile } from '../../cluster/repair/scrub-file.ts'
import { StoreMarker } from '../../cluster/repair/store-marker.ts'
import { Throttle } from '../../cluster/repair/throttle.ts'
import { type SampleBlob, sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { until } from '../helpers/async.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'
import { RowBook } from './row-book.ts'
import { WEEK_MS } from './scrub-bench.ts'

class Place {
  readonly root: string
  readonly directory: string
  readonly clock = new VirtualClock()
  readonly book = new RowBook()
  readonly store: DiskBlobStore
  readonly watch: CopyWatch
  reopened = 0
  reopenFault: Error | null = null

  private constructor(t: Test, root: string) {
    this.root = root
    this.directory = join(root, 'blobs')
    const { directory, clock, book: ledger } = this
    const store = new DiskBlobStore({
      directory,
      logger: SILENT,
      onFatal: (error) => t.fail(error.message),
    })
    this.store = store
    this.watch = new CopyWatch({
      nodeId: 'n1',
      store,
      reopenStore: async () => {
        if (this.reopenFault !== null) throw this.reopenFault
        this.reopened++
        await store.reopen()
      },
      marker: new StoreMarker({ directory, draw: () => randomBytes(16).toString('hex') }),
      scrubFile: new ScrubFile(join(root, 'scrub.json')),
      ledger,
      remover: { remove: async () => false },
      locks: new CopyLocks(),
      throttle: new Throttle(clock, null),
      clock,
      logger: SILENT,
      scrubEveryMs: WEEK_MS,
      onLost: () => undefined,
    })
    t.teardown(() => this.watch.stop())
  }

  static async make(t: Test): Promise<Place> {
    const root = await mkdtemp(join(tmpdir(), 'holdfast-watch-'))
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const place = new Place(t, root)
    await place.store.open()
    t.teardown(() => place.store.close())
    return place
  }

  async add(seed: number): Promise<SampleBlob> {
    const blob = sampleBlob(seed)
    await this.store.write(blob, streamOf(blob.bytes), blob)
    this.book.list(blob)
    return blob
  }

  async started(): Promise<void> {
    this.watch.start()
    await until('the first inventory is done', () => this.watch.status().inventory.runs === 1)
  }

  /** Advances the clock by minutes until the condition holds. */
  minutesUntil(what: string, condition: () => boolean): Promise<void> {
    return until(what, async () => {
      if (!condition()) await this.clock.advance(60_000)
      return condition()
    })
  }

  get lost(): number {
    return this.watch.status().directoriesLost
  }
}

t.test('CopyWatch', async (t) => {
  t.test('compares rows and disk at once at its start, then scrubs, and stores the position', async (t) => {
    const place = await Place.make(t)
    const [good, gone] = [await place.add(1), await place.add(2)]
    await place.store.remove([gone])
    await place.started()
    t.strictSame(place.book.reported, [[gone.birth]])
    t.equal(place.clock.now(), 0)
    await place.minutesUntil('the scrub has been through', () => place.watch.status().scrub.copies === 1)
    t.equal((await place.store.verify(good)).size, good.size)
    await place.watch.stop()
    t.type(await new ScrubFile(join(place.root, 'scrub.json')).read(), 'object')
    t.equal(place.clock.pending, 0)
  })

  t.test('opens a missing directory again within a minute, and reports all its copies', async (t) => {
    const place = await Place.make(t)
    const blobs = [await place.add(1), await place.add(2), await place.add(3)]
    await place.started()
    await rm(place.directory, { recursive: true })
    await place.clock.advance(60_000)
    await until('all are reported', () => place.book.reported.flat().length === 3)
    t.equal(place.lost, 1)
    for (const blob of blobs) await place.store.write(blob, streamOf(blob.bytes), blob)
    await place.minutesUntil('it checked again', () => place.watch.status().inventory.runs >= 3)
    t.strictSame([place.lost, place.reopened], [1, 2])
    const runs = place.watch.status().inventory.runs
    for (let minute = 0; minute < 5; minute++) await place.clock.advance(60_000)
    t.strictSame([place.reopened, place.watch.status().inventory.runs], [2, runs], 'and then stops checking')
  })

  t.test('checks at once when two consecutive copies are judged missing, not when one is', async (t) => {
    const place = await Place.make(t)
    await place.add(1)
    await place.started()
    await rm(place.directory, { recursive: true })
    place.watch.onJudged('missing')
    place.watch.onJudged('good')
    place.watch.onJudged('missing')
    await place.clock.advance(0)
    t.equal(place.lost, 0)
    place.watch.onJudged('missing')
    await until('the directory is there', () => place.reopened === 1)
    await until('the copy is reported', () => place.book.reported.length === 1)
    t.equal(place.clock.now(), 0)
  })

  t.test('detects another directory in its place, and the return of the old one', async (t) => {
    const place = await Place.make(t)
    const blob = await place.add(1)
    await place.started()
    const aside = join(place.root, 'aside')
    await rename(place.directory, aside)
    await mkdir(place.directory)
    await place.minutesUntil('the empty one is accepted', () => place.book.reported.flat().length === 1)
    await place.minutesUntil('twice', () => place.watch.status().inventory.runs === 3)
    await rm(place.directory, { recursive: true })
    await rename(aside, place.directory)
    await place.minutesUntil('the old one is detected', () => place.lost === 2)
    t.equal((await place.store.verify(blob)).size, blob.size)
  })

  t.test('retries until the directory can be created', async (t) => {
    const place = await Place.make(t)
    await place.add(1)
    await place.started()
    place.reopenFault = new Error('read-only file system')
    await rm(place.directory, { recursive: true })
    for (let minute = 0; minute < 5; minute++) await place.clock.advance(60_000)
    t.equal(place.reopened, 0)
    place.reopenFault = null
    await place.minutesUntil('it is made', () => place.book.reported.flat().length === 1)
  })

  t.test(
    'recognizes its directory after a restart, and gives another directory another marker',
    async (t) => {
      const place = await Place.make(t)
      await place.started()
      const path = join(place.directory, 'present')
      const mark = await readFile(path, 'utf8')
      const marker = (draw: () => string) => new StoreMarker({ directory: place.directory, draw })
      await marker(() => 'f'.repeat(32)).accept()
      t.equal(await readFile(path, 'utf8'), mark)
      await rm(path)
      const again = marker(() => 'f'.repeat(32))
      await again.accept()
      t.equal(await readFile(path, 'utf8'), `${'f'.repeat(32)}\n`)
      t.equal(await again.isThere(), true)
      t.equal((await stat(path)).mode & 0o777, 0o600)
    },
  )
})
