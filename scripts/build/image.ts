/**
 * What deploy/Dockerfile calls: the manifest of what a build of the bundle needs, and the root file system of the image.
 *
 * Owns: what is in the image. Rules: of the base image it takes Node.js and the libraries that it and the native packages name, each with its licence and its entry for
 * scanners; no shell, no package manager, no configuration, no secret; nothing is written to when it runs but the data directory and /tmp.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readLockedProject, ROOT } from '../supply-chain/lockfile.ts'
import { copyInstalledPackages } from './installed-packages.ts'
import { STAMP } from './node-program.ts'

const HOME = 'opt/holdfast'
const NODE = '/usr/local/bin/node'
const DATA = 'data/holdfast'
/** What builds the bundle and the documentation. */
const TOOLS = ['beautiful-mermaid', 'esbuild', 'marked', 'minisearch']
/** As which the image runs; 10001 has no rights on any usual host. */
const PASSWD = 'root:x:0:0::/:/sbin/nologin\nholdfast:x:10001:10001::/var/lib/holdfast:/sbin/nologin\n'
const GROUP = 'root:x:0:\nholdfast:x:10001:\n'
const PROGRAM = `#!${NODE}\nimport('/${HOME}/dist/bundle/main.js')\n`

/** The manifest in the current folder keeps what goes into the bundle and what builds; npm then installs nothing else. */
function reduceManifest(): void {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly bundled: readonly string[]
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const kept = Object.entries(manifest.devDependencies).filter(
    ([name]) => TOOLS.includes(name) || manifest.bundled.includes(name),
  )
  writeFileSync('package.json', JSON.stringify({ ...manifest, devDependencies: Object.fromEntries(kept) }))
}

/** `DATA` stands beside the root, because it has another owner. */
function makeRoot(image: string): void {
  const home = join(image, 'root', HOME)
  const root = join(image, 'root')
  for (const part of ['bundle', 'docs'])
    cpSync(join(ROOT, 'dist', part), join(home, 'dist', part), {
      recursive: true,
      filter: (path) => basename(path) !== STAMP,
    })
  for (const file of ['package.json', 'LICENSE']) cpSync(join(ROOT, file), join(home, file))
  cpSync(join(ROOT, 'deploy', 'probe.mjs'), join(home, 'probe.mjs'))
  copyInstalledPackages(readLockedProject(), ROOT, home)
  write(join(root, 'usr/local/bin/holdfast'), PROGRAM, 0o755)
  write(join(root, 'etc/passwd'), PASSWD, 0o644)
  write(join(root, 'etc/group'), GROUP, 0o644)
  const natives = globSync('**/*.node', { cwd: home }).map((path) => join(home, path))
  const libraries = [...new Set([NODE, ...natives].flatMap(librariesOf))]
  for (const file of [NODE, '/etc/os-release', ...libraries]) copy(file, root)
  for (const name of new Set(libraries.map(packageOf))) describe(name, root)
  mkdirSync(join(root, 'tmp'))
  chmodSync(join(root, 'tmp'), 0o1777)
  mkdirSync(join(image, DATA), { recursive: true, mode: 0o700 })
}

/** Shared libraries and the loader, by the paths under which the loader looks for them. */
function librariesOf(program: string): readonly string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' })
  if (text.includes('not found'))
    throw new Error(`A library of ${program} is not in the base image:\n${text}`)
  return text.split('\n').flatMap((line) => /(?:=> |^\s+)(\/\S+) \(0x/.exec(line)?.[1] ?? [])
}

/** The Debian package of a library. dpkg may know it without /usr in front, from before that was one folder. */
function packageOf(library: string): string {
  const real = realpathSync(library)
  const known =
    spawnedLine('dpkg-query', '--search', real) ??
    spawnedLine('dpkg-query', '--search', real.replace('/usr', ''))
  if (known === null) throw new Error(`No Debian package contains ${library}: the base image is not Debian`)
  return known.split(':')[0] ?? ''
}

function spawnedLine(program: string, ...args: readonly string[]): string | null {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return null
  }
}

/** Where scanners look in images without dpkg; and its licence. */
function describe(name: string, root: string): void {
  const status = execFileSync('dpkg-query', ['--status', name], { encoding: 'utf8' })
  write(join(root, 'var/lib/dpkg/status.d', name), status, 0o644)
  const copyright = `/usr/share/doc/${name}/copyright`
  if (existsSync(copyright)) copy(copyright, root)
}

function copy(file: string, root: string): void {
  const target = join(root, file)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(realpathSync(file), target)
}

function write(file: string, text: string, mode: number): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
}

const [what, folder] = process.argv.slice(2)
if (what === 'manifest') reduceManifest()
else if (what === 'root' && folder !== undefined) makeRoot(folder)
else throw new Error('usage: image.ts manifest | image.ts root FOLDER')
