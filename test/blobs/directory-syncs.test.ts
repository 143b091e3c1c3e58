/**
 * Flushes of a directory: shared, but never with a flush that started too early.
 */
import t from 'tap'
import { DirectorySyncs } from '../../cluster/blobs/files/directory-syncs.ts'
import { type Deferred, deferred } from '../helpers/async.ts'

function gatedSyncs() {
  const started: { readonly path: string; readonly gate: Deferred }[] = []
  const syncs = new DirectorySyncs(async (path) => {
    const gate = deferred()
    started.push({ path, gate })
    await gate.promise
    if (path === 'broken') throw new Error('EIO')
  })
  return { syncs, started }
}

t.test('DirectorySyncs', async (t) => {
  t.test('gives all callers that arrive during a flush the same next flush', async (t) => {
    const { syncs, started } = gatedSyncs()
    const ended: string[] = []
    const ask = (who: string) => syncs.sync('a').then(() => ended.push(who))
    const asked = [ask('first'), ask('second'), ask('third')]
    t.equal(started.length, 1)
    started[0]?.gate.resolve()
    await asked[0]
    t.strictSame(
      [ended, started.length],
      [['first'], 2],
      'the running flush has answered only its own caller',
    )
    asked.push(ask('fourth'))
    started[1]?.gate.resolve()
    await asked[1]
    await asked[2]
    t.equal(started.length, 3)
    started[2]?.gate.resolve()
    await asked[3]
    t.strictSame(ended, ['first', 'second', 'third', 'fourth'])
  })

  t.test('treats directories separately, and continues after a failure', async (t) => {
    const { syncs, started } = gatedSyncs()
    const broken = [syncs.sync('broken'), syncs.sync('broken')]
    const whole = syncs.sync('whole')
    t.strictSame(
      started.map(({ path }) => path),
      ['broken', 'whole'],
    )
    started[1]?.gate.resolve()
    await whole
    started[0]?.gate.resolve()
    await t.rejects(broken[0] ?? Promise.resolve(), { message: 'EIO' })
    started[2]?.gate.resolve()
    await t.rejects(broken[1] ?? Promise.resolve(), { message: 'EIO' })
  })
})
