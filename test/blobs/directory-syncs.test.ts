/**
 * Flushes of a directory: shared, but never with one that began too early.
 */
import t from 'tap'
import { DirectorySyncs } from '../../cluster/blobs/files/directory-syncs.ts'
import { type Deferred, deferred } from '../helpers/async.ts'

function gatedSyncs() {
  const begun: { readonly path: string; readonly gate: Deferred }[] = []
  const syncs = new DirectorySyncs(async (path) => {
    const gate = deferred()
    begun.push({ path, gate })
    await gate.promise
    if (path === 'broken') throw new Error('EIO')
  })
  return { syncs, begun }
}

t.test('DirectorySyncs', async (t) => {
  t.test('gives whoever comes while a flush runs the next one, and all of them the same', async (t) => {
    const { syncs, begun } = gatedSyncs()
    const ended: string[] = []
    const ask = (who: string) => syncs.sync('a').then(() => ended.push(who))
    const asked = [ask('first'), ask('second'), ask('third')]
    t.equal(begun.length, 1)
    begun[0]?.gate.resolve()
    await asked[0]
    t.strictSame([ended, begun.length], [['first'], 2], 'the flush that ran has answered for nobody else')
    asked.push(ask('fourth'))
    begun[1]?.gate.resolve()
    await asked[1]
    await asked[2]
    t.equal(begun.length, 3)
    begun[2]?.gate.resolve()
    await asked[3]
    t.strictSame(ended, ['first', 'second', 'third', 'fourth'])
  })

  t.test('holds directories apart, and goes on after a failure', async (t) => {
    const { syncs, begun } = gatedSyncs()
    const broken = [syncs.sync('broken'), syncs.sync('broken')]
    const whole = syncs.sync('whole')
    t.strictSame(
      begun.map(({ path }) => path),
      ['broken', 'whole'],
    )
    begun[1]?.gate.resolve()
    await whole
    begun[0]?.gate.resolve()
    await t.rejects(broken[0] ?? Promise.resolve(), { message: 'EIO' })
    begun[2]?.gate.resolve()
    await t.rejects(broken[1] ?? Promise.resolve(), { message: 'EIO' })
  })
})
