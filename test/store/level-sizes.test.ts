/**
 * How the sizes of LevelDB follow the memory of the machine, and that a directory of other sizes opens with them.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Level } from 'level'
import { levelSizes, memoryOfProcess } from '../../src/store/rows/level-sizes.ts'
import { levelOf } from '../helpers/database-rows.ts'
import { openDatabase } from '../../src/store/rows/open-database.ts'
import { temporaryDirectory } from './store-world.ts'

const GIB = 2 ** 30
/** As in src/store/rows/level-sizes.ts: what an open table of the largest size takes. */
const OPEN_TABLE_BYTES = 1.5 * 2 ** 20

t.test('the sizes of LevelDB', async (t) => {
  t.test('stay below a tenth of the memory from 2 GiB on, and never go below what works', (t) => {
    for (const gib of [2, 4, 8, 24, 64, 512]) {
      const { writeBufferSize, cacheSize, maxOpenFiles } = levelSizes(gib * GIB)
      const most = 2 * writeBufferSize + cacheSize + maxOpenFiles * OPEN_TABLE_BYTES
      t.ok(most < (gib * GIB) / 10, `${gib} GiB: ${Math.round(most / 2 ** 20)} MiB`)
    }
    const least = { writeBufferSize: 4 * 2 ** 20, cacheSize: 16 * 2 ** 20, maxOpenFiles: 74 }
    t.match(levelSizes(0), least)
    t.match(levelSizes(512 * 2 ** 20), least)
    t.match(levelSizes(8 * GIB), { writeBufferSize: 2 ** 25 })
    t.match(levelSizes(1024 * GIB), {
      writeBufferSize: 2 ** 25,
      cacheSize: 2 ** 27,
      maxOpenFiles: 1_010,
    })
    t.end()
  })

  t.test('know the memory of this machine', (t) => {
    t.ok(memoryOfProcess() > 2 ** 27 && memoryOfProcess() < 2 ** 50)
    t.end()
  })

  t.test('fit a directory that was written with others, with all its rows', async (t) => {
    const dir = temporaryDirectory(t)
    // As every version before this one wrote it.
    const old = new Level<Buffer, Buffer>(dir, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      cacheSize: 16 * 2 ** 20,
    })
    const count = 4_000
    const key = (n: number) => Buffer.from(String(n).padStart(6, '0'))
    const value = (n: number) => Buffer.alloc(2_000, `${n}`)
    for (let n = 0; n < count; n += 2) await old.put(key(n), value(n))
    await old.close()
    const db = levelOf(await openDatabase(dir, { create: false, separates: false }, null))
    for (let n = 1; n < count; n += 2) await db.put(key(n), value(n))
    let seen = 0
    for await (const [found, stored] of db.iterator()) {
      if (!found.equals(key(seen)) || !stored.equals(value(seen))) t.fail(`row ${seen}`)
      seen++
    }
    t.equal(seen, count)
    await db.close()
    t.ok(
      readdirSync(dir).some((name) => name.endsWith('.ldb')),
      join(dir, '*.ldb'),
    )
  })
})
