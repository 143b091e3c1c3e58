/**
 * A sealed database against a map: what single reads, walks in both directions, snapshots and restarts show, under random batches.
 *
 * Rule: the model is sorted by the bytes of keys; every difference of LevelDB and the model is a failure.
 */
import t, { type Test } from 'tap'
import { Level } from 'level'
import { MetadataCipher } from '../../cluster/base/metadata-cipher.ts'
import { seeded } from '../helpers/node-world.ts'
import type { DatabaseSnapshot } from '../../src/store/rows/row-database.ts'
import type { BatchOperation } from '../../src/store/rows/separated-rows.ts'
import { PAGE_ROWS_MAX } from '../../src/store/rows/page-directory.ts'
import { SealedDatabase } from '../../src/store/rows/sealed-database.ts'
import { copyOfOpen } from './open-copy.ts'
import { temporaryDirectory } from './store-world.ts'

const KEY = Buffer.alloc(32, 'key of a sealed database')
const SEED = Number(process.env['SEALED_SEED'] ?? 11)

type Model = ReadonlyMap<string, string>

async function opened(t: Test, dir: string, create: boolean): Promise<SealedDatabase> {
  const db = new SealedDatabase(dir, { create, separates: false }, new MetadataCipher(KEY, 'rows'))
  await db.open()
  t.teardown(() => db.close())
  return db
}

function sorted(model: Model): [string, string][] {
  return [...model].toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}

function after(model: Model, operations: readonly BatchOperation[]): Map<string, string> {
  const next = new Map(model)
  for (const operation of operations) {
    const key = operation.key.toString()
    if (operation.type === 'put') next.set(key, operation.value.toString())
    else next.delete(key)
  }
  return next
}

/** Prefixes of one another, other scripts, and rows of very different sizes. */
function randomBatch(random: () => number, round: number): BatchOperation[] {
  const isRemoving = random() % 3 === 0
  return Array.from({ length: 1 + (random() % 60) }, () => {
    const family = ['a', 'a\u0000b', 'zürich', '\u{1f600}', ''][random() % 5]
    const key = Buffer.from(`${family}/${random() % 300}`)
    if (isRemoving && random() % 5 > 0) return { type: 'del', key }
    const bytes = random() % 40 === 0 ? 60_000 : random() % 200
    return { type: 'put', key, value: Buffer.from(`${round} ${'v'.repeat(bytes)}`) }
  })
}

async function assertSame(t: Test, db: SealedDatabase, model: Model, snapshot?: DatabaseSnapshot) {
  const at = snapshot === undefined ? {} : { snapshot }
  const rows = sorted(model)
  const found = (await db.iterator(at).all()).map(([key, value]) => [key.toString(), value.toString()])
  t.same(found, rows, 'a walk')
  const back = await db.iterator({ ...at, reverse: true }).all()
  t.same(
    back.map(([key]) => key.toString()),
    rows.map(([key]) => key).toReversed(),
    'a walk back',
  )
  t.ok(
    rows.every(([key, value]) => db.getSync(Buffer.from(key), at)?.toString() === value),
    'single rows',
  )
  t.equal(db.getSync(Buffer.from('absent'), at), undefined)
}

async function assertRanges(t: Test, db: SealedDatabase, model: Model, random: () => number): Promise<void> {
  const names = sorted(model).map(([key]) => key)
  const compare = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
  for (let n = 0; n < 20; n++) {
    const ends = [names[random() % names.length] ?? '', `a/${random() % 300}`].toSorted(compare)
    const [low, high] = [ends[0] ?? '', ends[1] ?? '']
    const [isOpen, isClosed] = [random() % 2 === 0, random() % 2 === 0]
    const inside = names.filter(
      (name) => compare(name, low) >= (isOpen ? 1 : 0) && compare(name, high) <= (isClosed ? 0 : -1),
    )
    const bounds = {
      ...(isOpen ? { gt: Buffer.from(low) } : { gte: Buffer.from(low) }),
      ...(isClosed ? { lte: Buffer.from(high) } : { lt: Buffer.from(high) }),
    }
    const limit = 1 + (random() % 100)
    const text = (keys: readonly Buffer[]): string[] => keys.map(String)
    t.same(text(await db.keys({ ...bounds, limit }).all()), inside.slice(0, limit))
    t.same(
      text(await db.keys({ ...bounds, reverse: true, limit }).all()),
      inside.toReversed().slice(0, limit),
    )
    const walk = db.texts({ gte: low, lt: high })
    const half = names.filter((name) => compare(name, low) >= 0 && compare(name, high) < 0)
    const target = half[random() % Math.max(1, half.length)] ?? high
    walk.seek(target)
    t.same(
      (await walk.nextv(5)).map(([key]) => key),
      half.filter((name) => compare(name, target) >= 0).slice(0, 5),
      'after a seek',
    )
    await walk.close()
  }
}

t.test('a sealed database', async (t) => {
  t.test('shows what was written, now and at the moment of every snapshot', async (t) => {
    const random = seeded(SEED)
    let dir = temporaryDirectory(t)
    let db = await opened(t, dir, true)
    let model: Model = new Map()
    let pages = 0
    const moments: { snapshot: DatabaseSnapshot; model: Model }[] = []
    for (let round = 0; round < 120; round++) {
      const operations = randomBatch(random, round)
      const before = model
      model = after(model, operations)
      const writing = db.batch(operations, { sync: false })
      // One of the two, whole: LevelDB may or may not have it.
      for (let turn = 0; turn < random() % 6; turn++) await new Promise(setImmediate)
      const during = db.snapshot()
      const seen = new Map(
        (await db.iterator({ snapshot: during }).all()).map(([k, v]) => [String(k), String(v)]),
      )
      const isBefore = JSON.stringify(sorted(seen)) === JSON.stringify(sorted(before))
      if (!isBefore) t.same(sorted(seen), sorted(model), 'a snapshot while a batch is written')
      await during.close()
      await writing
      pages = Math.max(pages, db.pages)
      if (round % 10 === 3) await assertSame(t, db, model)
      if (round % 20 === 7) await assertRanges(t, db, model, random)
      if (round % 25 === 9) moments.push({ snapshot: db.snapshot(), model })
      if (round % 30 === 29) {
        for (const moment of moments.splice(0)) {
          await assertSame(t, db, moment.model, moment.snapshot)
          await moment.snapshot.close()
        }
        const copy = temporaryDirectory(t)
        copyOfOpen(dir, copy)
        dir = copy
        db = await opened(t, dir, false)
        await assertSame(t, db, model)
      }
    }
    t.ok(pages > 8, `${pages} pages`)
  })

  t.test('finds every row while LevelDB writes a batch that moves rows', async (t) => {
    const db = await opened(t, temporaryDirectory(t), true)
    const keys = Array.from({ length: 20 * PAGE_ROWS_MAX }, (_, n) =>
      Buffer.from(`key-${String((n * 7919) % 9973).padStart(5, '0')}`),
    )
    const done: Buffer[] = []
    for (let at = 0; at < keys.length; at += 40) {
      const piece = keys.slice(at, at + 40)
      let isWriting = true
      const writing = db
        .batch(
          piece.map((key) => ({ type: 'put', key, value: key })),
          { sync: false },
        )
        .finally(() => (isWriting = false))
      while (isWriting) {
        const lost = done.filter((key) => db.getSync(key)?.equals(key) !== true)
        if (lost.length > 0) t.fail(`${lost.length} rows are not found`)
        await new Promise(setImmediate)
      }
      await writing
      done.push(...piece)
    }
    t.ok(db.pages > 10)
  })

  t.test('gives up pages whose rows are gone', async (t) => {
    const db = await opened(t, temporaryDirectory(t), true)
    const keys = Array.from({ length: 1_000 }, (_, n) => Buffer.from(`queue-${String(n).padStart(6, '0')}`))
    for (const key of keys) await db.batch([{ type: 'put', key, value: key }], { sync: false })
    const full = db.pages
    t.ok(full > 15)
    for (const key of keys) await db.batch([{ type: 'del', key }], { sync: false })
    t.equal(db.pages, 1, `of ${full} pages`)
    t.same(await db.iterator({}).all(), [])
  })

  t.test('holds no byte of keys and values in what LevelDB has', async (t) => {
    const dir = temporaryDirectory(t)
    const db = await opened(t, dir, true)
    const rows = Array.from({ length: 300 }, (_, n) => `marked-name-${n}`)
    await db.batch(
      rows.map((name) => ({
        type: 'put',
        key: Buffer.from(name),
        value: Buffer.from(`marked-value of ${name}`),
      })),
      { sync: true },
    )
    await db.close()
    const raw = new Level<Buffer, Buffer>(dir, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    const stored = await raw.iterator().all()
    await raw.close()
    t.ok(stored.length > rows.length)
    t.notOk(stored.some((entry) => entry.some((bytes) => bytes.includes('marked'))))
  })

  t.test('does not open a row with another key, or at another place', async (t) => {
    const dir = temporaryDirectory(t)
    const db = await opened(t, dir, true)
    await db.batch(
      [
        { type: 'put', key: Buffer.from('a'), value: Buffer.from('1') },
        { type: 'put', key: Buffer.from('b'), value: Buffer.from('2') },
      ],
      { sync: true },
    )
    await db.close()
    const raw = new Level<Buffer, Buffer>(dir, { keyEncoding: 'buffer', valueEncoding: 'buffer' })
    const [first, second] = await raw.iterator().all()
    if (first === undefined || second === undefined) throw new Error('there are two rows')
    await raw.batch([{ type: 'put', key: first[0], value: second[1] }])
    await raw.close()
    const after = await opened(t, dir, false)
    const outcomes = ['a', 'b'].map((key) => {
      try {
        return String(after.getSync(Buffer.from(key)))
      } catch (error) {
        return (error as Error).name
      }
    })
    t.ok(outcomes.includes('StateDamagedError'), outcomes.join())
    const other = new SealedDatabase(
      dir,
      { create: false, separates: false },
      new MetadataCipher(Buffer.alloc(32, 1), 'rows'),
    )
    await after.close()
    await other.open()
    t.teardown(() => other.close())
    await t.rejects(other.iterator({}).all(), { name: 'StateDamagedError' })
  })
  t.end()
})
