/**
 * `npm run check -- --changed` and the runner of the tests, on small repositories of their own: which tests a change selects, the report about
 * the rest, and the exit with an error when a test is broken.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withoutLoader } from '../helpers/without-loader.ts'
import { roomFolders, selectTests } from '../../scripts/checks/selection.ts'
import { importGraph } from '../../scripts/checks/import-graph.ts'
import { changedFiles, repositoryFiles } from '../../scripts/checks/repository-files.ts'
import { longestFirst } from '../../scripts/checks/test-times.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

type Files = Readonly<Record<string, string>>

const HEADER = '/** A file of a test. */\n'
const TAP = "import t from 'tap'\n"
const LATER = 'new Promise((resolve) => setImmediate(resolve))'

/** Rooms in a row: log <- core <- edge, and one beside them. */
const FILES: Files = {
  'cluster/log/log.ts': `${HEADER}export const size = (): number => 1\n`,
  'cluster/log/log-worker.ts': `${HEADER}export const worker = true\n`,
  'cluster/core/core.ts': `${HEADER}import { size } from '../log/log.ts'\nexport const twice = (): number => 2 * size()\n`,
  'cluster/core/thread.ts': `${HEADER}export const place = new URL('../log/log-worker.ts', import.meta.url)\n`,
  'src/main.ts': `${HEADER}import { twice } from '../cluster/core/core.ts'\nprocess.stdout.write(String(twice()))\n`,
  'docs/page.md': '# Page\n',
  'docs/rows.json': '{}\n',
  'docs/unread.json': '{}\n',
  'test/log/log.test.ts': `${TAP}import { size } from '../../cluster/log/log.ts'\nt.equal(size(), 1)\n`,
  'test/core/core.test.ts': `${TAP}import { twice } from '../../cluster/core/core.ts'\nt.equal(twice(), 2)\n`,
  'test/core/late.test.ts': `${TAP}const { twice } = await import('../../cluster/core/core.ts')\nt.equal(twice(), 2)\n`,
  'test/core/thread.test.ts': `${TAP}import { place } from '../../cluster/core/thread.ts'\nt.ok(place)\n`,
  'test/other/other.test.ts': `${TAP}t.ok(true)\n`,
  'test/other/rows.test.ts': `${TAP}const file = new URL('../../docs/rows.json', import.meta.url)\nt.ok(file)\n`,
  'test/process/start.test.ts': `${TAP}const main = new URL('../../src/main.ts', import.meta.url)\nt.ok(main)\n`,
}

function repository(files: Files): { dir: string; readonly write: (files: Files) => void } {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-check-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const write = (texts: Files): void => {
    for (const [file, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(dir, file)), { recursive: true })
      writeFileSync(join(dir, file), text)
    }
  }
  write(files)
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8' })
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '--all')
  git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '--message', 'Begin')
  return { dir, write }
}

/** The selection of `--changed` there: tests with their import distance, and the files reported as not covered. */
function selected(
  dir: string,
  nearest?: number,
): { tests: readonly string[]; uncovered: readonly string[]; further: number } {
  const files = repositoryFiles(dir)
  const sources = files
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: execFileSync('cat', [join(dir, path)], { encoding: 'utf8' }) }))
  const changed = changedFiles(dir, 'HEAD')
  const { tests, uncovered, further } = selectTests(importGraph(sources, files), {
    changed,
    within: null,
    nearest,
  })
  return { tests: tests.map(({ file, imports }) => `${file} ${imports}`), uncovered, further }
}

t.test('a change selects', async (t) => {
  t.test('nothing, when nothing differs', async (t) => {
    t.same(selected(repository(FILES).dir), { tests: [], uncovered: [], further: 0 })
  })
  t.test('the tests that import the file, also through others and dynamically, nearest first', async (t) => {
    const { dir, write } = repository(FILES)
    write({ 'cluster/log/log.ts': `${HEADER}export const size = (): number => 3\n` })
    t.same(selected(dir).tests, [
      'test/log/log.test.ts 1',
      'test/core/core.test.ts 2',
      'test/core/late.test.ts 2',
    ])
    t.same(selected(dir, 1), { tests: ['test/log/log.test.ts 1'], uncovered: [], further: 2 })
  })
  t.test('the tests of the same room before tests that are nearer', async (t) => {
    const { dir, write } = repository({
      ...FILES,
      'cluster/core/inner.ts': `${HEADER}export const inner = 1\n`,
      'cluster/core/outer.ts': `${HEADER}export { inner } from './inner.ts'\n`,
      'test/core/outer.test.ts': `${TAP}import { inner } from '../../cluster/core/outer.ts'\nt.ok(inner)\n`,
      'test/aside/inner.test.ts': `${TAP}import { inner } from '../../cluster/core/inner.ts'\nt.ok(inner)\n`,
    })
    write({ 'cluster/core/inner.ts': `${HEADER}export const inner = 2\n` })
    t.same(selected(dir).tests, ['test/core/outer.test.ts 2', 'test/aside/inner.test.ts 1'])
  })
  t.test('the test that imports a worker through the file that starts it', async (t) => {
    const { dir, write } = repository(FILES)
    write({ 'cluster/log/log-worker.ts': `${HEADER}export const worker = false\n` })
    t.same(selected(dir).tests, ['test/core/thread.test.ts 2'])
  })
  t.test('the tests that import a file that was removed', async (t) => {
    const { dir } = repository(FILES)
    rmSync(join(dir, 'cluster/core/core.ts'))
    t.same(selected(dir).tests, ['test/core/core.test.ts 1', 'test/core/late.test.ts 1'])
  })
  t.test('a test that git does not know yet, and itself when it is staged', async (t) => {
    const { dir, write } = repository(FILES)
    write({ 'test/other/new.test.ts': `${TAP}t.ok(true)\n`, 'test/other/other.test.ts': `${TAP}t.ok(1)\n` })
    execFileSync('git', ['-C', dir, 'add', 'test/other/other.test.ts'])
    t.same(selected(dir).tests, ['test/other/new.test.ts 0', 'test/other/other.test.ts 0'])
  })
  t.test('the test that names a data file; a file that no test names is not covered', async (t) => {
    const { dir, write } = repository(FILES)
    write({ 'docs/rows.json': '[]\n', 'docs/unread.json': '[]\n' })
    t.same(selected(dir), {
      tests: ['test/other/rows.test.ts 1'],
      uncovered: ['docs/unread.json'],
      further: 0,
    })
  })
  t.test('no test that only starts the program: npm test runs it, and the output says so', async (t) => {
    const { dir, write } = repository(FILES)
    write({ 'src/main.ts': `${HEADER}process.exit(1)\n` })
    t.same(selected(dir), { tests: [], uncovered: ['src/main.ts'], further: 0 })
  })
})

t.test('--since', async (t) => {
  t.test('refuses a commit that does not exist, and an option in place of one', async (t) => {
    const { dir } = repository(FILES)
    for (const since of ['nowhere', '--output=stolen'])
      t.throws(() => changedFiles(dir, since), { message: /expected a branch or a commit/ })
    t.notOk(existsSync(join(dir, 'stolen')))
  })
})

t.test('a room', async (t) => {
  const files = Object.keys(FILES)
  t.same(roomFolders('core', files), {
    sources: ['cluster/core/', 'src/core/', 'test/core/'],
    tests: 'test/core/',
  })
  t.same(roomFolders('cluster/core', files), {
    sources: ['cluster/core/', 'test/core/'],
    tests: 'test/core/',
  })
  t.equal(roomFolders('cellar', files), null)
})

t.test('the longest files start first; those without a time before all others', async (t) => {
  const times = new Map([
    ['test/a.test.ts', 10],
    ['test/b.test.ts', 2000],
  ])
  const files = ['test/a.test.ts', 'test/new.test.ts', 'test/b.test.ts', 'test/programs/chaos/new.test.ts']
  const alone = files.map((file) => [file])
  t.same(longestFirst(alone, times).flat(), [
    'test/programs/chaos/new.test.ts',
    'test/new.test.ts',
    'test/b.test.ts',
    'test/a.test.ts',
  ])
  t.same(
    longestFirst([['test/b.test.ts'], ['test/a.test.ts', 'test/c.test.ts'], ['test/a.test.ts']], times),
    [['test/a.test.ts', 'test/c.test.ts'], ['test/b.test.ts'], ['test/a.test.ts']],
  )
})

const COMPILER = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
  },
  include: ['test'],
}

/** With the scripts, the settings and the packages of this repository. */
function house(files: Files): ReturnType<typeof repository> & {
  readonly check: (...args: string[]) => { status: number | null; lines: string[] }
} {
  const { dir, write } = repository({ ...files, '.gitignore': 'node_modules\ndist\n*.tsbuildinfo\n' })
  for (const file of [
    '.taprc',
    '.oxlintrc.json',
    'biome.json',
    'package.json',
    'package-lock.json',
    'docs/adr',
  ])
    cpSync(join(ROOT, file), join(dir, file), { recursive: true })
  cpSync(join(ROOT, 'scripts', 'checks'), join(dir, 'scripts', 'checks'), { recursive: true })
  writeFileSync(join(dir, 'tsconfig.json'), `${JSON.stringify(COMPILER)}\n`)
  // A folder, not a link: test times are stored in it.
  mkdirSync(join(dir, 'node_modules'))
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '.cache') symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name))
  }
  execFileSync('git', ['-C', dir, 'add', '--all'])
  execFileSync('git', [
    '-C',
    dir,
    '-c',
    'user.name=t',
    '-c',
    'user.email=t@localhost',
    'commit',
    '--quiet',
    '-m',
    'Furnish',
  ])
  return {
    dir,
    write,
    check(...args) {
      const { status, stdout } = spawnSync(
        ...withoutLoader(process.execPath, 'scripts/checks/main.ts', ...args),
        {
          cwd: dir,
          encoding: 'utf8',
        },
      )
      return { status, lines: stdout.trimEnd().split('\n') }
    },
  }
}

/** Tidy asks rooms of the product for a row in its table; these tests need none. */
const OF_THE_RUNNER: Files = {
  'test/log/size.ts': 'export const size = (): number => 1\n',
  'test/log/size.test.ts': `${TAP}import { size } from './size.ts'\n\nt.equal(size(), 1, 'the size is one')\n`,
  'test/log/ends.test.ts': `${TAP}\nt.same(process.execArgv, [], 'as with node FILE')\n`,
  'docs/unread.json': '{}\n',
}

t.test('npm run check', async (t) => {
  t.test(
    '--changed ends green without a change, red with a broken test, and says what no test reads',
    async (t) => {
      const { check, write } = house(OF_THE_RUNNER)
      t.match(check('--changed'), {
        status: 0,
        lines: [/^0 files differ from HEAD/, /^0 test files/, '0 passed, 0 failed'],
      })
      write({ 'test/log/size.ts': 'export const size = (): number => 2\n', 'docs/unread.json': '[]\n' })
      const listed = check('--changed', '--list')
      t.equal(listed.status, 0)
      t.same(listed.lines.slice(1), [
        '1 test files, those of the same component and with the fewest imports between first',
        '  test/log/size.test.ts  reads test/log/size.ts',
        '1 changed files that no test imports or names:',
        '  docs/unread.json',
      ])
      const red = check('--changed')
      t.equal(red.status, 1)
      t.ok(
        red.lines.some((line) => line.startsWith('FAILED test/log/size.test.ts > the size is one')),
        red.lines.join('\n'),
      )
      t.same(red.lines.slice(-2), ['FAILED test/log/size.test.ts', '0 passed, 1 failed'])
    },
  )
  t.test('--changed stops at a house rule before any test', async (t) => {
    const { check, write } = house(OF_THE_RUNNER)
    write({ 'test/log/size.ts': 'export const size = (): number => { debugger; return 1 }\n' })
    const { status, lines } = check('--changed')
    t.equal(status, 1)
    t.same(lines.slice(-2), ['FAILED lint without types, see above', '0 passed, 1 failed'])
  })
  t.test(
    '--room runs all tests of a room and no others, and names the slowest last but for the totals',
    async (t) => {
      const { check } = house({ ...OF_THE_RUNNER, 'test/other/red.test.ts': `${TAP}\nt.ok(false)\n` })
      const { status, lines } = check('--room', 'log')
      t.equal(status, 0, lines.join('\n'))
      t.equal(lines.at(-1), '2 passed, 0 failed')
      t.equal(lines.at(-4), 'SLOWEST 2 of 2 files')
      t.match(lines.slice(-3, -1).toSorted(), [
        /^ {2}test\/log\/ends\.test\.ts \d/,
        /^ {2}test\/log\/size\.test\.ts \d/,
      ])
      t.equal(check('--room', 'cellar').status, 2)
    },
  )
  t.test(
    'a file that fails, hangs up or throws late in a shared process fails, and no other one',
    async (t) => {
      const dies =
        "import { constants } from 'node:os'\nt.ok(true)\nprocess[`${'kil'}l`](process.pid, constants.signals.SIGKILL)\n"
      const { check } = house({
        'test/a/a-good.test.ts': `${TAP}\nt.test('x', async (t) => t.ok(true))\nt.teardown(() => undefined)\n`,
        'test/a/b-red.test.ts': `${TAP}\nt.test('y', async (t) => t.ok(false))\n`,
        'test/a/c-bad.test.ts': `${TAP}\nt.ok(true)\nthrow new Error('no')\n`,
        'test/a/d-throws.test.ts': `${TAP}\nt.test('z', async (t) => {\n  t.ok(true)\n  await new Promise((_, no) => setImmediate(() => no(new Error('late'))))\n})\n`,
        'test/a/e-dies.test.ts': `${TAP}${dies}`,
        'test/a/f-after.test.ts': `${TAP}\nt.ok(true)\n`,
        'test/a/d-unhandled.test.ts': `${TAP}\nt.test('u', async (t) => {\n  void ${LATER}.then(() => Promise.reject(new Error('unhandled')))\n  await ${LATER}\n  await ${LATER}\n  t.ok(true)\n})\n`,
        'test/a/d-timer.test.ts': `${TAP}\nt.test('v', async (t) => {\n  await ${LATER}\n  setImmediate(() => {\n    throw new Error('no')\n  })\n  await ${LATER}\n  await ${LATER}\n  t.ok(true)\n})\n`,
        'test/a/d-whole.test.ts': `${TAP}\nt.ok(true)\n`,
      })
      const { status, lines } = check('--room', 'a')
      t.equal(status, 1)
      t.same(
        lines.filter((line) => /^FAILED test\/a\/[a-z-]+\.test\.ts$/.test(line)).toSorted(),
        ['b-red', 'c-bad', 'd-throws', 'd-timer', 'd-unhandled', 'e-dies'].map(
          (name) => `FAILED test/a/${name}.test.ts`,
        ),
        lines.join('\n'),
      )
    },
  )
  t.test('a file that dies, does not load or prints half its TAP is not ok', async (t) => {
    const { check } = house({
      'test/a/dies.test.ts': `${TAP}\nt.ok(true)\nprocess.on('exit', () => process.kill(process.pid, 'SIGKILL'))\n`,
      'test/a/does-not-load.test.ts': "throw new Error('no')\n",
      'test/a/half.test.ts': "process.stdout.write('TAP version 14\\nok 1 - one\\n1..2\\n')\n",
      'test/a/whole.test.ts': `${TAP}\nt.ok(true)\n`,
    })
    const { status, lines } = check('--room', 'a')
    t.equal(status, 1)
    const failed = lines.filter((line) => /^FAILED test\/a\/[a-z-]+\.test\.ts$/.test(line))
    for (const name of ['dies', 'does-not-load', 'half'])
      t.ok(failed.includes(`FAILED test/a/${name}.test.ts`), `${name}\n${lines.join('\n')}`)
    t.notOk(failed.includes('FAILED test/a/whole.test.ts'))
  })
})
