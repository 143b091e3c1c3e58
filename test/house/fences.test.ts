/**
 * Each fence refuses a violation: the compiler, the linter and tidy get code that breaks a rule,
 * in a copy of the configuration, and must refuse it. The same code without the violation must pass.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { withoutLoader } from '../helpers/without-loader.ts'
import { checkGuide } from '../../scripts/checks/guide-pages.ts'
import { checkFolders, checkRepository, checkSource } from '../../scripts/checks/tidy-rules.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const bin = (name: string): string => join(ROOT, 'node_modules', '.bin', name)

interface Result {
  readonly ok: boolean
  readonly output: string
}

/** A repository with the project's fences and only the given files. */
function house(files: Readonly<Record<string, string>>): {
  dir: string
  run(command: string, ...args: string[]): Result
} {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-fence-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const rooms = [
    'cluster',
    'cluster/raft',
    'cluster/placement',
    'packages/client',
    'src',
    'src/state-machine',
    'scripts',
    'test',
  ]
  const configs = [
    'tsconfig.json',
    '.oxlintrc.json',
    'package.json',
    ...rooms.map((room) => `${room}/tsconfig.json`),
  ]
  for (const file of configs) cpSync(join(ROOT, file), join(dir, file), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), text)
  }
  return {
    dir,
    run(command, ...args) {
      const { status, stdout, stderr } = spawnSync(...withoutLoader(bin(command), ...args), {
        cwd: dir,
        encoding: 'utf8',
      })
      return { ok: status === 0, output: stdout + stderr }
    },
  }
}

const PURE_ROOMS = ['cluster/raft', 'cluster/placement', 'src/state-machine']

t.test('compiler fence of the pure rooms', async (t) => {
  const violations: readonly (readonly [string, string])[] = [
    ['process', 'export const x = process.pid\n'],
    ['Buffer', 'export const x = Buffer.alloc(1)\n'],
    ['setTimeout', 'setTimeout(() => undefined, 1)\nexport {}\n'],
    ['console', "console.log('x')\nexport {}\n"],
    ['node:fs', "import { readFileSync } from 'node:fs'\nexport const x = readFileSync\n"],
    ['a file of another room', "import { x } from '../outside.ts'\nexport const y: number = x\n"],
  ]
  for (const room of PURE_ROOMS) {
    const clean = house({ [`${room}/a.ts`]: 'export const x = (a: number): number => a + 1\n' })
    t.ok(clean.run('tsc', '-p', room, '--noEmit').ok, `${room} compiles when it is pure`)
  }
  for (const [what, code] of violations) {
    const broken = house({ 'cluster/raft/a.ts': code, 'cluster/outside.ts': 'export const x = 1\n' })
    t.notOk(broken.run('tsc', '-p', 'cluster/raft', '--noEmit').ok, `refuses ${what}`)
  }
})

t.test('compiler fence of the client: nothing of Node.js', async (t) => {
  const client = (code: string) =>
    house({ 'packages/client/src/a.ts': code }).run('tsc', '-p', 'packages/client', '--noEmit').ok
  t.ok(client("export const x = fetch('http://localhost')\n"), 'it compiles with what the web has')
  for (const code of ['process.pid', 'Buffer.alloc(1)', "import('node:fs')"])
    t.notOk(client(`export const x = ${code}\n`), `refuses ${code}`)
})

t.test('lint fence', async (t) => {
  const cases: readonly { what: string; files: Record<string, string>; says: RegExp }[] = [
    {
      what: 'src/ importing cluster/ past its index',
      files: {
        'src/a.ts': "import { x } from '../cluster/raft/x.ts'\nexport const y = x\n",
        'cluster/raft/x.ts': 'export const x = 1\n',
      },
      says: /cluster\/index\.ts only/,
    },
    {
      what: 'an operation importing fastify',
      files: { 'src/operations/a.ts': "import fastify from 'fastify'\nexport const y = fastify\n" },
      says: /HTTP stops in src\/api/,
    },
    {
      what: 'cluster/ importing src/',
      files: {
        'cluster/a.ts': "import { x } from '../src/x.ts'\nexport const y = x\n",
        'src/x.ts': 'export const x = 1\n',
      },
      says: /does not know the service/,
    },
    {
      what: 'Date in a pure room',
      files: { 'cluster/raft/a.ts': 'export const x = Date.now()\n' },
      says: /no clock/,
    },
    {
      what: 'Math.random in a pure room',
      files: { 'cluster/placement/a.ts': 'export const x = Math.random()\n' },
      says: /no chance/,
    },
    {
      what: 'Date in cluster/',
      files: { 'cluster/a.ts': 'export const x = Date.now()\n' },
      says: /Clock port/,
    },
    {
      what: 'a pure room importing a package',
      files: { 'src/state-machine/a.ts': "import { pack } from 'msgpackr'\nexport const x = pack\n" },
      says: /its own folder only/,
    },
    {
      what: 'an import cycle',
      files: {
        'src/a.ts': "import { b } from './b.ts'\nexport const a = (): number => b()\n",
        'src/b.ts': "import { a } from './a.ts'\nexport const b = (): number => a()\n",
      },
      says: /no-cycle/,
    },
  ]
  for (const { what, files, says } of cases) {
    const { ok, output } = house(files).run('oxlint')
    t.notOk(ok, `refuses ${what}`)
    t.match(output, says, `says why it refuses ${what}`)
  }
  t.ok(house({ 'src/a.ts': 'export const a = 1\n' }).run('oxlint').ok, 'passes a clean tree')
})

t.test('tidy fence', async (t) => {
  const header = '/**\n * Owns a thing.\n */\n'
  const says = (path: string, text: string): string =>
    checkSource({ path, text })
      .map(({ message }) => message)
      .join('\n')
  t.equal(says('cluster/raft/a.ts', `${header}export const x = 1\n`), '', 'passes a clean file')
  t.match(says('cluster/raft/a.ts', `${header}export const x = async () => 1\n`), /'async' in a pure room/)
  t.match(
    says('cluster/raft/a.ts', `${header}import { x } from '../wal/x.ts'\nexport { x }\n`),
    /its own folder only/,
  )
  t.match(
    says('cluster/wal/a.ts', `${header}import { x } from '../blobs/x.ts'\nexport { x }\n`),
    /may import/,
  )
  t.match(
    says('src/operations/a.ts', `${header}import { x } from '../api/x.ts'\nexport { x }\n`),
    /may import/,
  )
  const inside = `${header}import { x } from '../base/x.ts'\nexport { x }\n`
  t.equal(says('src/state-machine/chunks/a.ts', inside), '', 'folders of a pure room may import each other')
  t.match(
    says('src/state-machine/chunks/a.ts', `${header}import { x } from '../../base/x.ts'\nexport { x }\n`),
    /its own folder only/,
  )
  t.match(says('src/newroom/a.ts', header), /no row in the import table/)
  t.match(says('cluster/wal/a.ts', 'export const x = 1\n'), /header comment/)
  t.match(says('cluster/wal/a.ts', `${header}${'\n'.repeat(400)}`), /at most 400/)
  t.match(says('cluster/wal/some-utils.ts', header), /says nothing/)
  t.match(says('cluster/wal/CamelCase.ts', header), /kebab-case/)
  t.match(says('cluster/wal/a.ts', `${header}// ${'TO'}DO later\n`), /finish it/)
  t.match(says('cluster/wal/a.ts', `${header}const x = y as ${'any'}\n`), /silencing/)
  t.match(says('src/store/a.ts', `${header}console.log(1)\n`), /logger/)
  t.match(
    says('src/operations/a.ts', `${header}import { refuseBeforeBody } from '../access/authorize.ts'\n`),
    /call authorize/,
  )
  t.match(says('test/x.test.ts', `t.${'only'}('x')\n`), /skips, focuses or sleeps/)
  const importing = (path: string, specifier: string) => ({
    path,
    text: `import type { X } from '${specifier}'\nexport type Y = X\n`,
  })
  const oneWay = [importing('src/a/x.ts', '../b/y.ts'), importing('src/b/y.ts', './z.ts')]
  t.strictSame(checkFolders(oneWay), [], 'a folder may import another')
  const around = checkFolders([...oneWay, importing('src/b/z.ts', '../a/w.ts')])
  t.same(
    around.map(({ path }) => path),
    ['src/a/', 'src/b/'],
    'refuses two folders that import each other',
  )
  t.match(around[0]?.message, /src\/a\/x\.ts -> src\/b\/y\.ts, src\/b\/z\.ts -> src\/a\/w\.ts/)
  const page = (path: string, blocks: number) => ({ path, text: '```sh\nls\n```\n'.repeat(blocks) })
  const pages = [page('docs/guide/some.md', 4), page('docs/guide/README.md', 0), page('docs/other.md', 0)]
  t.strictSame(checkGuide(pages), [])
  t.match(
    checkGuide([page('docs/guide/some.md', 3)]),
    [{ path: 'docs/guide/some.md', message: /^has 3 blocks/ }],
    'refuses a page of the guide that is not typed',
  )
  const repository = { lockfile: '{}', dependencies: [], decisions: '', texts: [] }
  t.strictSame(checkRepository(repository), [])
  t.equal(
    checkRepository({ ...repository, dependencies: ['left-pad'] }).length,
    1,
    'refuses a dependency without a record',
  )
  t.equal(
    checkRepository({ ...repository, lockfile: `"resolved": "https${':'}//x/y.tgz"` }).length,
    1,
    'refuses a registry host',
  )
  t.equal(
    checkRepository({ ...repository, texts: [{ path: 'a.md', text: `see /${'root'}/x` }] }).length,
    1,
    'refuses the path of a machine',
  )
})
