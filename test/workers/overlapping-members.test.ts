/**
 * Changes of the members side by side: votes move one operation at a time, copies of several members at once. [ADR 34]
 */
import t from 'tap'
import { chunkKeys } from '../../src/state-machine/chunks/keys.ts'
import type { ChunkRecord } from '../../src/state-machine/chunks/records.ts'
import { Bench } from '../helpers/membership-bench.ts'
import { addCopy, fresh, putChunks } from '../state-machine/map-world.ts'
import { start } from '../state-machine/member-commands.ts'

const CHUNKS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']

const chunks = (bench: Bench): readonly ChunkRecord[] =>
  CHUNKS.flatMap((id) => bench.world.store.reader.get(chunkKeys.chunk('acme', id)) ?? [])

/** Each node makes what it owes. */
async function makeCopies(bench: Bench): Promise<void> {
  for (const { id, owed } of chunks(bench))
    for (const node of owed) await bench.world.do(addCopy(bench.world.store.reader, id, node))
}

t.test('two members that leave at once [membership.overlap]', async (t) => {
  const bench = await Bench.start(t, ['n1', 'n2', 'n3', 'n4', 'n5'])
  bench.leader = 'n5'
  bench.nextLeader('n5')
  bench.copiesWanted = 2
  await bench.world.do(
    putChunks(
      'k',
      CHUNKS.map((id) => fresh(id)),
    ),
  )
  await bench.world.do(start('demote', 'n2'))
  await t.rejects(
    bench.world.do(start('demote', 'n1')),
    /operation "op-demote-n2" is changing them/,
    'one at a time',
  )
  await bench.round()
  t.match(bench.operation('op-demote-n2'), { cursor: 'drain' }, 'its vote is gone, its copies are not')
  await bench.world.do(start('demote', 'n1'))
  await bench.round()
  t.same(bench.voters, ['n3', 'n4', 'n5'], 'votes move although copies of another one do')
  for (let n = 0; n < 12; n++) {
    const taking = chunks(bench).flatMap(({ owed }) => owed)
    t.notOk(taking.includes('n1') || taking.includes('n2'), 'none that leaves takes a copy of the other')
    t.ok(
      chunks(bench).every(({ replicas }) => replicas.length >= 2),
      'and as many are listed as before',
    )
    await makeCopies(bench)
    await bench.round()
  }
  for (const id of ['op-demote-n1', 'op-demote-n2']) t.match(bench.operation(id), { status: 'succeeded' })
  for (const { replicas } of chunks(bench)) t.same(replicas.toSorted(), ['n3', 'n4'])
  t.same([bench.phase('n1'), bench.phase('n2')], ['drained', 'drained'])
})
