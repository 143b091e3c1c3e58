/**
 * Values beside LevelDB: what is read back, after crashes, compactions and under snapshots, and that no more is kept than twice what counts.
 *
 * Rule: a database with small value files and a map as its model; a power cut is a copy of the directory.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { StateDamagedError } from '../../cluster/index.ts'
import { seeded } from '../helpers/node-world.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import { encodeRow, keyBytes, sealRow } from '../../src/store/rows/row-codec.ts'
import { openPointer, pointerTo } from '../../src/store/rows/row-pointer.ts'
import { type Database, LevelDatabase } from '../../src/store/rows/row-database.ts'
import { SealedDatabase } from '../../src/store/rows/sealed-database.ts'
import { testCipher } from '../helpers/sealed-metadata.ts'
import type { BatchOperation } from '../../src/store/rows/separated-rows.ts'
import { ALL_ROWS, countPointers, scanRows } from '../../src/store/rows/state-rows.ts'
import { MAGIC, recordHead } from '../../src/store/values/value-format.ts'
import { copyOfOpen } from './open-copy.ts'
import { temporaryDirectory } from './store-world.ts'

const FILE_BYTES = 64 * 1024
const SEED = Number(process.env['VALUES_SEED'] ?? 5)

const keyOf = (n: number): Buffer =>
  keyBytes(bodyKeys.inlineBody('bucket', `body-${String(n).padStart(4, '0')}`))

function rowOf(key: Buffer, version: number, bytes: number): Buffer {
  return encodeRow(key, { sealed: Buffer.alloc(bytes, `${key.toString()} ${version} `) })
}

class Rows {
  readonly dir: string
  readonly db: Database
  readonly model: Map<string, Buffer>

  private constructor(dir: string, db: Database, model: ReadonlyMap<string, Buffer>) {
    this.dir = dir
    this.db = db
    this.model = new Map(model)
  }

  /** `model`: the rows that are there. */
  static async open(t: Test, dir: string, model: ReadonlyMap<string, Buffer> | null = null): Promise<Rows> {
    const options = { create: model === null, separates: true, valueFileBytes: FILE_BYTES }
    const cipher = testCipher('rows')
    const db = cipher === null ? new LevelDatabase(dir, options) : new SealedDatabase(dir, options, cipher)
    await db.open()
    t.teardown(() => db.close())
    if (model !== null) await countPointers(db)
    db.rows.files.endRecount()
    return new Rows(dir, db, model ?? new Map())
  }

  /** What is new is said to be new, as apply does. */
  async write(operations: readonly BatchOperation[]): Promise<void> {
    const said = operations.map((operation) =>
      operation.type === 'put'
        ? { ...operation, isNew: !this.model.has(operation.key.toString()) }
        : operation,
    )
    const { operations: stored, settle } = await this.db.rows.separate(said)
    await this.db.batch([...stored], { sync: true })
    settle()
    for (const operation of operations) {
      const name = operation.key.toString()
      if (operation.type === 'put') this.model.set(name, operation.value)
      else this.model.delete(name)
    }
  }

  put(n: number, version: number, bytes = 4_000): Promise<void> {
    const key = keyOf(n)
    return this.write([{ type: 'put', key, value: rowOf(key, version, bytes) }])
  }

  /** Null, or the first difference between the rows and the model. */
  async difference(): Promise<string | null> {
    const left = new Map(this.model)
    for await (const piece of scanRows(this.db, ALL_ROWS))
      for (const { key, value } of piece) {
        const name = key.toString()
        if (left.get(name)?.equals(value) !== true) return `${name} has another value`
        left.delete(name)
        if (this.db.rowAt(key)?.equals(value) !== true) return `${name} is read otherwise alone`
      }
    return left.size === 0 ? null : `${[...left.keys()].join()} are missing`
  }

  get files(): readonly string[] {
    return readdirSync(join(this.dir, 'values'))
  }

  get bytesOnDisk(): number {
    return this.files.reduce((sum, name) => sum + statSync(join(this.dir, 'values', name)).size, 0)
  }

  /** As after a power cut now. */
  cut(t: Test): string {
    const copy = temporaryDirectory(t)
    copyOfOpen(this.dir, copy)
    return copy
  }
}

/** One to four rows with values of all sizes, or removals. */
function randomBatch(random: () => number, version: number): readonly BatchOperation[] {
  const numbers = new Set(Array.from({ length: 1 + (random() % 4) }, () => random() % 60))
  return [...numbers].map((n) => {
    const key = keyOf(n)
    if (random() % 4 === 0) return { type: 'del', key }
    return { type: 'put', key, value: rowOf(key, version, random() % 9_000) }
  })
}

t.test('bytes are those of the page', async (t) => {
  const page = readFileSync(new URL('../../docs/formats/value-file.md', import.meta.url), 'utf8')
  const bytesOf = (name: string): Buffer =>
    Buffer.from((new RegExp(`^${name} +([0-9a-f ]+)$`, 'm').exec(page)?.[1] ?? '').replaceAll(' ', ''), 'hex')
  const key = Buffer.from('k')
  const row = sealRow(key, Buffer.from('a1b2c3', 'hex'))
  const head = recordHead(key, row.length)
  t.same(bytesOf('magic'), MAGIC)
  t.same(bytesOf('record'), Buffer.concat([head, row]))
  const place = { file: 1, offset: MAGIC.length + head.length, length: row.length }
  t.same(bytesOf('pointer'), pointerTo(key, row, place))
  t.match(openPointer(key, bytesOf('pointer')), place)
})

t.test('values', async (t) => {
  t.test('are read back as they were written, whatever was moved meanwhile', async (t) => {
    const random = seeded(SEED)
    let rows = await Rows.open(t, temporaryDirectory(t))
    for (let batch = 0; batch < 600; batch++) {
      await rows.write(randomBatch(random, batch))
      if (batch % 50 === 49) t.equal(await rows.difference(), null, `after batch ${batch}`)
      if (batch % 200 === 120) {
        const { dir, model } = rows
        if (random() % 2 === 0) await rows.db.close()
        rows = await Rows.open(t, rows.db.status === 'open' ? rows.cut(t) : dir, model)
        t.equal(await rows.difference(), null, `after the start behind batch ${batch}`)
      }
    }
    const { movedBytes, filesRemoved } = rows.db.rows.files.sizes
    t.ok(movedBytes > 0 && filesRemoved > 0, `${movedBytes} bytes were moved, ${filesRemoved} files removed`)
  })

  t.test('take at most twice what counts and two files, however often all are written again', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let version = 0; version < 12; version++) {
      for (let n = 0; n < 60; n++) await rows.put((n * 37) % 60, version)
      const { liveBytes, bytes } = rows.db.rows.files.sizes
      t.ok(liveBytes > 60 * 4_000 && liveBytes < 60 * 4_200, `${liveBytes} bytes count`)
      t.ok(bytes <= 2 * liveBytes + 2 * FILE_BYTES, `${bytes} bytes are kept`)
    }
    await rows.db.close()
    t.ok(rows.bytesOnDisk <= 2 * 60 * 4_200 + 2 * FILE_BYTES, `${rows.bytesOnDisk} bytes are on the disk`)
  })

  t.test('are removed with the last row, but for the file that is written to', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let n = 0; n < 60; n++) await rows.put(n, 0)
    t.ok(rows.files.length > 3)
    for (let n = 0; n < 60; n++) await rows.write([{ type: 'del', key: keyOf(n) }])
    await rows.db.close()
    t.equal(rows.files.length, 1)
  })

  t.test('are moved as fast as large batches make garbage', async (t) => {
    const random = seeded(SEED + 2)
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let batch = 0; batch < 30; batch++) {
      const numbers = Array.from({ length: 200 }, (_, n) => n).filter(() => batch === 0 || random() % 2 === 0)
      await rows.write(
        numbers.map((n) => ({ type: 'put', key: keyOf(n), value: rowOf(keyOf(n), batch, 8_000) })),
      )
      const { liveBytes, bytes } = rows.db.rows.files.sizes
      t.ok(
        bytes <= 2 * liveBytes + 200 * 8_100,
        `${bytes} bytes are kept for ${liveBytes} after batch ${batch}`,
      )
    }
    t.equal(await rows.difference(), null)
  })

  t.test('that a snapshot may read stay until it ends', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let n = 0; n < 60; n++) await rows.put(n, 0)
    const then = new Map(rows.model)
    const snapshot = rows.db.snapshot()
    for (let version = 1; version < 4; version++) for (let n = 0; n < 60; n++) await rows.put(n, version)
    for (const [name, value] of then) assert.deepEqual(rows.db.rowAt(Buffer.from(name), snapshot), value)
    const kept = rows.files.length
    await snapshot.close()
    await rows.db.close()
    t.ok(rows.files.length < kept, `${kept} files were kept, ${rows.files.length} are left`)
  })

  t.test('that a walk may read stay until it ends', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let n = 0; n < 200; n++) await rows.put(n, 0)
    const seen = new Map<string, Buffer>()
    const then = new Map(rows.model)
    for await (const piece of scanRows(rows.db, ALL_ROWS)) {
      for (const { key, value } of piece) seen.set(key.toString(), value)
      for (let n = 0; n < 200 && seen.size < 200; n++) await rows.put(n, 1)
    }
    t.same(seen, then, 'it shows the rows of its beginning')
  })
  t.end()
})

t.test('a crash', async (t) => {
  t.test('between values and pointers leaves the batch before, and no file is continued', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let n = 0; n < 10; n++) await rows.put(n, 0)
    const key = keyOf(3)
    await rows.db.rows.separate([{ type: 'put', key, value: rowOf(key, 1, 4_000) }])
    const [name = ''] = rows.files
    const torn = rows.cut(t)
    const { size } = statSync(join(torn, 'values', name))
    for (const cutOff of [0, 1, 2_000, 4_000, 4_050]) {
      truncateSync(join(torn, 'values', name), size - cutOff)
      const after = await Rows.open(t, torn, rows.model)
      t.equal(await after.difference(), null, `without the last ${cutOff} bytes`)
      await after.put(3, 2)
      t.ok(after.files.length > 1, 'what follows lies in another file')
      t.equal(await after.difference(), null)
      rows.model.set(key.toString(), rowOf(key, 2, 4_000))
      await after.db.close()
    }
  })

  t.test('that leaves no value in use: no new file gets the number of a removed one', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    await rows.put(1, 1)
    await rows.write([{ type: 'del', key: keyOf(1) }])
    const after = await Rows.open(t, rows.cut(t), new Map())
    await after.put(2, 1)
    t.equal(await after.difference(), null)
    await after.db.rows.files.close()
    t.same(after.files, ['00000002.values'])
  })

  t.test('before the pointers of moved values are written leaves the old ones', async (t) => {
    const random = seeded(SEED + 1)
    const rows = await Rows.open(t, temporaryDirectory(t))
    let moves = 0
    for (let batch = 0; batch < 300 && moves < 5; batch++) {
      const { operations, settle } = await rows.db.rows.separate(randomBatch(random, batch))
      const isMove = operations.length > 4
      if (isMove) {
        moves++
        const after = await Rows.open(t, rows.cut(t), rows.model)
        t.equal(await after.difference(), null, 'before')
        await after.db.close()
      }
      await rows.db.batch([...operations], { sync: true })
      for (const { type, key } of operations)
        if (type === 'del') rows.model.delete(key.toString())
        else rows.model.set(key.toString(), rows.db.rowAt(key) ?? Buffer.alloc(0))
      if (isMove) {
        const after = await Rows.open(t, rows.cut(t), rows.model)
        t.equal(await after.difference(), null, 'after')
        await after.db.close()
      }
      settle()
    }
    t.equal(moves, 5)
  })
  t.end()
})

t.test('damage', async (t) => {
  t.test('of a value is never read as a row', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let n = 0; n < 4; n++) await rows.put(n, 0)
    const [name = ''] = rows.files
    const path = join(rows.dir, 'values', name)
    const whole = readFileSync(path)
    const random = seeded(SEED)
    let found = 0
    for (let flip = 0; flip < 60; flip++) {
      const bytes = Buffer.from(whole)
      const bit = random() % (bytes.length * 8)
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      writeFileSync(path, bytes)
      try {
        assert.equal(await rows.difference(), null)
      } catch (error) {
        if (!(error instanceof StateDamagedError)) throw error
        found++
      }
    }
    t.ok(found > 50, `${found} of 60 bits were in a value`)
    truncateSync(path, whole.length - 1)
    t.throws(() => rows.db.rowAt(keyOf(3)), StateDamagedError, 'and neither is one that is cut short')
  })

  t.test('of a value ends its move, and the file stays', async (t) => {
    const rows = await Rows.open(t, temporaryDirectory(t))
    for (let n = 0; n < 20; n++) await rows.put(n, 0)
    const [name = ''] = rows.files
    const path = join(rows.dir, 'values', name)
    const bytes = readFileSync(path)
    bytes[2_000] = (bytes[2_000] ?? 0) ^ 1
    writeFileSync(path, bytes)
    const overwrite = async (): Promise<void> => {
      for (let n = 1; n < 20; n++) await rows.put(n, 1)
    }
    await t.rejects(overwrite(), { name: 'RowDamagedError' })
    t.ok(rows.files.includes(name))
  })
  t.end()
})
