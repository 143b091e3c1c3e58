/** Compiled code is kept where no other user can put any. */
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { compiledCodeFolder } from '../../src/base/compiled-code.ts'

function homeOf(t: Test): string {
  const home = mkdtempSync(join(tmpdir(), 'holdfast-home-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true }))
  return home
}

t.test('the folder of compiled code', async (t) => {
  t.test('is one of this user, which no other may write to', async (t) => {
    const HOME = homeOf(t)
    const folder = compiledCodeFolder({ HOME })
    t.equal(folder, join(HOME, '.cache', 'holdfast'))
    t.equal(statSync(folder ?? '').mode & 0o777, 0o700)
    t.equal(compiledCodeFolder({ HOME }), folder, 'the same at the next start')
  })

  t.test('follows XDG_CACHE_HOME, which has to be absolute', async (t) => {
    const [HOME, caches] = [homeOf(t), homeOf(t)]
    t.equal(compiledCodeFolder({ HOME, XDG_CACHE_HOME: caches }), join(caches, 'holdfast'))
    t.equal(compiledCodeFolder({ HOME, XDG_CACHE_HOME: 'caches' }), join(HOME, '.cache', 'holdfast'))
  })

  t.test('is none where another user could have put something there', async (t) => {
    const HOME = homeOf(t)
    const folder = join(HOME, '.cache', 'holdfast')
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o777)
    t.equal(compiledCodeFolder({ HOME }), null, 'others may write to it')
    chmodSync(folder, 0o700)
    chmodSync(HOME, 0o777)
    t.equal(compiledCodeFolder({ HOME }), null, 'others may write above it')
  })

  const isRoot = process.getuid?.() === 0
  t.test('is none in the home of another user', { skip: !isRoot && 'only root can make one' }, async (t) => {
    const HOME = homeOf(t)
    chownSync(HOME, 12_345, 12_345)
    t.equal(compiledCodeFolder({ HOME }), null)
    t.notOk(existsSync(join(HOME, '.cache')))
  })

  t.test('is none without a home, and where Node.js was given one', async (t) => {
    t.equal(compiledCodeFolder({}), null)
    t.equal(compiledCodeFolder({ HOME: '/proc/self' }), null, 'a home that cannot be written to')
    const HOME = homeOf(t)
    t.equal(compiledCodeFolder({ HOME, NODE_COMPILE_CACHE: '/elsewhere' }), null)
    t.notOk(existsSync(join(HOME, '.cache')))
  })
})
