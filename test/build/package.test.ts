/**
 * The package as its users meet it: what is in the tarball, and from an empty folder to the first object.
 *
 * Rule: the installation asks the registry for the packages with native code, or npm's cache; where neither has them the rest is skipped.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t, { type Test } from 'tap'
import { OUTSIDE } from '../../scripts/build/bundle.ts'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { ROOT } from '../../scripts/supply-chain/lockfile.ts'
import { until } from '../helpers/async.ts'
import { endsWithParent } from '../helpers/ends-with-parent.ts'
import { freeBasePort, temporaryFolder } from '../helpers/process-cluster.ts'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { withoutLoader } from '../helpers/without-loader.ts'

interface Manifest {
  readonly private?: boolean
  readonly engines: { readonly node: string }
  readonly bin: { readonly holdfast: string }
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly bundled: readonly string[]
  readonly devDependencies: Readonly<Record<string, string>>
}

const NODES = PLAYS_WHOLE ? 3 : 1
const BIN = join(ROOT, 'node_modules', '.bin')
/** What npm says when it has neither the packages nor a way to a registry. */
const NO_REGISTRY = /ENOTCACHED|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|E404|E403/
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest

/** npm of this machine with the project's Node.js, in a folder. */
function npm(cwd: string, ...args: readonly string[]) {
  const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`, INIT_CWD: cwd }
  return spawnSync(...withoutLoader('npm', ...args), { cwd, env, encoding: 'utf8' })
}

t.test('the manifest', async (t) => {
  t.notOk(manifest.private)
  t.equal(manifest.scripts['prepack'], 'node scripts/bootstrap.mjs prepack', 'a fresh clone packs a program')
  t.same(
    Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).sort(),
    [...OUTSIDE].sort(),
    'only native packages are installed with it: name another one under bundled and devDependencies',
  )
  t.same(
    manifest.bundled.filter((name) => manifest.devDependencies[name] === undefined),
    [],
    'what is inside is installed in a clone',
  )
})

t.test('a Node.js that is too old gets a word about it, also from the package', async (t) => {
  const old = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'24.11.0'})"
  const run = spawnSync(...withoutLoader(process.execPath, '--import', old, nodeProgram(), '--version'), {
    encoding: 'utf8',
  })
  t.equal(run.status, 1)
  t.equal(run.stdout, '')
  const least = manifest.engines.node.replace('>=', '')
  t.match(run.stderr, `holdfast needs Node.js ${least} or newer; this is 24.11.0 (${process.execPath}).`)
  t.match(run.stderr, /npm install node@24, then npx holdfast/)
})

t.test('the tarball', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const packed = npm(ROOT, 'pack', '--pack-destination', folder)
  t.equal(packed.status, 0, packed.stderr)
  const [name = ''] = readdirSync(folder)
  const tarball = join(folder, name)
  const listed = spawnSync('tar', ['tzf', tarball], { encoding: 'utf8' }).stdout.trim().split('\n')

  await t.test('contains the program whole, and nothing that only work on the project needs', async (t) => {
    for (const file of readdirSync(join(ROOT, 'dist', 'bundle')))
      if (file !== 'sources.sha256') t.ok(listed.includes(`package/dist/bundle/${file}`), file)
    for (const file of [
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
      'deploy/prometheus/alerts.yml',
      'dist/docs/site.pack',
    ])
      t.ok(listed.includes(`package/${file}`), file)
    t.same(
      listed.filter((path) =>
        /\.(map|tsbuildinfo)$|sources\.sha256|^package\/(src|cluster|test|scripts|node_modules)\//.test(path),
      ),
      [],
    )
    const entries = [manifest.bin.holdfast, ...Object.values(manifest.exports).flatMap(filesOf)]
    for (const entry of entries) t.ok(listed.includes(`package/${entry.replace('./', '')}`), entry)
    t.comment(`${listed.length} files, ${(statSync(tarball).size / 1e6).toFixed(1)} MB`)
  })

  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"private":true}')
  const startedAt = performance.now()
  const installed = npm(
    project,
    'install',
    tarball,
    '--prefer-offline',
    '--foreground-scripts',
    '--loglevel=notice',
  )
  const output = `${installed.stdout}${installed.stderr}`
  const skip = installed.status !== 0 && NO_REGISTRY.test(output) && 'no registry has the native packages'
  await t.test('gets from an empty folder to the first object', { skip, timeout: 600_000 }, async (t) => {
    t.equal(installed.status, 0, output)
    t.notMatch(output, /node-gyp rebuild|gyp info/, 'nothing is compiled')
    await firstObject(t, project)
    t.comment(`installation to first object: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  })
})

interface Description {
  readonly nodes: readonly { readonly pid: number }[]
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // The process is gone.
    return false
  }
}

/** The files that an entry of `exports` names. */
function filesOf(entry: string | Readonly<Record<string, string>>): readonly string[] {
  return typeof entry === 'string' ? [entry] : Object.values(entry)
}

/** Three commands, typed in the project: up, bucket create, put. */
async function firstObject(t: Test, project: string): Promise<void> {
  const basePort = await freeBasePort(NODES)
  const up = start(t, project, 'npx', 'holdfast', 'up', '--nodes', `${NODES}`, '--base-port', `${basePort}`)
  await up.saying(/Ctrl-C stops it/)
  t.match(up.output(), /all data is in data\n/)
  t.match(up.output(), /  npx holdfast put hello\.txt demo\/\n/)
  const docs = /^Documentation, in a browser: (\S+)$/m.exec(up.output())?.[1] ?? ''
  t.match(
    await (await fetch(docs)).text(),
    /<title>Documentation · Holdfast<\/title>/,
    'the documentation is inside',
  )
  writeFileSync(join(project, 'hello.txt'), 'Hello\n')
  const created = holdfast(project, {}, 'bucket', 'create', 'demo')
  t.equal(created.status, 0, created.stderr)
  const put = holdfast(project, {}, 'put', 'hello.txt', 'demo/')
  t.equal(put.status, 0, put.stderr)

  // Elsewhere nothing is known but the lines that were printed.
  const env = exportedIn(up.output())
  const elsewhere = temporaryFolder(t)
  const command = join(project, 'node_modules', '.bin', 'holdfast')
  const got = run(elsewhere, env, command, 'get', 'demo/hello.txt', '-')
  t.equal(got.stdout, 'Hello\n', got.stderr)
  const use =
    "import { Holdfast } from 'holdfast/client'; import 'holdfast/client/admin'; console.log(typeof Holdfast)"
  const imported = run(project, {}, 'node', '--input-type=module', '--eval', use)
  t.equal(imported.stdout, 'function\n', imported.stderr)
  const tenants = run(elsewhere, env, command, 'tenant', 'list')
  t.match(tenants.stdout, /demo/, tenants.stderr)
  t.equal(statSync(join(project, 'data', 'cluster.json')).mode & 0o777, 0o600)
  t.equal(readFileSync(join(project, 'data', '.gitignore'), 'utf8'), '*\n')
  up.interrupt()
  // npx itself ends by the signal.
  t.match(await up.ended, /0|SIGINT/)
  const pid =
    (JSON.parse(readFileSync(join(project, 'data', 'cluster.json'), 'utf8')) as Description).nodes[0]?.pid ??
    0
  await until('no node runs any more', () => !isAlive(pid))
  if (NODES > 1) return

  const dev = start(t, project, command, 'server', '--dev', '--base-port', `${basePort}`)
  await dev.saying(/Ctrl-C stops it/)
  t.same(exportedIn(dev.output()), env, 'one node continues what a cluster of one began')
  t.equal(run(elsewhere, env, command, 'get', 'demo/hello.txt', '-').stdout, 'Hello\n')
  dev.interrupt()
  t.equal(await dev.ended, 0)
}

function exportedIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^ {2}export (HOLDFAST_[A-Z_]+)='([^']+)'$/gm)].map(([, name, value]) => [name, value]),
  )
}

const environment = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`,
  ...more,
})

function run(cwd: string, env: Readonly<Record<string, string>>, ...command: readonly string[]) {
  return spawnSync(...withoutLoader(...command), { cwd, env: environment(env), encoding: 'utf8' })
}

const holdfast = (cwd: string, env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  run(cwd, env, join('node_modules', '.bin', 'holdfast'), ...args)

interface Started {
  readonly ended: Promise<number | string>
  output(): string
  saying(text: RegExp): Promise<void>
  /** Ctrl-C: a terminal signals the whole group. */
  interrupt(): void
}

function start(t: Test, cwd: string, ...command: readonly string[]): Started {
  const child: ChildProcess = spawn(...withoutLoader(...endsWithParent('TERM', command)), {
    cwd,
    env: environment({}),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, name)
  }
  const ended = new Promise<number | string>((resolve) =>
    child.once('exit', (code, by) => resolve(code ?? by ?? '')),
  )
  t.teardown(async () => {
    signal('SIGTERM')
    await ended
  })
  let output = ''
  let errors = ''
  child.stdout?.on('data', (piece) => (output += String(piece)))
  child.stderr?.on('data', (piece) => (errors += String(piece)))
  return {
    ended,
    output: () => output,
    interrupt: () => signal('SIGINT'),
    saying: (text) =>
      until(`it says ${text.source} (${errors.slice(-500)})`, () => {
        if (child.exitCode !== null) throw new Error(`${command.join(' ')} ended: ${errors}`)
        return text.test(output)
      }),
  }
}
