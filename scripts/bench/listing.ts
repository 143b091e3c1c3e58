/**
 * `npm run bench:listing`: how long a page of a listing takes in a bucket of a million objects, and how long a node with them
 * takes to start. `--in DIR`: in this directory, which stays and is filled if it is empty, so that two trees measure the same rows.
 *
 * Owns: the measurement. The objects are stored through the state machine of one node, directly in its LevelDB; a page is
 * the work of the node for a request between the router and the socket: rows, records, JSON.
 * Rule: no figure is judged here; the load of the machine is printed with them.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pino from 'pino'
import { jsonLines, jsonPage, jsonTexts } from '../../src/api/json-page.ts'
import { writeListedObject } from '../../src/api/native/object-view.ts'
import { writeListedVersion } from '../../src/api/native/version-listing.ts'
import type { Answer } from '../../src/api/route.ts'
import type { BucketRecord } from '../../src/state-machine/buckets/records.ts'
import { removeCleanStop } from '../../src/store/state/clean-stop.ts'
import type { LevelStateReader } from '../../src/store/reads/level-state-reader.ts'
import { openStore } from '../../src/store/open-store.ts'
import {
  FOLDERS_BUCKET,
  FOLDER_SHAPES,
  fillBucket,
  keyAt,
  LARGE_BUCKET,
  OVERWRITTEN_EVERY,
  prefixOf,
} from './listing-rows.ts'
import { UsageError, wholeNumber } from '../local/options.ts'
import { median } from './statistics.ts'
import { bucketKeys } from '../../src/state-machine/buckets/keys.ts'
import { pageOfObjects } from '../../src/store/reads/object-listing.ts'
import { pageOfVersions } from '../../src/store/reads/version-listing.ts'

const PAGE_KEYS = 1000
const ROUNDS = 30
/** How often the node is started to read each page for the first time. */
const STARTS = 5

interface Page {
  readonly name: string
  readonly read: () => Promise<Answer>
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** Both kinds of listing of one bucket; each returns its answer. */
function listingsOf(reader: LevelStateReader, bucket: BucketRecord) {
  return {
    objects: async (after: string, prefix = '', delimiter = ''): Promise<Answer> => {
      const asked = { prefix, delimiter, limit: PAGE_KEYS, after }
      const { objects, commonPrefixes, ...head } = await pageOfObjects(reader, bucket.id, asked)
      return jsonPage(head, { objects: jsonLines(objects, writeListedObject), ...folded(commonPrefixes) })
    },
    versions: async (keyMarker: string, prefix = '', delimiter = ''): Promise<Answer> => {
      const query = { prefix, delimiter, keyMarker, versionIdMarker: '', limit: PAGE_KEYS }
      const { versions, commonPrefixes, ...head } = await pageOfVersions(reader, bucket.id, query)
      return jsonPage(head, { versions: jsonLines(versions, writeListedVersion), ...folded(commonPrefixes) })
    },
  }
}

const folded = (commonPrefixes: readonly string[]) => ({ commonPrefixes: jsonTexts(commonPrefixes) })

function pagesOfLargeBucket(
  { objects, versions }: ReturnType<typeof listingsOf>,
  count: number,
): readonly Page[] {
  const last = keyAt(Math.max(0, count - PAGE_KEYS - 1))
  const folder = last.slice(0, last.indexOf('/') + 1)
  return [
    { name: 'first page', read: () => objects('') },
    { name: 'last page', read: () => objects(last) },
    { name: 'a folder, with delimiter', read: () => objects('', folder, '/') },
    { name: 'common prefixes', read: () => objects('', '', '/') },
    { name: 'versions, first page', read: () => versions('') },
    { name: 'versions, last page', read: () => versions(last) },
    { name: 'versions, common prefixes', read: () => versions('', '', '/') },
  ]
}

function pagesOfFolders({ objects, versions }: ReturnType<typeof listingsOf>): readonly Page[] {
  return FOLDER_SHAPES.flatMap((shape) => [
    { name: `folders ${shape.name}`, read: () => objects('', prefixOf(shape), '/') },
    { name: `versions, folders ${shape.name}`, read: () => versions('', prefixOf(shape), '/') },
  ])
}

async function timed<T>(work: () => Promise<T>): Promise<readonly [ms: number, value: T]> {
  const start = performance.now()
  const value = await work()
  return [performance.now() - start, value]
}

interface FirstRead {
  readonly ms: number
  readonly cpuMs: number
}

/** Of one page, by the starts of the node. */
type FirstReads = ReadonlyMap<string, readonly FirstRead[]>

const cpuMs = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000

/** Pages that nothing was read for before; each kind of listing in a start of its own, because one learns from the other. */
async function readFirst(dir: string, count: number): Promise<FirstReads> {
  const reads = new Map<string, FirstRead[]>()
  for (let start = 0; start < STARTS; start++)
    for (const kind of ['objects', 'versions']) {
      const store = openStore({ dir, logger: pino({ level: 'silent' }) })
      await store.stateMachine.open()
      for (const { name, read } of pagesOf(store.reader, count)) {
        if (name.startsWith('versions') !== (kind === 'versions')) continue
        const before = process.cpuUsage()
        const [ms] = await timed(read)
        reads.set(name, [...(reads.get(name) ?? []), { ms, cpuMs: cpuMs(process.cpuUsage(before)) }])
      }
      await store.stateMachine.close()
    }
  return reads
}

function pagesOf(reader: LevelStateReader, count: number): readonly Page[] {
  const [bucket, folders] = [LARGE_BUCKET, FOLDERS_BUCKET].map((name) =>
    reader.get(bucketKeys.bucket('acme', name)),
  )
  if (bucket === undefined || folders === undefined) throw new Error('A bucket is gone')
  return [
    ...pagesOfLargeBucket(listingsOf(reader, bucket), count),
    ...pagesOfFolders(listingsOf(reader, folders)),
  ]
}

async function measurePage({ name, read }: Page, first: readonly FirstRead[]): Promise<string> {
  const times: number[] = []
  let bytes = 0
  const before = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round++) {
    const [ms, answer] = await timed(read)
    times.push(ms)
    bytes = answer.kind === 'ready' ? answer.bytes.length : 0
  }
  const spent = cpuMs(process.cpuUsage(before)) / ROUNDS
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (ROUNDS - 1))] ?? 0
  const firsts = [median(first.map(({ ms }) => ms)), median(first.map((one) => one.cpuMs))]
  const figures = [...firsts, at(0.5), at(0.9), spent]
  const cells = figures.map((figure) => figure.toFixed(1)).join(' | ')
  return `| ${name} | ${cells} | ${(bytes / 1024).toFixed(0)} |`
}

async function fill(store: ReturnType<typeof openStore>, count: number): Promise<number> {
  await store.stateMachine.open()
  say(`putting ${count} objects, and every ${OVERWRITTEN_EVERY}th a second time ...`)
  const [ms] = await timed(() => fillBucket(store.stateMachine, count, say))
  await store.stateMachine.close()
  return ms
}

/** A directory with a store is measured as it is. */
async function measure(dir: string, count: number): Promise<readonly string[]> {
  const open = () => openStore({ dir, logger: pino({ level: 'silent' }) })
  const fillMs = readdirSync(dir).length === 0 ? await fill(open(), count) : 0

  const clean = open()
  const [cleanMs] = await timed(() => clean.stateMachine.open())
  await clean.stateMachine.close()
  await removeCleanStop(dir)
  say('starting again as after a crash, with every row verified ...')
  const verified = open()
  const [verifiedMs] = await timed(() => verified.stateMachine.open())

  const bucket = verified.reader.get(bucketKeys.bucket('acme', LARGE_BUCKET))
  await verified.stateMachine.close()
  const firstReads = await readFirst(dir, count)
  const known = open()
  await known.stateMachine.open()
  const rows: string[] = []
  for (const page of pagesOf(known.reader, count))
    rows.push(await measurePage(page, firstReads.get(page.name) ?? []))
  await known.stateMachine.close()
  const seconds = (ms: number): string => (ms / 1000).toFixed(1)
  return [
    `objects: ${bucket?.objectCount}, versions: ${bucket?.versionCount}, put in ${seconds(fillMs)} s`,
    `ready after a clean stop: ${seconds(cleanMs)} s; after a crash, every row verified: ${seconds(verifiedMs)} s`,
    '',
    `| page of 1,000 lines | first time after a start, ms | its processor ms | median of ${ROUNDS} ms | 90 % ms | processor ms | KiB of JSON |`,
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows,
  ]
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { objects: { type: 'string', default: '1000000' }, in: { type: 'string' } },
  })
  const dir = values.in ?? mkdtempSync(join(tmpdir(), 'holdfast-listing-'))
  try {
    const count = wholeNumber(values.objects, '--objects', { min: 2 * PAGE_KEYS, max: 10_000_000 })
    const loadBefore = loadavg()[0] ?? 0
    const lines = await measure(dir, count)
    const loads = `load average ${loadBefore.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`
    const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, ${loads}`
    process.stdout.write(`${[machine, ...lines].join('\n')}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    say(`error: ${error.message}`)
    return 2
  } finally {
    if (values.in === undefined) rmSync(dir, { recursive: true, force: true })
  }
}

process.exitCode = await main()
