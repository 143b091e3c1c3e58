/**
 * What a start makes of the logs of LevelDB that a power cut has torn: every length of each log, holes, missing logs.
 *
 * Rule: what stays are the first batches, without a gap, and LevelDB opens to exactly them.
 */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import { seeded } from '../helpers/node-world.ts'
import { readLog } from '../../src/store/level/level-log.ts'
import { LevelLogs, logsIn } from '../../src/store/level/level-logs.ts'
import { cutTornLogs } from '../../src/store/level/level-tail.ts'
import { type Teardown, temporaryDirectory } from './store-world.ts'

const BUFFERS = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
const BATCHES = 9
/** Where the log is divided in two. */
const FIRST_BATCHES = 5

interface TwoLogs {
  readonly dir: string
  readonly paths: readonly [string, string]
  readonly bytes: readonly [Buffer, Buffer]
}

/** Each batch: one row of its own, and a row that all of them write. */
async function write(db: Level<Buffer, Buffer>, batch: number): Promise<void> {
  const value = Buffer.alloc(20 + 7 * batch, String(batch))
  await db.batch([
    { type: 'put', key: Buffer.from(`row ${batch}`), value },
    { type: 'put', key: Buffer.from('all'), value },
  ])
}

/** The content of a database whose log was full once: LevelDB has closed it, and no table holds it yet. All within one block of a log. */
async function twoLogs(t: Teardown): Promise<TwoLogs> {
  const dir = temporaryDirectory(t)
  const db = new Level<Buffer, Buffer>(dir, BUFFERS)
  for (let batch = 0; batch < BATCHES; batch++) await write(db, batch)
  await db.close()
  const [log] = await logsIn(dir)
  assert(log !== undefined)
  const whole = readFileSync(join(dir, log.name))
  const { entries, ends } = readLog(whole)
  assert(entries.length === BATCHES && whole.length < 32 * 1024)
  const at = ends[FIRST_BATCHES - 1] ?? 0
  const paths = [join(dir, log.name), join(dir, `${String(log.number + 1).padStart(6, '0')}.log`)] as const
  const bytes = [whole.subarray(0, at), whole.subarray(at)] as const
  writeFileSync(paths[0], bytes[0])
  writeFileSync(paths[1], bytes[1])
  return { dir, paths, bytes }
}

function batchesIn(bytes: Buffer): number {
  return readLog(bytes).entries.length
}

/** Of both logs as they are now, after the cut. Null: they are not the beginning of what was written. */
function keptIn({ paths, bytes }: TwoLogs): number | null {
  const [first, second] = paths.map((path) => {
    try {
      return readFileSync(path)
    } catch {
      return Buffer.alloc(0)
    }
  })
  assert(first !== undefined && second !== undefined)
  const isPrefix = first.equals(bytes[0].subarray(0, first.length))
  const isFollowed = second.length === 0 || first.equals(bytes[0])
  if (!isPrefix || !isFollowed || !second.equals(bytes[1].subarray(0, second.length))) return null
  return batchesIn(first) + batchesIn(second)
}

/** The rows are those of the first batches. */
async function assertRows(dir: string, batches: number): Promise<void> {
  const db = new Level<Buffer, Buffer>(dir, BUFFERS)
  const keys = (await db.keys().all()).map(String)
  const last = await db.get(Buffer.from('all'))
  await db.close()
  const rows = Array.from({ length: batches }, (_, batch) => `row ${batch}`)
  assert.deepEqual(keys, batches === 0 ? [] : ['all', ...rows])
  if (batches > 0) assert.equal(String(last?.at(0)), String(String(batches - 1).charCodeAt(0)))
}

t.test('logs that were not flushed', async (t) => {
  const logs = await twoLogs(t)
  const { dir, paths, bytes } = logs

  t.test('stay as they are when nothing is missing', async (t) => {
    t.equal(await cutTornLogs(dir), null)
    t.equal(keptIn(logs), BATCHES)
  })

  t.test('end behind the last whole batch, wherever the last one ends', async (t) => {
    for (let length = 0; length <= bytes[1].length; length++) {
      writeFileSync(paths[1], bytes[1].subarray(0, length))
      await cutTornLogs(dir)
      assert.equal(keptIn(logs), FIRST_BATCHES + batchesIn(bytes[1].subarray(0, length)), `at ${length}`)
      assert.equal(await cutTornLogs(dir), null, 'a second cut finds nothing')
    }
    t.pass(`${bytes[1].length} lengths`)
  })

  t.test('end in the first one, wherever it ends, though the second is whole', async (t) => {
    for (let length = 0; length <= bytes[0].length; length++) {
      writeFileSync(paths[0], bytes[0].subarray(0, length))
      writeFileSync(paths[1], bytes[1])
      await cutTornLogs(dir)
      const kept = batchesIn(bytes[0].subarray(0, length))
      assert.equal(keptIn(logs), kept === FIRST_BATCHES ? BATCHES : kept, `at ${length}`)
    }
    t.pass(`${bytes[0].length} lengths`)
  })

  t.test('end before a hole, whatever follows it', async (t) => {
    const random = seeded(11)
    for (let round = 0; round < 200; round++) {
      const at = random() % 2 === 0 ? 0 : 1
      const torn = Buffer.from(bytes[at])
      const from = random() % torn.length
      torn.fill(0, from, Math.min(torn.length, from + 1 + (random() % 64)))
      writeFileSync(paths[0], bytes[0])
      writeFileSync(paths[1], bytes[1])
      writeFileSync(paths[at], torn)
      await cutTornLogs(dir)
      const before = at === 0 ? 0 : FIRST_BATCHES
      const differs = torn.findIndex((byte, i) => byte !== bytes[at][i])
      const kept = differs === -1 ? BATCHES : before + batchesIn(bytes[at].subarray(0, differs))
      assert.equal(keptIn(logs), kept, `${at} at ${from}`)
    }
    t.pass()
  })

  t.test('give LevelDB exactly the first batches', async (t) => {
    const random = seeded(12)
    for (let round = 0; round < 25; round++) {
      const copy = temporaryDirectory(t)
      writeFileSync(paths[0], bytes[0])
      writeFileSync(paths[1], bytes[1])
      cpSync(dir, copy, { recursive: true })
      const torn = paths.map((path) => path.replace(dir, copy))
      for (const [at, path] of torn.entries())
        if (random() % 2 === 0) truncateSync(path, random() % (bytes[at]?.length ?? 1))
      if (round % 5 === 0) rmSync(torn[1] ?? '')
      await cutTornLogs(copy)
      const kept = keptIn({ ...logs, paths: [torn[0] ?? '', torn[1] ?? ''] })
      assert(kept !== null)
      await assertRows(copy, kept)
    }
    t.pass()
  })
  t.end()
})

t.test('a flush reaches every log, and the directory once for a new one', async (t) => {
  const { dir } = await twoLogs(t)
  const { open } = await import('node:fs/promises')
  const file = await open(join(dir, 'CURRENT'))
  const prototype = Object.getPrototypeOf(file)
  await file.close()
  const [flushes, directories] = [
    t.capture(prototype, 'datasync', prototype.datasync),
    t.capture(prototype, 'sync', prototype.sync),
  ]
  const logs = new LevelLogs(dir)
  await logs.flush()
  t.same([flushes().length, directories().length], [2, 1])
  await logs.flush()
  t.same([flushes().length, directories().length], [2, 0])
  t.intercept(prototype, 'datasync', {
    value: () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })),
  })
  await t.rejects(logs.flush(), { code: 'EIO' })
})
