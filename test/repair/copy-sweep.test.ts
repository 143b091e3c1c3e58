/**
 * Proofs of the sweep: every possible leftover is checked, without a walk where none is needed; unknown contents are walked over.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { fileNameOf } from '../../cluster/blobs/base/blob-name.ts'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { CopySweep } from '../../cluster/repair/copy-sweep.ts'
import { FreshCopies } from '../../cluster/repair/fresh-copies.ts'
import { systemFileOps } from '../../cluster/base/file-ops.ts'
import { SweepFile } from '../../cluster/repair/sweep-file.ts'
import type { BlobName, CopyStatus } from '../../cluster/base/types.ts'
import { sampleBlob, streamOf } from '../blobs/blob-samples.ts'
import { SILENT } from '../helpers/loggers.ts'
import { VirtualClock } from '../programs/simulator/virtual-clock.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

class Bench {
  readonly clock = new VirtualClock()
  readonly disk = new Set<string>()
  readonly copyStatuses = new Map<string, CopyStatus>()
  kept: readonly BlobName[] | null = null
  /** Names that were listed by walks. */
  listed = 0
  readonly sweep: CopySweep

  constructor(watchedMax = 1_000) {
    const parts = {
      nodeId: 'a',
      ledger: { copyStatus: (name: BlobName) => this.copyStatuses.get(fileNameOf(name)) ?? 'undecided' },
      store: { list: async (after: BlobName | null, limit: number) => this.#list(after, limit) },
      sweepFile: {
        take: async () => {
          const { kept } = this
          this.kept = null
          return kept
        },
        write: async (names: readonly BlobName[]) => void (this.kept = names),
      },
      clock: this.clock,
      logger: SILENT,
      beforeRound: async () => undefined,
      remove: async (names: readonly BlobName[]) =>
        names.filter((name) => this.disk.delete(fileNameOf(name))),
    }
    this.sweep = new CopySweep(parts, new FreshCopies(watchedMax))
  }

  put(seed: number, copyStatus: CopyStatus): BlobName {
    const { id, birth } = sampleBlob(seed)
    this.disk.add(fileNameOf({ id, birth }))
    this.say({ id, birth }, copyStatus)
    return { id, birth }
  }

  say(name: BlobName, copyStatus: CopyStatus): void {
    this.copyStatuses.set(fileNameOf(name), copyStatus)
  }

  has(name: BlobName): boolean {
    return this.disk.has(fileNameOf(name))
  }

  async started(): Promise<void> {
    await this.sweep.open()
    this.sweep.start()
    await this.clock.advance(1_000)
  }

  #list(after: BlobName | null, limit: number): BlobName[] {
    const from = after === null ? '' : fileNameOf(after)
    const page = [...this.disk].filter((one) => one > from).sort()
    this.listed += Math.min(limit, page.length)
    return page.slice(0, limit).map((one) => {
      const [id = '', birth = ''] = one.split('.')
      return { id, birth }
    })
  }
}

t.test('CopySweep', async (t) => {
  t.test('walks over everything after an unclean stop, and then not for a week', async (t) => {
    const bench = new Bench()
    const [left, open] = [bench.put(1, 'abandoned'), bench.put(2, 'undecided')]
    for (let seed = 3; seed < 300; seed++) bench.put(seed, 'listed')
    await bench.started()
    await bench.clock.advance(HOUR_MS)
    t.notOk(bench.has(left))
    const listed = bench.listed
    bench.say(open, 'abandoned')
    await bench.clock.advance(DAY_MS)
    t.notOk(bench.has(open), 'the open copy is watched')
    t.equal(bench.listed, listed)
    await bench.clock.advance(6.5 * DAY_MS)
    t.ok(bench.listed > listed)
    await bench.sweep.stop()
    t.equal(bench.clock.pending, 0)
  })

  t.test('walks over nothing after a clean stop, and watches the copies that were open then', async (t) => {
    const bench = new Bench()
    const open = bench.put(1, 'undecided')
    for (let seed = 3; seed < 300; seed++) bench.put(seed, 'listed')
    bench.kept = [open]
    await bench.started()
    bench.say(open, 'abandoned')
    await bench.clock.advance(DAY_MS)
    t.notOk(bench.has(open))
    t.equal(bench.listed, 0)
    await bench.sweep.stop()
    await bench.sweep.keep()
    t.strictSame(bench.kept, [], 'and the next start need not walk either')
  })

  t.test('finds a written copy within seconds of the end of its upload', async (t) => {
    const bench = new Bench()
    bench.kept = []
    await bench.started()
    const [committed, given] = [bench.put(1, 'undecided'), bench.put(2, 'undecided')]
    for (const name of [committed, given]) bench.sweep.onWrite(name)
    bench.say(committed, 'listed')
    bench.say(given, 'abandoned')
    await bench.clock.advance(25_000)
    t.notOk(bench.has(given))
    t.ok(bench.has(committed))
    t.equal(bench.sweep.removed, 1)
    await bench.sweep.stop()
  })

  t.test('records the open copies at a stop, and nothing when its walk was cut short', async (t) => {
    const bench = new Bench()
    for (let seed = 0; seed < 300; seed++) bench.put(seed, 'listed')
    const open = bench.put(400, 'undecided')
    await bench.sweep.open()
    bench.sweep.start()
    await bench.clock.advance(30)
    await bench.sweep.stop()
    await bench.sweep.keep()
    t.equal(bench.kept, null)
    bench.sweep.start()
    await bench.clock.advance(20_000)
    await bench.sweep.stop()
    await bench.sweep.keep()
    t.strictSame(bench.kept, [open])
  })

  t.test(
    'walks again within the hour when more copies are open than it can watch, and then records nothing',
    async (t) => {
      const bench = new Bench(10)
      const open = Array.from({ length: 40 }, (_, seed) => bench.put(seed, 'undecided'))
      await bench.started()
      await bench.sweep.keep()
      t.equal(bench.kept, null)
      for (const name of open) bench.say(name, 'abandoned')
      await bench.clock.advance(2 * HOUR_MS)
      t.equal(bench.disk.size, 0)
      await bench.sweep.stop()
    },
  )

  t.test('walks when the store reports unknown contents, also before the sweep was opened', async (t) => {
    for (const isEarly of [true, false]) {
      const bench = new Bench()
      const back = bench.put(1, 'abandoned')
      bench.kept = []
      if (isEarly) bench.sweep.onStoreUnknown()
      await bench.started()
      if (!isEarly) bench.sweep.onStoreUnknown()
      await bench.clock.advance(120_000)
      t.notOk(bench.has(back))
      await bench.sweep.stop()
    }
  })

  t.test('watches a copy while its drop row may still end, regardless of its status', async (t) => {
    const bench = new Bench()
    bench.kept = []
    await bench.started()
    const name = bench.put(1, 'dropping')
    let end: () => void = () => undefined
    const dropping = bench.sweep.duringDrop([name], () => new Promise((resolve) => (end = resolve)))
    bench.say(name, 'listed')
    await bench.clock.advance(HOUR_MS)
    end()
    await dropping
    // The late end removed the drop row of a later drop.
    bench.say(name, 'abandoned')
    await bench.clock.advance(25_000)
    t.notOk(bench.has(name))
    await bench.sweep.stop()
  })
})

async function place(t: Test): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'holdfast-sweep-'))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  return root
}

t.test('SweepFile', async (t) => {
  t.test('returns its names once, and null for any text that it did not write', async (t) => {
    const path = join(await place(t), 'sweep.json')
    const file = new SweepFile(path, { boot: 7, before: [2] })
    const next = new SweepFile(path, { boot: 12, before: [2, 7] })
    t.equal(await file.take(), null)
    const names = [1, 2, 3].map((seed) => sampleBlob(seed)).map(({ id, birth }) => ({ id, birth }))
    await file.write(names)
    t.strictSame(await next.take(), names)
    t.equal(await next.take(), null)
    for (const before of [[], [7, 9], [8]]) {
      await file.write(names)
      t.equal(
        await new SweepFile(path, { boot: 12, before }).take(),
        null,
        'it is valid only for the next start',
      )
    }
    await file.write(names)
    const text = await readFile(path, 'utf8')
    for (const other of ['', text.slice(0, -5), text.replace('birth-2', 'birth-9'), '{}\n']) {
      await writeFile(path, other)
      t.equal(await next.take(), null)
    }
  })

  t.test('accepts only a complete file when a write stops at any step', async (t) => {
    const path = join(await place(t), 'sweep.json')
    const next = (): SweepFile => new SweepFile(path, { boot: 12, before: [2, 7] })
    const names = [1, 2].map((seed) => sampleBlob(seed)).map(({ id, birth }) => ({ id, birth }))
    for (const step of ['create', 'append', 'syncFile', 'rename', 'syncDirectory'] as const) {
      const starts = { boot: 7, before: [2] }
      const file = new SweepFile(path, starts, { ...systemFileOps, [step]: dies })
      await t.rejects(file.write(names), /power cut/)
      t.strictSame(await next().take(), step === 'syncDirectory' ? names : null, step)
    }
  })

  t.test('is durably gone before it is used, and an interrupted start leaves none', async (t) => {
    const path = join(await place(t), 'sweep.json')
    const names = [1, 2].map((seed) => sampleBlob(seed)).map(({ id, birth }) => ({ id, birth }))
    for (const step of ['unlink', 'syncDirectory'] as const) {
      await new SweepFile(path, { boot: 7, before: [2] }).write(names)
      const ops = { ...systemFileOps, [step]: dies }
      await t.rejects(new SweepFile(path, { boot: 12, before: [2, 7] }, ops).take(), /power cut/, step)
      // A possible state after a power cut before the directory was flushed.
      await new SweepFile(path, { boot: 7, before: [2] }).write(names)
      const later = new SweepFile(path, { boot: 15, before: [2, 7, 12] })
      t.equal(await later.take(), null, 'there was another start: its writes are not in the file')
    }
  })
})

const dies = async (): Promise<never> => {
  throw new Error('power cut')
}

t.test('DiskBlobStore reports its writes, and that its contents are unknown', async (t) => {
  const root = await place(t)
  const story: string[] = []
  const open = async (): Promise<DiskBlobStore> => {
    const store = new DiskBlobStore({
      directory: join(root, 'blobs'),
      logger: SILENT,
      onFatal: (error) => t.fail(error.message),
      onWrite: ({ birth }) => story.push(birth),
      onUnknown: () => story.push('unknown'),
    })
    await store.open()
    return store
  }
  const store = await open()
  const blob = sampleBlob(1, 100)
  await store.write(blob, streamOf(blob.bytes), blob)
  const short = sampleBlob(2, 300_000)
  await t.rejects(store.write(short, streamOf(new Uint8Array(1)), short))
  await store.close()
  t.strictSame(story.splice(0), [blob.birth, blob.birth, short.birth, short.birth])
  await (await open()).close()
  t.strictSame(story, [], 'after a clean stop its contents are known')
  await rm(join(root, 'blobs', 'pack-index'), { recursive: true })
  const again = await open()
  t.strictSame(story.splice(0), ['unknown'], 'unknown when its index is lost')
  await again.reopen()
  t.ok(story.includes('unknown'), 'unknown when its directory was replaced')
  await again.close()
})
