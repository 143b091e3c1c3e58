/**
 * A power cut at every call to the disk, with every possible choice of surviving unflushed sectors, for blobs in packs and
 * in their own files.
 *
 * Rule: an acknowledged blob verifies, also without the index; a removed one is gone, unless the index is lost; a blob whose write
 * was in progress is present as a whole or not at all; no other blob is present, and no file is left behind.
 */
import { createHash } from 'node:crypto'
import t from 'tap'
import { FileBlobStore } from '../../cluster/blobs/files/file-blob-store.ts'
import { PACK_LIMITS, PackBlobStore } from '../../cluster/blobs/packs/pack-blob-store.ts'
import { SILENT } from '../helpers/loggers.ts'
import { type SampleBlob, sampleBlob, streamOf } from './blob-samples.ts'
import { LOSE_ALL, type MemoryFiles } from '../wal/memory-files.ts'
import { crashAt, cutsOf, openOn, type Script, type Step, type StoreKind, verdictOn } from './crash-world.ts'
import { MemoryRows } from './memory-rows.ts'

/** Space for six or seven sectors of records. */
const LIMITS = { ...PACK_LIMITS, packBytesMax: 1024 + 7 * 512, smallPacksMax: 1000 }

const inPacks: StoreKind = async (parts, rows) => {
  const pace = async (): Promise<void> => undefined
  const bytesToSpare = async () => Infinity
  const store = new PackBlobStore({ ...parts, rows, logger: SILENT, limits: LIMITS, pace, bytesToSpare })
  await store.open()
  return { store, close: () => store.close(), compact: () => store.compact() }
}

const inFiles: StoreKind = async (parts) => {
  const store = new FileBlobStore(parts)
  return { store, close: async () => undefined, compact: async () => false }
}

const inUncachedFiles: StoreKind = (parts, rows) => inFiles({ ...parts, directIoFromBytes: 0 }, rows)

const blobs = [100, 700, 0, 256, 900, 200, 300, 1200, 40, 50].map((size, seed) => sampleBlob(seed, size))
const [a, b, c, d, e, f, g, h, i, j] = blobs as [
  SampleBlob,
  SampleBlob,
  SampleBlob,
  SampleBlob,
  SampleBlob,
  SampleBlob,
  SampleBlob,
  SampleBlob,
  SampleBlob,
  SampleBlob,
]

/** Concurrently, so that they share batches. */
const write = (...some: SampleBlob[]): Step => ({
  touches: some,
  writes: some,
  run: ({ store }) => Promise.all(some.map((blob) => store.writeNew(blob, streamOf(blob.bytes), blob))),
})
/** By a caller that does not know whether the store has it. */
const again = (blob: SampleBlob): Step => ({
  touches: [blob],
  writes: [blob],
  run: ({ store }) => store.write(blob, streamOf(blob.bytes), blob),
})
/** In one group. */
const remove = (...some: SampleBlob[]): Step => ({
  touches: some,
  writes: [],
  removes: some,
  run: ({ store }) => store.remove(some),
})
const quarantine = (blob: SampleBlob): Step => ({
  touches: [blob],
  writes: [],
  run: ({ store }) => store.quarantine(blob),
})
const compact: Step = {
  touches: [],
  writes: [],
  run: async ({ compact }) => {
    while (await compact());
  },
}

const SCRIPT: Script = [
  write(a),
  write(b, c, d),
  remove(a),
  write(e),
  'restart',
  quarantine(b),
  write(f, g),
  again(f),
  'kill',
  again(b),
  remove(c, e),
  compact,
  write(h),
  'kill',
  remove(f, b),
  'restart',
  compact,
  write(i, j),
  again(a),
  write(j),
]

/** A record to which no row leads any more is still in its pack. */
const forgetful = (script: Script): Script =>
  script.map((step) => (typeof step === 'string' ? step : { ...step, removes: [] }))

/** Separate files have fewer steps, and a name in each of 256 directories to choose. */
const SHORT_SCRIPT: Script = [
  write(a),
  write(b, c),
  quarantine(a),
  again(a),
  write(c),
  'kill',
  remove(b, c),
  again(b),
  remove(a),
]

class Tally {
  readonly counts = new Map<string, number>()
  points = 0

  add(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1)
  }

  get wrong(): string[] {
    return [...this.counts.keys()].filter((outcome) => outcome.startsWith('wrong'))
  }
}

/** Many choices lead to the same disk. */
function printOf(files: MemoryFiles): string {
  const hash = createHash('sha256')
  for (const path of files.paths())
    hash.update(`${path} ${files.bytesOf(path).length} `).update(files.bytesOf(path))
  return hash.digest('hex')
}

async function tallyOf(kind: StoreKind, script: Script, losesIndex: boolean): Promise<Tally> {
  const tally = new Tally()
  for (let call = 1; ; call++) {
    const crash = await crashAt(kind, script, call)
    if (crash === null) return tally
    tally.points++
    const seen = new Set<string>()
    for (const cut of cutsOf(crash.disk.files)) {
      const files = crash.disk.files.afterPowerCut(cut)
      if (seen.size === seen.add(printOf(files)).size) continue
      const rows = losesIndex ? new MemoryRows() : new MemoryRows(crash.disk.rows.rows)
      tally.add(await verdictOn(kind, { files, rows }, crash.promised))
    }
  }
}

/** The power stays on, so the next process sees unflushed bytes; it acknowledges repeated writes, then the power fails. */
async function tallyOfKills(kind: StoreKind, script: Script): Promise<Tally> {
  const tally = new Tally()
  for (let call = 1; ; call++) {
    const crash = await crashAt(kind, script, call)
    if (crash === null) return tally
    tally.points++
    const { disk, promised } = crash
    disk.files.beforeChange = disk.rows.beforeWrite = () => undefined
    const { store } = await openOn(kind, disk)
    for (const blob of promised.possible.values()) {
      await store.write(blob, streamOf(blob.bytes), blob)
      promised.written(blob)
    }
    const files = disk.files.afterPowerCut(LOSE_ALL)
    tally.add(await verdictOn(kind, { files, rows: new MemoryRows(disk.rows.rows) }, promised))
  }
}

for (const [what, kind, script, losesIndex] of [
  ['packs', inPacks, SCRIPT, false],
  ['packs whose index is lost as well', inPacks, forgetful(SCRIPT), true],
  ['files', inFiles, SHORT_SCRIPT, false],
  ['files written without the page cache', inUncachedFiles, SHORT_SCRIPT, false],
] as const) {
  t.test(`a power cut anywhere takes nothing that was acknowledged out of ${what}`, async (t) => {
    const tally = await tallyOf(kind, script, losesIndex)
    t.comment(`${tally.points} crash points`)
    for (const [outcome, count] of tally.counts) t.comment(`${count} x ${outcome}`)
    t.same(tally.wrong, [])
    t.ok(tally.points > 2 * script.length)
    t.ok(tally.counts.has('what was acknowledged and 0 more'))
    t.ok(tally.counts.has('what was acknowledged and 1 more'))
  })
}

for (const [what, kind, script] of [
  ['packs', inPacks, SCRIPT],
  ['files', inFiles, SHORT_SCRIPT],
] as const) {
  t.test(`what the process after a killed one acknowledged in ${what} survives a power cut`, async (t) => {
    const tally = await tallyOfKills(kind, script)
    t.same([...tally.counts.keys()], ['what was acknowledged and 0 more'])
    t.ok(tally.points > 2 * script.length)
  })
}
