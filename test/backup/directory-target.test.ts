/** A backup target that is a directory. */
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { DirectoryTarget } from '../../src/backup/targets/directory-target.ts'
import { TargetCorrupt, TargetUnreachable } from '../../src/backup/targets/target.ts'
import { namesIn, piecesOf, readAll, testTarget } from './target-suite.ts'

t.test('DirectoryTarget', async (t) => {
  testTarget(t, async (t) => ({ target: new DirectoryTarget(t.testdir()) }))

  t.test('a directory that is not there is not made: it may be a disk that is not mounted', async (t) => {
    const target = new DirectoryTarget(join(t.testdir(), 'mnt'))
    await t.rejects(target.put('a', piecesOf('x'), 1), TargetUnreachable)
    await t.rejects(namesIn(target, ''), TargetUnreachable)
  })

  t.test('a write that was cut short is not listed', async (t) => {
    const root = t.testdir({ '.tmp': { left: 'half' } })
    t.same(await namesIn(new DirectoryTarget(root), ''), [])
  })

  t.test('a symbolic link is replaced, not written through', async (t) => {
    const root = t.testdir({ root: {}, outside: 'mine' })
    await symlink(join(root, 'outside'), join(root, 'root', 'a'))
    const target = new DirectoryTarget(join(root, 'root'))
    t.equal(await target.head('a'), undefined)
    await target.put('a', piecesOf('new'), 3)
    t.equal(await readFile(join(root, 'outside'), 'utf8'), 'mine')
  })

  t.test('a range beyond the end is damage', async (t) => {
    const target = new DirectoryTarget(t.testdir({ a: 'abc' }))
    await t.rejects(readAll(target.get('a', { offset: 1, length: 5 })), TargetCorrupt)
  })

  t.test('a place that another kind of file has does not take a file', async (t) => {
    const root = t.testdir()
    await mkdir(join(root, 'a', 'b'), { recursive: true })
    await writeFile(join(root, 'a', 'b', 'c'), 'x')
    await t.rejects(new DirectoryTarget(root).put('a/b', piecesOf('x'), 1), TargetUnreachable)
    await rm(join(root, 'a'), { recursive: true })
  })
})
