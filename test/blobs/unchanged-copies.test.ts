/**
 * What a store knows about copies without reading them: after a clean stop, all of them except missing and truncated ones; after an
 * unclean stop, none.
 */
import { mkdtemp, readdir, rename, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { type FileOps, systemFileOps } from '../../cluster/base/file-ops.ts'
import { SILENT } from '../helpers/loggers.ts'
import { copyOfOpen } from '../store/open-copy.ts'
import { type SampleBlob, sampleBlob, streamOf } from './blob-samples.ts'

const PACKED = [1, 2, 3, 4].map((seed) => sampleBlob(seed, 5_000))
const FILED = [5, 6].map((seed) => sampleBlob(seed, 300_000))
const ALL = [...PACKED, ...FILED]

class Place {
  readonly directory: string
  readonly #t: Test
  /** Files opened for reading since the last call. */
  opened: string[] = []

  private constructor(t: Test, root: string) {
    this.#t = t
    this.directory = join(root, 'blobs')
  }

  static async make(t: Test): Promise<Place> {
    const root = await mkdtemp(join(tmpdir(), 'holdfast-left-'))
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const place = new Place(t, root)
    const store = await place.open()
    for (const blob of ALL) await store.write(blob, streamOf(blob.bytes), blob)
    await store.close()
    return place
  }

  async open(): Promise<DiskBlobStore> {
    const fileOps: FileOps = {
      ...systemFileOps,
      openForRead: (path) => {
        this.opened.push(path)
        return systemFileOps.openForRead(path)
      },
    }
    const onFatal = (error: Error): void => void this.#t.fail(error.message)
    const store = new DiskBlobStore({ directory: this.directory, logger: SILENT, onFatal, fileOps })
    await store.open()
    return store
  }

  /** The answer for each of ALL, after a start. */
  async answersAfterStart(): Promise<readonly boolean[]> {
    const store = await this.open()
    const answers = await store.areUnchanged(ALL)
    await store.close()
    return answers
  }

  pathOf({ id, birth }: SampleBlob): string {
    return join(this.directory, id.slice(0, 2), `${id}.${birth}`)
  }

  async pack(): Promise<string> {
    const [name = ''] = await readdir(join(this.directory, 'packs'))
    return join(this.directory, 'packs', name)
  }
}

t.test('what a store knows about copies without reading them', async (t) => {
  t.test('covers every copy after a clean stop, without opening a file', async (t) => {
    const place = await Place.make(t)
    const store = await place.open()
    place.opened = []
    t.strictSame(
      await store.areUnchanged(ALL),
      ALL.map(() => true),
    )
    t.ok(
      place.opened.every((path) => path.endsWith('.pack')),
      place.opened.join(' '),
    )
    const others = ALL.slice(0, 2).map(({ id, birth, size }) => ({ id, birth, size: size + 1 }))
    t.strictSame(await store.areUnchanged(others), [false, false], 'but not of copies of another size')
    await store.close()
  })

  t.test('covers no copy after an unclean stop', async (t) => {
    const place = await Place.make(t)
    const killed = await place.open()
    await killed.areUnchanged(ALL)
    const copy = `${place.directory}-copy`
    copyOfOpen(place.directory, copy)
    await killed.close()
    await rm(place.directory, { recursive: true })
    await rename(copy, place.directory)
    t.strictSame(
      await place.answersAfterStart(),
      ALL.map(() => false),
    )
    t.strictSame(
      await place.answersAfterStart(),
      ALL.map(() => true),
      'the next stop was clean again',
    )
  })

  t.test('excludes copies of a missing pack, and those beyond the end of a truncated one', async (t) => {
    const place = await Place.make(t)
    const path = await place.pack()
    await truncate(path, 1_024 + 2 * 5_632)
    const answers = await place.answersAfterStart()
    t.equal(answers.slice(0, 4).filter(Boolean).length, 2)
    t.strictSame(answers.slice(4), [true, true])
    await rm(path)
    t.strictSame((await place.answersAfterStart()).slice(0, 4), [false, false, false, false])
  })

  t.test('excludes a missing file, and every copy after the directory was replaced', async (t) => {
    const place = await Place.make(t)
    const [first, second] = FILED as [SampleBlob, SampleBlob]
    await rm(place.pathOf(first))
    t.strictSame((await place.answersAfterStart()).slice(4), [false, true])
    const store = await place.open()
    t.strictSame((await store.areUnchanged([second]))[0], true)
    await rm(place.directory, { recursive: true })
    await store.reopen()
    t.strictSame(
      await store.areUnchanged(ALL),
      ALL.map(() => false),
    )
    await store.close()
  })
})
