/**
 * A start after a clean stop that leaves rows of tables unread, and the reading that follows it.
 *
 * Rules: blocks that lead to rows are checked before LevelDB opens anything; every bit that flipped in the rows is reported soon after;
 * a table that a compaction or an install has replaced is no fault; a start after any other stop reads everything first.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Level } from 'level'
import type { StateDamagedError } from '../../cluster/index.ts'
import { checkFiles } from '../../src/store/level/level-files.ts'
import { liveFiles } from '../../src/store/level/level-manifest.ts'
import { LevelStateMachine } from '../../src/store/apply/level-state-machine.ts'
import { TableCheck } from '../../src/store/state/table-check.ts'
import { SILENT } from '../helpers/loggers.ts'
import { seeded } from '../helpers/node-world.ts'
import { put } from '../state-machine/map-world.ts'
import { StoreWorld, type Teardown, temporaryDirectory } from './store-world.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'

const SEED = Number(process.env['DAMAGE_SEED'] ?? 11)
const FLIPS = Number(process.env['DAMAGE_FLIPS'] ?? 40)
const OBJECTS = 60

const inline = (key: string) =>
  put(key, { kind: 'inline', chunkId: `c-${key}`, sealed: Buffer.alloc(900, `body of ${key}`) }, 900)

/** A closed state of two tables and a log: each start makes a table of what the log holds. */
async function closedState(t: Teardown): Promise<string> {
  const first = await StoreWorld.withBucket(t)
  const { dir } = first
  await first.apply(Array.from({ length: OBJECTS }, (_, i) => inline(`a${i}`)))
  await first.store.stateMachine.close()
  for (const name of ['b', 'c']) {
    const world = await StoreWorld.open(t, dir)
    await world.apply(Array.from({ length: OBJECTS }, (_, i) => inline(`${name}${i}`)))
    await world.store.stateMachine.close()
  }
  return dir
}

function stateIn(dir: string): string {
  const name = readdirSync(dir).find((one) => one.startsWith('state-'))
  assert(name !== undefined)
  return join(dir, name)
}

/** Those that LevelDB counts on: files that a compaction left behind stay while the machine is busy, and mean nothing. */
async function tablesIn(dir: string): Promise<string[]> {
  const { tables } = await liveFiles(stateIn(dir))
  const names = readdirSync(stateIn(dir)).toSorted()
  return names.filter((name) => name.endsWith('.ldb') && tables.has(Number.parseInt(name, 10)))
}

function flip(path: string, bit: number): void {
  const bytes = readFileSync(path)
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  writeFileSync(path, bytes)
}

/** Opens without reading a table whole before; gives the faults of the start and of what follows it. */
async function openUnread(
  dir: string,
): Promise<{ readonly atStart: string | null; readonly later: readonly string[] }> {
  const machine = new LevelStateMachine({
    dir,
    logger: SILENT,
    metadataKey: testMetadataKey(),
    wholeBytesMax: 0,
  })
  const damages: StateDamagedError[] = []
  const { fault } = await machine.open((error) => damages.push(error))
  await machine.tablesChecked
  await machine.close()
  return { atStart: fault, later: damages.map(({ message }) => message) }
}

t.test('a start after a clean stop of a large state', (t) => {
  t.test('reports every bit that flipped in a table, before or soon after', async (t) => {
    const dir = await closedState(t)
    const copy = temporaryDirectory(t)
    const random = seeded(SEED)
    const counts = { atStart: 0, later: 0 }
    for (let i = 0; i < FLIPS; i++) {
      rmSync(copy, { recursive: true, force: true })
      cpSync(dir, copy, { recursive: true })
      const names = await tablesIn(copy)
      const path = join(stateIn(copy), names[random() % names.length] ?? '')
      // The footer has bits that mean nothing.
      const bit = random() % ((readFileSync(path).length - 48) * 8)
      flip(path, bit)
      const { atStart, later } = await openUnread(copy)
      if (atStart !== null) counts.atStart++
      else if (later.length === 1) counts.later++
      else t.fail(`bit ${bit} of ${path}: ${later.length} faults`)
    }
    t.comment(counts)
    t.ok(counts.atStart > 0 && counts.later > 0)
  })

  t.test('accepts a state that is whole, and so does the next start', async (t) => {
    const dir = await closedState(t)
    for (let start = 0; start < 3; start++) t.strictSame(await openUnread(dir), { atStart: null, later: [] })
  })

  t.test(
    'quarantines the state for faults found later, so that the next start takes no row of it',
    async (t) => {
      const dir = await closedState(t)
      const [name = ''] = await tablesIn(dir)
      flip(join(stateIn(dir), name), 800)
      t.match(await openUnread(dir), { atStart: null, later: [/table [0-9]+: the checksum of a block/] })
      t.match(await openUnread(dir), { atStart: /the checksum of a block/, later: [] })
    },
  )

  t.test('reads everything first when the stop was not clean', async (t) => {
    const dir = await closedState(t)
    rmSync(join(dir, 'CLOSED'))
    const [name = ''] = await tablesIn(dir)
    flip(join(stateIn(dir), name), 800)
    t.match(await openUnread(dir), { atStart: /the checksum of a block/, later: [] })
  })

  t.test('reads as many bytes whole as it may, the newest tables first', async (t) => {
    const location = temporaryDirectory(t)
    const db = new Level<Buffer, Buffer>(location, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      writeBufferSize: 65_536,
    })
    for (let i = 0; i < 400; i++) await db.put(Buffer.from(String(i).padStart(4, '0')), randomBytes(1_000))
    await db.close()
    const tables = [...(await liveFiles(location)).tables].toSorted(([one], [other]) => other - one)
    const numbers = tables.map(([number]) => number)
    t.ok(tables.length > 2)
    for (const whole of [0, 1, tables.length]) {
      const bytes = tables.slice(0, whole).reduce((sum, [, size]) => sum + size, 0)
      const { fault, unread } = await checkFiles(location, bytes)
      t.strictSame([fault, [...unread.keys()]], [null, numbers.slice(whole)])
    }
  })
  t.end()
})

t.test('the reading of tables', (t) => {
  t.test('ignores a table that the manifest no longer names, and reports one that is missing', async (t) => {
    const location = stateIn(await closedState(t))
    const { tables } = await liveFiles(location)
    const [[number, size]] = [...tables] as [[number, number]]
    const read = async (some: ReadonlyMap<number, number>): Promise<string[]> => {
      const faults: string[] = []
      const onFault = (fault: string): void => void faults.push(fault)
      await new TableCheck({ location, tables: some, values: null, logger: SILENT, onFault }).done
      return faults
    }
    t.strictSame(await read(new Map([[999, 10], ...tables])), [])
    t.strictSame(await read(new Map([[number, size + 1]])), [
      `its table ${number}: it has ${size} bytes instead of ${size + 1}`,
    ])
    for (const name of readdirSync(location).filter((one) => one.endsWith('.ldb')))
      rmSync(join(location, name))
    t.strictSame(await read(tables), [`its table ${number}: it is missing`])
  })

  t.test('ends when it is aborted, without a log line', async (t) => {
    const location = stateIn(await closedState(t))
    const { tables } = await liveFiles(location)
    for (const name of readdirSync(location).filter((one) => one.endsWith('.ldb')))
      flip(join(location, name), 800)
    const onFault = (fault: string): void => void t.fail(fault)
    await new TableCheck({ location, tables, values: null, logger: SILENT, onFault }).stop()
  })
  t.end()
})
