/**
 * Proofs of the lock on a copy: one holder at a time for each copy, in the order of the calls, also after failures.
 */
import t from 'tap'
import { CopyLocks } from '../../cluster/blobs/disk/copy-locks.ts'
import { deferred } from '../helpers/async.ts'
import { sampleBlob } from './blob-samples.ts'

t.test('CopyLocks', async (t) => {
  t.test('starts the second when the first has ended, and work on other copies at once', async (t) => {
    const locks = new CopyLocks()
    const [gate, story] = [deferred(), [] as string[]]
    const first = locks.hold(sampleBlob(1), async () => {
      await gate.promise
      story.push('first')
    })
    const second = locks.hold(sampleBlob(1), async () => void story.push('second'))
    await locks.hold(sampleBlob(2), async () => void story.push('other'))
    await locks.hold({ ...sampleBlob(1), birth: 'later' }, async () => void story.push('other birth'))
    gate.resolve()
    await Promise.all([first, second])
    t.strictSame(story, ['other', 'other birth', 'first', 'second'])
  })

  t.test('is free again after a failure, which only its own caller receives', async (t) => {
    const locks = new CopyLocks()
    const failing = locks.hold(sampleBlob(1), async () => {
      throw new Error('the disk refuses')
    })
    const next = locks.hold(sampleBlob(1), async () => 'done')
    await t.rejects(failing, { message: 'the disk refuses' })
    t.equal(await next, 'done')
  })

  t.test(
    'gives a group the copies that are not locked, and locks them until the group is done',
    async (t) => {
      const locks = new CopyLocks()
      const [gate, groupGate, story] = [deferred(), deferred(), [] as string[]]
      const busy = locks.hold(sampleBlob(1), () => gate.promise)
      const names = [1, 2, 3, 2].map((seed) => sampleBlob(seed))
      const group = locks.holdFree(names, async (free) => {
        await groupGate.promise
        story.push(free.map(({ birth }) => birth).join(' '))
      })
      const later = locks.hold(sampleBlob(3), async () => void story.push('later'))
      await locks.holdFree([sampleBlob(2)], async (free) => void story.push(`free: ${free.length}`))
      groupGate.resolve()
      await Promise.all([group, later])
      gate.resolve()
      await busy
      t.strictSame(story, ['free: 0', `${sampleBlob(2).birth} ${sampleBlob(3).birth}`, 'later'])
    },
  )
})
