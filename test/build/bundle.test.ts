/** The build: it runs without the packages that are inside it, has a file for each thread, and hands on the licences. */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { bundle, OUTSIDE } from '../../scripts/build/bundle.ts'
import { isFresh, STAMP, stampOf } from '../../scripts/build/node-program.ts'
import { readLockedProject, ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

/** What the packages outside the bundle depend on. */
const OF_OUTSIDE = [
  'abstract-level',
  'buffer',
  'base64-js',
  'ieee754',
  'is-buffer',
  'level-supports',
  'level-transcoder',
  'maybe-combine-errors',
  'module-error',
  'napi-macros',
  'node-gyp-build',
  'node-gyp-build-optional-packages',
  'detect-libc',
]

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bundle-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

t.test('a bundle', async (t) => {
  const folder = folderOf(t)
  const inputs = bundle(ROOT, join(folder, 'dist', 'bundle'), { 'note.txt': 'further' })
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'))

  t.test('runs where only the packages with native code are installed', async (t) => {
    const main = join(folder, 'dist', 'bundle', 'main.js')
    for (const name of [...OUTSIDE, ...OF_OUTSIDE]) {
      const place = join(folder, 'node_modules', name)
      mkdirSync(dirname(place), { recursive: true })
      symlinkSync(realpathSync(join(ROOT, 'node_modules', name)), place)
    }
    const run = (...args: string[]) =>
      spawnSync(...withoutLoader(process.execPath, main, ...args), { cwd: folder, encoding: 'utf8' })
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
    t.equal(run('--version').stdout.trim(), version)
    t.match(run('config', 'check', '--config', join(folder, 'none.yaml')).stderr, /none\.yaml/)
  })

  t.test('has the file of each thread beside the files that start it', async (t) => {
    const files = globSync('*.js', { cwd: join(folder, 'dist', 'bundle') })
    const text = files.map((file) => readFileSync(join(folder, 'dist', 'bundle', file), 'utf8'))
    const named = new Set(
      text.flatMap((code) => code.match(/(?<=["']\.\/)[a-z0-9]+-worker\.js(?=["'])/g) ?? []),
    )
    t.same(
      [...named].sort(),
      ['edge', 'md5', 'raft', 'sealing', 'wal'].map((name) => `${name}-worker.js`),
    )
    t.same(
      [...named].filter((name) => !files.includes(name)),
      [],
    )
  })

  t.test('contains nothing of the tests, and of no package that only development needs', async (t) => {
    const ofNode = new Set(readLockedProject().packages.flatMap(({ path, isDev }) => (isDev ? [] : path)))
    const ours = inputs.filter((path) => !path.includes('node_modules/'))
    t.ok(ours.length > 500)
    t.same(
      ours.filter((path) => !/^(src|cluster|packages\/client\/src|scripts\/build\/builtins)\//.test(path)),
      [],
    )
    const used = new Set(
      inputs.flatMap((path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
    )
    t.same(
      [...used].filter((place) => !ofNode.has(place)),
      [],
    )
    const licences = readFileSync(join(folder, 'dist', 'bundle', 'LICENCES.txt'), 'utf8')
    for (const place of used) {
      const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
      t.match(licences, new RegExp(`^${name} \\d`, 'm'))
    }
    t.match(licences, /^minisearch \d/m, 'it is in the script of the documentation')
    t.match(licences, /Permission is hereby granted/)
  })

  t.test('imports no built-in module whose properties load more of Node.js', async (t) => {
    for (const file of globSync('*.js', { cwd: join(folder, 'dist', 'bundle') })) {
      const code = readFileSync(join(folder, 'dist', 'bundle', file), 'utf8')
      t.notMatch(code, /^(import|\} from) .*"node:(http|process)"/m, file)
    }
  })

  t.test('takes the place of the one before as a whole', async (t) => {
    const place = join(folder, 'dist', 'bundle')
    writeFileSync(join(place, 'left-over.js'), '')
    bundle(ROOT, place)
    const files = globSync('**', { cwd: join(folder, 'dist') })
    t.notOk(files.some((file) => /left-over|note\.txt|bundle\.\d/.test(file)))
    t.ok(files.includes(join('bundle', 'main.js')))
  })
})

t.test('a bundle is fresh until a source changes, comes or goes', async (t) => {
  const root = folderOf(t)
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  write('src/main.ts', 'one')
  write('package-lock.json', '{}')
  const first = stampOf(root)
  t.notOk(isFresh(root, first), 'there is none')
  write(`dist/bundle/${STAMP}`, first)
  t.ok(isFresh(root, stampOf(root)))
  write('src/main.ts', 'three')
  t.notOk(isFresh(root, stampOf(root)))
  write(`dist/bundle/${STAMP}`, stampOf(root))
  write('cluster/new.ts', '')
  t.notOk(isFresh(root, stampOf(root)))
  rmSync(join(root, 'cluster/new.ts'))
  t.ok(isFresh(root, stampOf(root)))
  write('package-lock.json', '{ }')
  t.notOk(isFresh(root, stampOf(root)))
})
