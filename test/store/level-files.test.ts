/**
 * What the checks of LevelDB's own files see: every single flipped bit of a table, and every end that a log can have.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Level } from 'level'
import { seeded } from '../helpers/node-world.ts'
import { ByteReader } from '../../src/store/level/level-bytes.ts'
import { faultInFiles } from '../../src/store/level/level-files.ts'
import { readLog } from '../../src/store/level/level-log.ts'
import { liveFiles } from '../../src/store/level/level-manifest.ts'
import { faultInTable, type TableBytes, type TablePart } from '../../src/store/level/level-table.ts'
import { type Teardown, temporaryDirectory } from './store-world.ts'

const FOOTER_BYTES = 48

interface Rows {
  readonly count: number
  readonly keyBytes: number
  readonly valueBytes: number
}

/** Bytes that do not compress, always the same. */
function noise(bytes: number, seed: number): Buffer {
  const random = seeded(seed)
  return Buffer.from(Array.from({ length: bytes }, () => random() & 255))
}

/** A closed database: what was written before the second start is in a table, the rest in the log. */
async function database(t: Teardown, { count, keyBytes, valueBytes }: Rows): Promise<string> {
  const dir = temporaryDirectory(t)
  const options = { keyEncoding: 'buffer', valueEncoding: 'buffer' } as const
  const key = (i: number) => Buffer.from(String(i).padStart(keyBytes, 'k'))
  for (const offset of [0, count]) {
    const db = new Level<Buffer, Buffer>(dir, options)
    for (let i = offset; i < offset + count; i++) {
      await db.batch([{ type: 'put', key: key(i), value: noise(valueBytes, i) }])
    }
    await db.close()
  }
  return dir
}

function filesIn(dir: string, name: RegExp): string[] {
  return readdirSync(dir)
    .filter((one) => name.test(one))
    .map((one) => join(dir, one))
}

/** Of a table in memory. */
function faultIn(table: Buffer, size: number, part: TablePart = 'whole'): Promise<string | null> {
  const read = async (offset: number, length: number) => table.subarray(offset, offset + length)
  const bytes: TableBytes = { length: table.length, read }
  return faultInTable(bytes, size, part)
}

function tableIn(dir: string): Buffer {
  const [path] = filesIn(dir, /\.ldb$/)
  assert(path !== undefined)
  return readFileSync(path)
}

t.test('a table', (t) => {
  t.test(
    'as LevelDB wrote it has no fault, with blocks and indexes that are compressed and that are not',
    async (t) => {
      const shapes = [
        { count: 3, keyBytes: 4, valueBytes: 40 },
        { count: 200, keyBytes: 600, valueBytes: 300 },
        { count: 60, keyBytes: 8, valueBytes: 20_000 },
      ]
      for (const shape of shapes) {
        const dir = await database(t, shape)
        const table = tableIn(dir)
        t.equal(await faultIn(table, table.length), null)
        t.equal(await faultIn(table, table.length, 'guides'), null)
        t.equal(await faultInFiles(dir), null)
        t.equal((await liveFiles(dir)).tables.size, 1)
      }
    },
  )

  t.test('with any single bit flipped has one, but for what the footer leaves unused', async (t) => {
    const table = tableIn(await database(t, { count: 12, keyBytes: 40, valueBytes: 60 }))
    let unseen = 0
    for (let bit = 0; bit < table.length * 8; bit++) {
      table[bit >> 3] = (table[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      if ((await faultIn(table, table.length)) === null) {
        if (bit >> 3 < table.length - FOOTER_BYTES) t.fail(`bit ${bit} of ${table.length * 8}`)
        unseen++
      }
      table[bit >> 3] = (table[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    }
    t.ok(unseen < FOOTER_BYTES * 8, `${unseen} bits of the footer mean nothing`)
  })

  t.test(
    'has one for any bit flipped outside of its blocks of rows when only the guides are read',
    async (t) => {
      const table = tableIn(await database(t, { count: 300, keyBytes: 40, valueBytes: 300 }))
      const places: [number, number][] = []
      const read = async (offset: number, length: number) => {
        places.push([offset, offset + length])
        return table.subarray(offset, offset + length)
      }
      t.equal(await faultInTable({ length: table.length, read }, table.length, 'guides'), null)
      const firstGuide = Math.min(...places.map(([from]) => from))
      // The filter, with ten bits for each row, lies before the block that the footer names first.
      const metaAt = new ByteReader(table.subarray(table.length - FOOTER_BYTES)).varint()
      t.ok(metaAt - firstGuide >= (300 * 10) / 8)
      t.ok(
        table.length - firstGuide < table.length / 10,
        `${table.length - firstGuide} of ${table.length} bytes`,
      )
      let [unseen, rows] = [0, 0]
      for (let bit = 0; bit < table.length * 8; bit += bit >> 3 < firstGuide ? 4_001 : 1) {
        table[bit >> 3] = (table[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const fault = await faultIn(table, table.length, 'guides')
        if (bit >> 3 < firstGuide) rows += fault === null ? 1 : 0
        else if (fault === null && bit >> 3 < table.length - FOOTER_BYTES) t.fail(`bit ${bit}`)
        else if (fault === null) unseen++
        table[bit >> 3] = (table[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      }
      t.ok(unseen < FOOTER_BYTES * 8)
      t.ok(rows > 0, 'what is in a block of rows is not looked at')
    },
  )

  t.test('that is cut short, grew or is empty has one', async (t) => {
    const table = tableIn(await database(t, { count: 3, keyBytes: 4, valueBytes: 40 }))
    for (let length = 0; length < table.length; length++) {
      assert((await faultIn(table.subarray(0, length), table.length)) !== null)
      assert((await faultIn(table.subarray(0, length), length)) !== null)
    }
    t.ok(await faultIn(Buffer.concat([table, Buffer.of(0)]), table.length))
  })
  t.end()
})

t.test('a log', (t) => {
  const logOf = async (t: Teardown, rows: Rows): Promise<Buffer> => {
    const [path] = filesIn(await database(t, rows), /\.log$/)
    assert(path !== undefined)
    return readFileSync(path)
  }

  t.test('gives back its entries, those over several blocks included', async (t) => {
    for (const valueBytes of [10, 9_000, 100_000]) {
      const { entries, isTorn, isDamaged } = readLog(await logOf(t, { count: 9, keyBytes: 4, valueBytes }))
      t.same([entries.length, isTorn, isDamaged], [9, false, false])
      for (const [i, entry] of entries.entries()) t.ok(entry.includes(noise(valueBytes, 9 + i)))
    }
  })

  t.test('with a bit flipped is damaged, and in its last entry torn', async (t) => {
    const log = await logOf(t, { count: 4, keyBytes: 4, valueBytes: 30 })
    const lastEntry = Math.floor((log.length / 4) * 3)
    for (let bit = 0; bit < log.length * 8; bit++) {
      log[bit >> 3] = (log[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const { entries, isTorn, isDamaged } = readLog(log)
      const isLast = bit >> 3 >= lastEntry
      assert(isTorn && isDamaged !== isLast, `bit ${bit}`)
      assert(entries.length === Math.floor((bit >> 3) / (log.length / 4)), `bit ${bit}`)
      log[bit >> 3] = (log[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    }
    t.pass(`${log.length * 8} bits`)
  })

  t.test('cut anywhere, or filled up with zeros, is torn and never damaged', async (t) => {
    for (const rows of [
      { count: 4, keyBytes: 4, valueBytes: 30 },
      { count: 2, keyBytes: 4, valueBytes: 70_000 },
    ]) {
      const log = await logOf(t, rows)
      const step = log.length > 1000 ? 997 : 1
      for (let length = 0; length < log.length; length += step) {
        for (const cut of [
          log.subarray(0, length),
          Buffer.concat([log.subarray(0, length), Buffer.alloc(5000)]),
        ]) {
          const { entries, isDamaged } = readLog(cut)
          assert(!isDamaged && entries.length < rows.count, `${length} of ${log.length}`)
        }
      }
    }
    t.pass()
  })
  t.end()
})

t.test('a directory', (t) => {
  t.test(
    'without one of its files, or with a foreign pointer, has a fault; with a file that belongs to no state none',
    async (t) => {
      const shape = { count: 3, keyBytes: 4, valueBytes: 40 }
      const whole = await database(t, shape)
      writeFileSync(join(whole, '000999.ldb'), 'a table that was being written')
      writeFileSync(join(whole, '000001.log'), 'a log of long ago')
      t.equal(await faultInFiles(whole), null)
      for (const name of [/\.ldb$/, /\.log$/, /^MANIFEST/, /^CURRENT$/]) {
        const dir = await database(t, shape)
        for (const path of filesIn(dir, name)) rmSync(path)
        t.match(await faultInFiles(dir), /missing/, String(name))
      }
      for (const text of ['', 'MANIFEST-999999\n', '../x\n']) {
        writeFileSync(join(whole, 'CURRENT'), text)
        t.type(await faultInFiles(whole), 'string')
      }
    },
  )
  t.end()
})
