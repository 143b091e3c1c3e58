/** Entries rehearsed over a state: exactly the rows and the checksum that applying them gives, and no write to the disk. */
import fc from 'fast-check'
import t from 'tap'
import type { Command } from '../../src/state-machine/commands.ts'
import { encodeCommand } from '../../src/commands/command-codec.ts'
import { RehearsedState } from '../../src/store/apply/rehearsed-state.ts'
import { ALL_ROWS, scanRows } from '../../src/store/rows/state-rows.ts'
import { createBucket, putChunks, remove } from '../state-machine/map-world.ts'
import { recordOf, StoreWorld } from './store-world.ts'
import { timesAt } from '../helpers/entry-time.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const commands: fc.Arbitrary<Command> = fc.oneof(
  fc
    .record({ key: fc.constantFrom('a', 'b', '😀'), chunk: fc.constantFrom('c1', 'c2', 'c3') })
    .map(({ key, chunk }): Command => putChunks(key, [chunk])),
  fc.constantFrom('a', 'b', '😀').map((key): Command => remove(key)),
  fc.constantFrom('more', 'photos').map((name): Command => ({ ...createBucket(), name })),
)

async function rowsOf(world: StoreWorld): Promise<readonly string[]> {
  const rows: string[] = []
  for await (const piece of scanRows(world.store.stateMachine.handle.current.db, ALL_ROWS))
    rows.push(...piece.map(({ key, value }) => `${hex(key)} ${hex(value)}`))
  return rows
}

async function rehearsedRows(state: RehearsedState): Promise<readonly string[]> {
  const rows: string[] = []
  for await (const { key, value } of state.rows()) rows.push(`${hex(Buffer.from(key))} ${hex(value)}`)
  return rows
}

t.test('RehearsedState shows what applying would give, and writes nothing', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(commands, { minLength: 1, maxLength: 12 }), async (tail) => {
      const world = await StoreWorld.withBucket(t)
      await world.do(putChunks('a', ['c1']))
      const before = await rowsOf(world)
      const open = world.store.stateMachine.handle.current
      const seal = open.seal()
      if (seal === null) throw new Error('it has a seal')
      const rehearsed = new RehearsedState(open, seal.sum)
      const batches = tail.map((command, n) => {
        const entry = {
          index: world.index + 1 + n,
          ...timesAt(9_000 + n),
          featureLevel: 3,
          commands: [encodeCommand(command)],
        }
        return { entries: [entry], record: recordOf(entry.index) }
      })
      for (const batch of batches) await rehearsed.apply(batch)
      const [sum, rows] = [hex(rehearsed.checksum()), await rehearsedRows(rehearsed)]
      t.same(await rowsOf(world), before)
      for (const batch of batches) await world.store.stateMachine.apply(batch)
      t.equal(sum, hex(world.store.stateMachine.checksum()))
      t.same(rows, await rowsOf(world))
      await world.store.stateMachine.close()
    }),
    { numRuns: 12 },
  )
})
