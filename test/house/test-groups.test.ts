/**
 * Which test files run in one process, and whose output is whose. `check.test.ts` runs such groups.
 */
import t from 'tap'
import { groupsOf, obstaclesIn } from '../../scripts/checks/test-groups.ts'
import { partsOf } from '../../scripts/checks/test-runner.ts'

const TAP = "import t from 'tap'\n"

t.test('test files share a process', async (t) => {
  const sources = Object.entries({
    'src/room/pure.ts': 'export const one = 1\n',
    'src/room/signals.ts': "export const watch = () => process.once('SIGTERM', () => undefined)\n",
    'src/room/between.ts': "export { watch } from './signals.ts'\n",
    'src/room/typed.ts': "import type { watch } from './signals.ts'\nexport type Watch = typeof watch\n",
    'test/room/a.test.ts': "import { one } from '../../src/room/pure.ts'\n",
    'test/room/b.test.ts': "import '../../src/room/typed.ts'\n",
    'test/room/c.test.ts': "import { watch } from '../../src/room/between.ts'\n",
    'test/room/d.test.ts': "process.env['TZ'] = 'UTC'\n",
    'test/room/e.test.ts': "const { watch } = await import('../../src/room/between.ts')\n",
    'test/room/f.test.ts': "// process.exit() is in a comment\nconst zone = process.env['TZ']\n",
    'test/other/a.test.ts': '',
    'test/process/a.test.ts': '',
    'test/room/asserts.ts': '',
    'test/room/g.test.ts': "import './asserts.ts'\n",
  }).map(([path, text]) => ({ path, text: path.startsWith('test/') ? `${TAP}${text}` : text }))
  const files = sources.map(({ path }) => path).filter((path) => path.endsWith('.test.ts'))

  t.test('with others of their room, unless something that they load touches the process', async (t) => {
    t.same(groupsOf(files, sources), [
      ['test/other/a.test.ts'],
      ['test/process/a.test.ts'],
      ['test/room/a.test.ts', 'test/room/b.test.ts', 'test/room/f.test.ts'],
      ['test/room/c.test.ts'],
      ['test/room/d.test.ts'],
      ['test/room/e.test.ts'],
      ['test/room/g.test.ts'],
    ])
    const obstacle = obstaclesIn(sources)
    t.equal(obstacle('test/room/c.test.ts'), 'src/room/signals.ts')
    t.equal(obstacle('test/room/d.test.ts'), 'test/room/d.test.ts')
    t.equal(
      obstacle('test/room/g.test.ts'),
      'test/room/asserts.ts',
      'which asserts by a tap that no file owns',
    )
    t.equal(
      obstaclesIn([{ path: 'test/room/h.test.ts', text: '' }])('test/room/h.test.ts'),
      'test/room/h.test.ts',
    )
  })
  t.test('and a group is not too large', async (t) => {
    const many = Array.from({ length: 30 }, (_, n) => ({ path: `test/room/${n}.test.ts`, text: TAP }))
    const groups = groupsOf(
      many.map(({ path }) => path),
      many,
    )
    t.same(
      groups.map(({ length }) => length),
      [24, 6],
    )
  })
  t.test('and the output of each is its own', async (t) => {
    const parts = partsOf(
      'TAP version 14\n# Subtest: a\n    ok 1 - x\n    1..1\nok 1 - a # time=1ms\n\n# Subtest: b\n    not ok 1 - y\n    1..1\nnot ok 2 - b # time=1ms\n# Subtest: c\n    ok 1 - z\n',
    )
    t.same(parts.get('a'), { tap: 'TAP version 14\nok 1 - x\n1..1\n', ok: true })
    t.same(parts.get('b'), { tap: 'TAP version 14\nnot ok 1 - y\n1..1\n', ok: false })
    t.same(parts.get('c'), { tap: 'TAP version 14\nok 1 - z\n', ok: false })
  })
})
