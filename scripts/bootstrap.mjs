/**
 * The entry point of `npm start`, `npm test` and `npm run holdfast`, also on a machine where nothing is installed yet.
 *
 * Owns: installing what the lockfile names, building the program when a source has changed, and handing over to the project's own
 * Node. Plain JavaScript without dependencies, because it runs on any Node version that the machine has.
 * Rule: standard output belongs to the started program; messages of this file go to standard error.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const BIN = join(ROOT, 'node_modules', '.bin')
const STAMP = join(ROOT, 'node_modules', '.holdfast-installed')

const BUILD = 'scripts/build/main.ts'
/** What runs nodes builds them by itself. */
const PROGRAMS = {
  build: BUILD,
  prepack: 'scripts/build/prepack.ts',
  'build-client': 'scripts/build/client.ts',
  docs: 'scripts/docs/main.ts',
  holdfast: 'dist/bundle/main.js',
  start: 'scripts/local/cluster.ts',
  bench: 'scripts/bench/main.ts',
  'bench-s3': 'scripts/bench/s3.ts',
  'bench-listing': 'scripts/bench/listing.ts',
  'bench-idle': 'scripts/bench/idle.ts',
  'bench-restore': 'scripts/bench/restore.ts',
  'bench-replication': 'scripts/bench/replication.ts',
  profile: 'scripts/profile/main.ts',
  race: 'scripts/race/main.ts',
  sim: 'test/programs/simulator/main.ts',
  damage: 'scripts/damage/main.ts',
  failover: 'scripts/failover/main.ts',
  release: 'scripts/release/main.ts',
  mutants: 'test/programs/mutants/main.ts',
  attacks: 'test/programs/attacks/main.ts',
  fuzz: 'test/programs/fuzz/main.ts',
  schemathesis: 'test/programs/schemathesis/main.ts',
  's3-clients': 'test/s3-clients/main.ts',
  's3-conformance': 'test/programs/s3-conformance/main.ts',
  chaos: 'test/programs/chaos/main.ts',
  interruptions: 'test/programs/interruptions/main.ts',
  garbage: 'test/programs/garbage/main.ts',
  'console-pictures': 'test/programs/console/pictures.ts',
  'console-figures': 'test/programs/console/figures.ts',
  test: 'scripts/checks/main.ts',
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}

/** Runs to completion with its output on standard error. */
function run(command, args) {
  const result = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], env: environment() })
  if (result.error) fail(`Cannot run ${command}: ${result.error.message}`)
  return result.status ?? 1
}

function environment() {
  return { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}` }
}

function installIfNeeded() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  say('Installing dependencies from the lockfile (once) ...')
  // --include=dev: the compiler and Node 24 itself are development dependencies, regardless of NODE_ENV.
  // Not `npm ci`: npm 11 refuses a lockfile without the optional packages of other platforms, and a registry may not have
  // them. `install --no-save` installs the versions and checks the digests that the lockfile names, and never writes it.
  const status = run('npm', ['install', '--no-save', '--include=dev', '--loglevel=error', '--no-progress'])
  if (status !== 0)
    fail('Cannot install dependencies: npm install failed, see above. Is the npm registry reachable?')
  mkdirSync(dirname(STAMP), { recursive: true })
  writeFileSync(STAMP, wanted)
}

function buildIfNeeded() {
  if (run(join(BIN, 'node'), [join(ROOT, BUILD)]) !== 0) fail('Cannot build the program: see above.')
}

/** What the nodes of `npm start` show in a browser. A later `npm run docs` replaces it; a cluster runs without it, too. */
function buildDocumentationOnce() {
  if (existsSync(join(ROOT, 'dist', 'docs', 'site.pack'))) return
  if (run(join(BIN, 'node'), [join(ROOT, PROGRAMS.docs)]) !== 0)
    say('Cannot build the documentation, see above: the nodes start without it.')
}

function handOver(file, args) {
  const child = spawn(join(BIN, 'node'), [join(ROOT, file), ...args], {
    // The caller's folder, so that relative paths on the command line are resolved as expected.
    cwd: process.env.INIT_CWD ?? process.cwd(),
    stdio: 'inherit',
    env: environment(),
  })
  // A terminal sends Ctrl-C to the whole group; a supervisor may signal only this process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  child.on('error', (error) => fail(`Cannot start ${file}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(signal ? 128 + 15 : (code ?? 1)))
}

const [name, ...args] = process.argv.slice(2)
const file = PROGRAMS[name ?? '']
if (!file) fail(`Unknown program '${name ?? ''}': expected one of ${Object.keys(PROGRAMS).join(', ')}.`)
installIfNeeded()
if (name === 'holdfast') buildIfNeeded()
if (name === 'start') buildDocumentationOnce()
handOver(file, args)
