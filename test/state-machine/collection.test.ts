/** ProposalSessions, condemnation and collection, and the status of a copy by its rows. */
import t from 'tap'
import { usageKeys } from '../../src/state-machine/usage/keys.ts'
import { chunkKeys, chunkRanges } from '../../src/state-machine/chunks/keys.ts'
import type { View } from '../../src/state-machine/base/view.ts'
import { birthOf, parseBirth } from '../../src/state-machine/chunks/births.ts'
import { copyStatus } from '../../src/state-machine/chunks/copy-status.ts'
import { addCopy, found, fresh, type MapWorld, putChunks, worldAtLevel2 } from './map-world.ts'

const remove = (key: string) =>
  ({ type: 'deleteObject', tenantId: 'acme', bucket: 'photos', key, versionId: null, ifMatch: null }) as const
const name = { tenantId: 'acme', chunkId: 'c1', birth: 'birth-c1' } as const
const collect = (condemnedAt: number) =>
  ({ type: 'collectChunks', chunks: [{ ...name, condemnedAt }] }) as const
const chunk = (world: MapWorld) => world.get(chunkKeys.chunk('acme', 'c1'))
const keysIn = (world: MapWorld, range: { start: string; end: string }) =>
  [...world.rows.keys()].filter((key) => key >= range.start && key < range.end)
const copyStatusOf = (world: MapWorld, holder: string, birth = 'birth-c1') =>
  copyStatus(world, { id: 'c1', birth }, holder)

function condemned(): { world: MapWorld; at: number } {
  const world = worldAtLevel2()
  world.do(putChunks('k', [fresh('c1', { missing: ['n3'] })]))
  world.do(remove('k'))
  return { world, at: world.index }
}

t.test('births', (t) => {
  t.test('name a session and a sequence in it, and no other text is a birth', (t) => {
    for (const sequence of [0, 35, 36, 2 ** 40]) {
      t.same(parseBirth(birthOf('5e55', sequence)), { session: '5e55', sequence })
    }
    t.same(parseBirth('a-b-10'), { session: 'a-b', sequence: 36 })
    for (const other of ['', '-1', 'a', 'a-', 'a-00', 'a-A', 'a-1.5', 'a-zzzzzzzzzzzz'])
      t.equal(parseBirth(other), null)
    t.end()
  })
  t.end()
})

t.test('sessions', (t) => {
  const put = (world: MapWorld, birth: string) => world.run(putChunks('k', [fresh('c1', { birth })]))
  const ended = { ok: false, code: 'session_ended' }

  t.test('session_ended when no gateway opened it, when it is closed or below its mark', (t) => {
    const world = worldAtLevel2()
    t.match(put(world, 'unopened-1'), { ...ended, births: ['unopened-1'] })
    t.match(put(world, 'nonsense'), ended)
    world.do({ type: 'advanceSession', session: 'birth', lowWater: 6 })
    t.match(put(world, 'birth-5'), ended)
    world.do({ type: 'advanceSession', session: 'birth', lowWater: 3 })
    t.match(put(world, 'birth-5'), ended, 'the mark never decreases')
    t.match(put(world, 'birth-6'), { ok: true })
    world.do({ type: 'closeSession', session: 'birth' })
    t.match(put(world, 'birth-7'), ended)
    t.match(world.run(putChunks('j', [found('c1', { birth: 'birth-6' })])), { ok: true }, 'its chunks stay')
    t.end()
  })

  t.test('a node that opens one closes those that it does not keep, and none is opened twice', (t) => {
    const world = worldAtLevel2()
    const open = (session: string, keep: readonly string[] = []) =>
      world.run({ type: 'openSession', session, node: 'g1', keep })
    t.match(open('second', ['birth']), { ok: true })
    t.match(world.get(chunkKeys.nodeUploadSessions('g1')), { open: ['birth', 'second'] })
    const refused = { ok: false, code: 'precondition_failed' }
    t.match(open('second', ['birth']), refused, 'a second run would reuse its births')
    t.match(open('third', ['second']), { ok: true })
    t.match(world.get(chunkKeys.session('birth')), { closed: true })
    t.match(world.get(chunkKeys.session('second')), { closed: false })
    t.match(open('birth'), refused)
    world.do({ type: 'openSession', session: 'other', node: 'g2', keep: [] })
    t.match(
      world.get(chunkKeys.session('third')),
      { closed: false },
      'only sessions of its own node are closed',
    )
    for (const session of ['second', 'third']) world.do({ type: 'closeSession', session })
    t.notOk(world.get(chunkKeys.nodeUploadSessions('g1')))
    t.end()
  })

  t.test(
    'not_found when the session is unknown, invalid_argument when the mark is not a sequence number',
    (t) => {
      const world = worldAtLevel2()
      const refused = { ok: false, code: 'not_found' }
      t.match(world.run({ type: 'advanceSession', session: 'x', lowWater: 1 }), refused)
      t.match(world.run({ type: 'closeSession', session: 'x' }), refused)
      t.match(world.run({ type: 'advanceSession', session: 'birth', lowWater: -1 }), {
        code: 'invalid_argument',
      })
      t.end()
    },
  )
  t.end()
})

t.test('collectChunks', (t) => {
  t.test(
    'removes the row, its tasks and its place in the queue, and makes drop rows for every holder and target',
    (t) => {
      const { world, at } = condemned()
      t.equal(keysIn(world, chunkRanges.condemned()).length, 1)
      t.same(world.do(collect(at)), { collected: 1 })
      t.notOk(chunk(world))
      t.same([keysIn(world, chunkRanges.condemned()), keysIn(world, chunkRanges.repairs())], [[], []])
      t.same(world.get(chunkKeys.repairTotal()), { count: 0 })
      for (const node of ['n1', 'n2', 'n3']) t.equal(copyStatusOf(world, node), 'dropping')
      t.same(world.do(collect(at)), { collected: 0 }, 'twice as well as once')
      t.end()
    },
  )

  t.test('keeps a chunk that was revived, also if it was condemned again since', (t) => {
    const { world, at } = condemned()
    world.do(putChunks('j', [found('c1')]))
    t.same(keysIn(world, chunkRanges.condemned()), [])
    t.same(world.do(collect(at)), { collected: 0 })
    world.do(remove('j'))
    t.same(world.do(collect(at)), { collected: 0 })
    t.same(world.do(collect(world.index - 1)), { collected: 1 })
    t.end()
  })

  t.test('chunks_gone for an upload that relied on it, and another birth may follow', (t) => {
    const { world, at } = condemned()
    world.do(collect(at))
    t.match(world.run(putChunks('j', [found('c1')])), { ok: false, code: 'chunks_gone' })
    world.do(putChunks('j', [fresh('c1', { birth: 'birth-2' })]))
    t.equal(copyStatusOf(world, 'n1', 'birth-2'), 'listed')
    t.equal(copyStatusOf(world, 'n1'), 'dropping', 'a copy of the old birth is another file')
    t.end()
  })

  t.test('precondition_failed while collection is halted', (t) => {
    const { world, at } = condemned()
    world.do({ type: 'haltCollection', reason: 'drift' })
    world.do({ type: 'haltCollection', reason: 'later' })
    t.match(world.get(chunkKeys.settings()), { collectionHalted: { reason: 'drift' } })
    t.match(world.run(collect(at)), { ok: false, code: 'precondition_failed' })
    world.do({ type: 'resumeCollection', requestedBy: 'olga', reason: 'looked' })
    t.same(world.do(collect(at)), { collected: 1 })
    t.end()
  })
  t.end()
})

t.test('setRepairRate', (t) => {
  t.test('keeps the rate next to the other settings, invalid_argument when it is not a rate', (t) => {
    const world = worldAtLevel2()
    world.do({ type: 'haltCollection', reason: 'drift' })
    world.do({ type: 'setRepairRate', bytesPerSecond: 5 })
    t.match(world.get(chunkKeys.settings()), {
      repairBytesPerSecond: 5,
      collectionHalted: { reason: 'drift' },
    })
    t.match(world.run({ type: 'setRepairRate', bytesPerSecond: 0 }), { ok: false, code: 'invalid_argument' })
    world.do({ type: 'setRepairRate', bytesPerSecond: null })
    t.match(world.get(chunkKeys.settings()), { repairBytesPerSecond: null })
    t.end()
  })
  t.end()
})

t.test('copyStatus', (t) => {
  t.test('is undecided while an upload may commit or its session is unknown, and abandoned after', (t) => {
    const world = worldAtLevel2()
    t.equal(copyStatusOf(world, 'n1'), 'undecided')
    t.equal(copyStatusOf(world, 'n1', 'unopened-1'), 'undecided', 'this node may lag behind')
    t.equal(copyStatusOf(world, 'n1', 'nonsense'), 'undecided')
    world.do(putChunks('k', [fresh('c1', { missing: ['n3'] })]))
    t.same(
      ['n1', 'n3', 'n4'].map((node) => copyStatusOf(world, node)),
      ['listed', 'owed', 'undecided'],
    )
    world.do({ type: 'closeSession', session: 'birth' })
    t.same(
      ['n1', 'n3', 'n4'].map((node) => copyStatusOf(world, node)),
      ['listed', 'owed', 'abandoned'],
    )
    world.do(addCopy(world, 'c1', 'n3'))
    t.equal(copyStatusOf(world, 'n3'), 'listed')
    t.end()
  })
  t.end()
})

/** Shows the rows of `before` for `reads` reads, and those of `after` from then on. */
function written(before: View, after: View, reads: number): View {
  return { get: (key) => (reads-- > 0 ? before : after).get(key) }
}

t.test('status while rows are written', (t) => {
  const copy = { id: 'c1', birth: 'birth-c1' }
  const isKept = (before: MapWorld, after: MapWorld) => {
    for (let reads = 0; reads < 6; reads++) {
      const status = copyStatus(written(before, after, reads), copy, 'n1')
      t.notOk(status === 'abandoned' || status === 'dropping', `${status} after ${reads} reads`)
    }
  }

  t.test('keeps a chunk that was committed in the batch that closed its session', (t) => {
    const after = worldAtLevel2()
    after.do(putChunks('k', ['c1']))
    after.do({ type: 'closeSession', session: 'birth' })
    isKept(worldAtLevel2(), after)
    t.end()
  })

  t.end()
})

t.test('usage', (t) => {
  t.test('follows objects, chunks and copies in the entry that changes them', (t) => {
    const { world } = condemned()
    const usage = () => world.get(usageKeys.usage('acme'))
    t.match(usage(), {
      objects: 0,
      logicalBytes: 0,
      chunkCount: 1,
      chunkBytes: 10,
      storedBytes: 38,
      copyBytes: 76,
    })
    world.do(putChunks('j', [found('c1'), found('c1')]))
    t.match(usage(), { objects: 1, logicalBytes: 20, chunkCount: 1, chunkBytes: 10 })
    world.do(addCopy(world, 'c1', 'n3'))
    t.match(usage(), { copyBytes: 114 })
    world.do(remove('j'))
    world.do(collect(world.index))
    t.same(new Set(Object.values(usage() ?? {})), new Set([0]))
    t.end()
  })
  t.end()
})
