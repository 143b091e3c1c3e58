/** Other work has its turns while an entry is applied, and no read sees a part of the entry. No clock is read. */
import assert from 'node:assert/strict'
import t from 'tap'
import type { Command, Reply } from '../../src/state-machine/commands.ts'
import { ROWS_PER_TURN } from '../../src/store/rows/turns.ts'
import { put, putChunks } from '../state-machine/map-world.ts'
import { StoreWorld } from './store-world.ts'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import { recountState } from '../../src/store/reads/recount-state.ts'
import { usageOf } from '../../src/state-machine/usage/usage.ts'

const CHUNKS = 300
const COPIES = 20

function copy(versionId: string, key: string): Command {
  const { contentType, metadata, masterKeyId, tags, retention, legalHold, precondition } = put(
    'k',
    { kind: 'empty' },
    0,
  )
  const about = { contentType, metadata, masterKeyId, tags, retention, legalHold, precondition }
  const name = { tenantId: 'acme', bucket: 'photos', key }
  return { type: 'copyObject', ...name, ...about, source: { bucket: 'photos', key: 'k', versionId } }
}

/** What reads see in each turn until `work` is done. */
async function meanwhile(work: Promise<unknown>, look: () => number): Promise<readonly number[]> {
  const seen: number[] = []
  let isDone = false
  const turn = (): void => {
    seen.push(look())
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await work
  isDone = true
  return seen
}

/** How many turns other work has had when LevelDB receives the batch: later turns come in any case. */
async function turnsBeforeWrite(world: StoreWorld, work: () => Promise<unknown>): Promise<number> {
  const { db } = world.store.stateMachine.handle.current
  const batch: unknown = Reflect.get(db, 'batch')
  assert(typeof batch === 'function', 'a database takes batches')
  let turns = 0
  let atWrite = -1
  const answer = (...operations: readonly unknown[]): unknown => {
    if (atWrite < 0) atWrite = turns
    return Reflect.apply(batch, db, operations)
  }
  Object.assign(db, { batch: answer })
  await meanwhile(work(), () => ++turns)
  Object.assign(db, { batch })
  return atWrite
}

t.test('an entry of much work', async (t) => {
  const world = await StoreWorld.withBucket(t)
  const chunks = Array.from({ length: CHUNKS }, (_, n) => `c${n}`)
  const { object } = await world.do(putChunks('k', chunks))
  const copies = Array.from({ length: COPIES }, (_, n) => copy(object.versionId, `copy-${n}`))
  const objects = (): number => usageOf(world.store.reader, 'acme').objects

  await t.test(
    'gives other work its turns while it is decided, and reads see all of it or nothing',
    async (t) => {
      let replies: readonly Reply[] = []
      let seen: readonly number[] = []
      const before = await turnsBeforeWrite(world, async () => {
        const work = world.apply(copies).then((all) => (replies = all))
        seen = await meanwhile(work, objects)
      })
      // Each copy looks at each of its chunks and writes it; a turn ends with a command.
      t.ok(before >= (COPIES * CHUNKS) / ROWS_PER_TURN, `${before} turns`)
      t.same(
        [...new Set(seen)].filter((count) => count !== 1 && count !== 1 + COPIES),
        [],
      )
      t.equal(objects(), 1 + COPIES)
      t.equal(replies.filter(({ ok }) => ok).length, COPIES)
      t.match(world.store.reader.get(chunkKeys.chunk('acme', 'c0')), { references: 1 + COPIES })
      t.match(await recountState(world.store.reader, () => true), { differences: [] })
      t.equal(await world.store.stateMachine.verify(), null, 'the checksum is that of the rows')
    },
  )

  await t.test('is given up as a whole when a read finds damage in such a turn', async (t) => {
    const work = world.apply(Array.from({ length: COPIES }, (_, n) => copy(object.versionId, `late-${n}`)))
    setImmediate(() => void world.store.stateMachine.quarantine('a reader met damage'))
    await t.rejects(work, { name: 'StateDamagedError' })
  })
})

t.test('an entry of little work is applied without a turn in between', async (t) => {
  const world = await StoreWorld.withBucket(t)
  t.equal(await turnsBeforeWrite(world, () => world.do(putChunks('k', ['c1', 'c2']))), 0)
})
