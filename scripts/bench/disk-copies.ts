/**
 * `node scripts/bench/disk-copies.ts [--copies 20000]`: the cost for a node of comparing its rows with its disk, walking over its copies and removing them, with
 * copies of 1 KiB in packs. Processor time for each copy, which depends less on other load than wall time.
 *
 * Owns: the measurement, over the store of one node; rows and locks are left out. Rule: no figure is judged here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHash, randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import pino from 'pino'
import type { SizedName } from '../../cluster/blobs/base/blob-store.ts'
import { DiskBlobStore } from '../../cluster/blobs/disk/disk-blob-store.ts'
import { wholeNumber } from '../local/options.ts'

const COPY_BYTES = 1_024
const WRITES_AT_ONCE = 64
/** The group sizes of the inventory, the sweep and the remover. */
const NAMES_PER_PAGE = 256
const FRAMES_AT_ONCE = 4
const NAMES_PER_STEP = 64
const GROUP_COPIES = 1_024
/** The number of copies that are removed one at a time. */
const SINGLES = 500

const { values } = parseArgs({ options: { copies: { type: 'string', default: '20000' } } })
const copies = wholeNumber(values.copies, '--copies', { min: 4_000, max: 1_000_000 })
const root = mkdtempSync(join(tmpdir(), 'holdfast-copies-'))

async function opened(): Promise<DiskBlobStore> {
  const onFatal = (error: Error): void => {
    throw error
  }
  const logger = pino({ level: 'silent' })
  const store = new DiskBlobStore({ directory: join(root, 'blobs'), logger, onFatal, isResting: true })
  await store.open()
  return store
}

function parts<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  )
}

async function measured(what: string, count: number, work: () => Promise<void>): Promise<void> {
  const [start, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  const each = ((user + system) / count).toFixed(1)
  const wall = (((performance.now() - start) * 1000) / count).toFixed(1)
  console.log(`${what}: ${each} us of processor each, ${wall} us of wall time (${count})`)
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

let store = await opened()
const names: SizedName[] = []
for (let n = 0; n < copies; n += WRITES_AT_ONCE) {
  await Promise.all(
    Array.from({ length: WRITES_AT_ONCE }, async () => {
      const bytes = randomBytes(COPY_BYTES)
      const checksum = createHash('sha256').update(bytes).digest('hex')
      const name = { id: checksum, birth: `bench-${names.length.toString(36)}`, size: COPY_BYTES }
      names.push(name)
      await store.write(name, once(bytes), { size: COPY_BYTES, checksum })
    }),
  )
}
names.sort((one, other) => (one.id < other.id ? -1 : 1))
await store.close()
store = await opened()
await measured('compared with the index after a clean stop', names.length, async () => {
  for (const page of parts(names, NAMES_PER_PAGE)) {
    const known = await store.areUnchanged(page)
    if (known.includes(false)) throw new Error('A copy is not known')
  }
})
await measured('compared by its header', names.length, async () => {
  for (const few of parts(names, FRAMES_AT_ONCE)) await Promise.all(few.map((name) => store.stat(name)))
})
await measured('listed by a walk', names.length, async () => {
  for (let page = await store.list(null, NAMES_PER_STEP); page.length > 0; )
    page = await store.list(page.at(-1) ?? null, NAMES_PER_STEP)
})
await measured('removed alone', SINGLES, async () => {
  for (const name of names.slice(0, SINGLES)) await store.remove([name])
})
const rest = names.slice(SINGLES)
await measured(`removed in groups of ${GROUP_COPIES}`, rest.length, async () => {
  for (const group of parts(rest, GROUP_COPIES)) await store.remove(group)
})
await store.close()
console.log(
  `load ${loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')}`,
)
rmSync(root, { recursive: true })
