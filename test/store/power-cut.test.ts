/**
 * A state whose batches are not flushed one by one, after a power cut: an earlier batch at most, never one without another, and never before
 * the last checkpoint.
 *
 * Rule: a power cut is a copy of the directory in which each log of LevelDB has lost any part of what was not flushed. Tables, manifest and value files are as
 * they were: LevelDB and the state flush those themselves.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SILENT } from '../helpers/loggers.ts'
import { seeded } from '../helpers/node-world.ts'
import { bodyKeys } from '../../src/state-machine/bodies/keys.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { openStore } from '../../src/store/open-store.ts'
import { LevelLogs, logsIn } from '../../src/store/level/level-logs.ts'
import { OpenState } from '../../src/store/rows/open-state.ts'
import { encodeRow, keyBytes } from '../../src/store/rows/row-codec.ts'
import { put } from '../state-machine/map-world.ts'
import { copyOfOpen } from './open-copy.ts'
import { StoreWorld, temporaryDirectory } from './store-world.ts'
import { testMetadataKey } from '../helpers/sealed-metadata.ts'

const SEED = Number(process.env['POWER_CUT_SEED'] ?? 7)
const ROUNDS = 30
const BODY = keyBytes(bodyKeys.inlineBody('bucket', 'body'))

const inline = (key: string, text: string, bytes: number): Command =>
  put(key, { kind: 'inline', chunkId: `c-${text}`, sealed: Buffer.alloc(bytes, `body of ${text}`) }, bytes)

const remove = (key: string): Command => ({
  type: 'deleteObject',
  tenantId: 'acme',
  bucket: 'photos',
  key,
  versionId: null,
  ifMatch: null,
})

const sumOf = (world: StoreWorld): string => Buffer.from(world.store.stateMachine.checksum()).toString('hex')

function stateIn(dir: string): string {
  const name = readdirSync(dir).find((one) => one.startsWith('state-'))
  assert(name !== undefined)
  return join(dir, name)
}

const logsOf = (dir: string): readonly string[] =>
  readdirSync(stateIn(dir)).filter((name) => name.endsWith('.log'))

/** Bytes of each log that are durable now. */
function sizesOf(dir: string): ReadonlyMap<string, number> {
  return new Map(logsOf(dir).map((name) => [name, readFileSync(join(stateIn(dir), name)).length]))
}

/** Any part of what was not flushed is lost: the end, or a piece in the middle. */
function tear(path: string, durable: number, random: () => number): void {
  const bytes = readFileSync(path)
  const loose = bytes.length - durable
  if (loose <= 0) return
  const at = durable + (random() % loose)
  if (random() % 2 === 0) return writeFileSync(path, bytes.subarray(0, at))
  writeFileSync(path, bytes.fill(0, at, Math.min(bytes.length, at + 1 + (random() % 512))))
}

interface History {
  /** Checksums by index. */
  readonly sums: Map<number, string>
  readonly commands: Map<number, readonly Command[]>
}

async function applied(world: StoreWorld, history: History, commands: readonly Command[]): Promise<void> {
  await world.apply(commands)
  history.sums.set(world.index, sumOf(world))
  history.commands.set(world.index, commands)
}

/** Opens the directory and applies again what it has lost. */
async function assertReplayed(
  t: Test,
  dir: string,
  { sums, commands }: History,
  checkpointed: number,
): Promise<boolean> {
  const after = await StoreWorld.open(t, dir)
  const { index } = after
  const last = Math.max(...sums.keys())
  assert(index >= checkpointed, `${index} is before the checkpoint at ${checkpointed}`)
  assert.equal(sumOf(after), sums.get(index), `of index ${index}`)
  assert.equal(await after.store.stateMachine.verify(), null)
  for (let next = index + 1; next <= last; next++) await after.apply(commands.get(next) ?? [])
  assert.equal(sumOf(after), sums.get(last))
  await after.store.stateMachine.close()
  return index < last
}

t.test('a power cut', async (t) => {
  t.test('leaves a state after some batch, and the log of the group brings it forward', async (t) => {
    const random = seeded(SEED)
    const world = await StoreWorld.withBucket(t)
    const history: History = { sums: new Map([[world.index, sumOf(world)]]), commands: new Map() }
    await world.store.stateMachine.checkpoint()
    let [checkpointed, durable, lost] = [world.index, sizesOf(world.dir), 0]
    for (let round = 0; round < ROUNDS; round++) {
      const key = `k${random() % 12}`
      await applied(world, history, [
        random() % 4 === 0 ? remove(key) : inline(key, `${key} ${round}`, 200 + (random() % 3_000)),
      ])
      if (random() % 9 === 0) {
        await world.store.stateMachine.checkpoint()
        ;[checkpointed, durable] = [world.index, sizesOf(world.dir)]
      }
      const copy = temporaryDirectory(t)
      copyOfOpen(world.dir, copy)
      for (const name of logsOf(copy)) tear(join(stateIn(copy), name), durable.get(name) ?? 0, random)
      if (await assertReplayed(t, copy, history, checkpointed)) lost++
      rmSync(copy, { recursive: true })
    }
    t.ok(lost > ROUNDS / 4, `${lost} of ${ROUNDS} power cuts took batches`)
  })

  t.test('finds the value file of a row that it brings back', async (t) => {
    const dir = temporaryDirectory(t)
    const row = (text: string): Buffer => encodeRow(BODY, { sealed: Buffer.alloc(4_000, text) })
    const opened = async (location: string, create = false): Promise<OpenState> => {
      const state = await OpenState.open({ location, create, separates: true, onDamage: () => {} })
      t.teardown(() => state.close())
      await state.countValues(null)
      return state
    }
    const first = await opened(join(dir, 'state'), true)
    await first.write([{ type: 'put', key: BODY, value: row('old') }])
    await first.checkpoint()
    await first.close()
    // Another start begins another file: the one before has nothing but this value.
    const state = await opened(join(dir, 'state'))
    await state.checkpoint()
    await state.write([{ type: 'put', key: BODY, value: row('new') }])
    const { files } = state.db.rows
    t.same([files.sizes.files, files.sizes.filesRemoved], [2, 0], 'the file without a row stays')
    const copy = join(dir, 'after')
    copyOfOpen(join(dir, 'state'), copy)
    for (const { name } of await logsIn(copy)) writeFileSync(join(copy, name), '')
    const after = await opened(copy)
    t.same(after.db.rowAt(BODY), row('old'))
    await state.checkpoint()
    t.equal(files.sizes.filesRemoved, 1, 'until a checkpoint')
  })
  t.end()
})

t.test('a checkpoint', async (t) => {
  t.test('comes before a clean stop is noted, and before a first state counts', async (t) => {
    const dir = temporaryDirectory(t)
    const noted: [boolean, boolean][] = []
    t.intercept(LevelLogs.prototype, 'flush', {
      value: async () => {
        noted.push([existsSync(join(dir, 'CURRENT')), existsSync(join(dir, 'CLOSED'))])
      },
    })
    const world = await StoreWorld.open(t, dir)
    t.same(noted, [[false, false]])
    await world.apply([])
    await world.store.stateMachine.close()
    t.same(noted, [
      [false, false],
      [true, false],
    ])
    t.ok(existsSync(join(dir, 'CLOSED')))
  })

  t.test('comes by itself after enough batches, and not for each', async (t) => {
    const flushes = t.capture(LevelLogs.prototype, 'flush')
    const world = await StoreWorld.withBucket(t)
    flushes()
    for (let round = 0; round < 12; round++) await world.apply([inline('a', `${round}`, 400)])
    t.equal(flushes().length, 0)
    for (let round = 0; round < 2_000; round++) await world.apply([])
    t.equal(flushes().length, 1)
  })

  t.test('that fails stops the state, and no clean stop is noted', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { stateMachine } = world.store
    const refused = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
    t.intercept(LevelLogs.prototype, 'flush', { value: () => Promise.reject(refused) })
    await t.rejects(stateMachine.checkpoint(), { message: /Cannot write the state: the disk refused/ })
    await t.rejects(world.apply([]), { message: /Cannot write the state/ }, 'nothing more is applied')
    await stateMachine.close()
    t.notOk(existsSync(join(world.dir, 'CLOSED')))
    t.same(world.damages, [], 'it is no damage, which another node could replace')
  })

  t.test('covers nothing that is applied while it flushes', async (t) => {
    const world = await StoreWorld.withBucket(t)
    const { stateMachine } = world.store
    let [flushes, release] = [0, (): void => {}]
    t.intercept(LevelLogs.prototype, 'flush', {
      value: async () => {
        flushes++
        await new Promise<void>((resolve) => (release = resolve))
      },
    })
    await world.apply([])
    const first = stateMachine.checkpoint()
    await Promise.resolve()
    await world.apply([])
    const second = stateMachine.checkpoint()
    release()
    await first
    await new Promise(setImmediate)
    t.equal(flushes, 2, 'the second one flushes again')
    release()
    await second
  })
  t.end()
})

t.test('a log that the manifest names and that is missing is damage, and no power cut', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const copy = temporaryDirectory(t)
  copyOfOpen(world.dir, copy)
  for (const name of logsOf(copy)) rmSync(join(stateIn(copy), name))
  const { stateMachine } = openStore({ dir: copy, logger: SILENT, metadataKey: testMetadataKey() })
  t.type((await stateMachine.open()).fault, 'string')
  await stateMachine.close()
})
