/**
 * The build: the program, its threads and its packages in a few files that a node loads in half of the time and with three quarters of the memory of
 * the 2,400 files that they are made of (docs/adr/0071-one-bundle.md).
 *
 * Owns: the entries, what stays outside, the licences of what is inside. Rules: packages with native code stay outside, because they find their
 * binaries by their own place; nothing is shortened, so that a stack trace names functions as the sources do; it is built beside its place and moved
 * there whole.
 */
import { buildSync, type Metafile } from 'esbuild'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readLockedProject } from '../supply-chain/lockfile.ts'
import { CONSOLE_ARCHIVE, consolePack, hasConsole, IN_CONSOLE } from './console-site.ts'

/** The program and the threads, each from a file of its own beside the file that starts it. An older checkout does not have all of them. */
const ENTRIES = [
  'src/main.ts',
  'src/content/sealing-worker.ts',
  'src/api/edge-threads/edge-worker.ts',
  'src/content/md5-worker.ts',
  'cluster/wal/wal-worker.ts',
  'cluster/raft-thread/raft-worker.ts',
]
/** Packages that load native code, and stay packages beside the bundle. */
export const OUTSIDE = ['@node-rs/crc32', 'classic-level', 'msgpackr-extract']
/** CommonJS packages inside call `require` for modules of Node. */
const REQUIRE =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"
/** An import of these reads properties that load more of Node.js, for 30 ms of processor time in each process: see the files. */
const BUILTINS = ['http', 'process']
const LICENCES = 'LICENCES.txt'
/** In the scripts of the documentation and of the console, which are handed on with the bundle. */
const IN_PAGES = ['minisearch', ...IN_CONSOLE].map((name) => join('node_modules', name))
const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i

/**
 * Writes the bundle to `folder`, in the place of one that is there, with further files by name and text.
 * Returns the files that were read, relative to `root`. Throws when a source is no TypeScript; types are not checked.
 */
export function bundle(
  root: string,
  folder: string,
  further: Readonly<Record<string, string>> = {},
): readonly string[] {
  const fresh = `${folder}.${process.pid}`
  try {
    const entries = ENTRIES.filter((file) => existsSync(join(root, file)))
    const { metafile } = buildSync({
      absWorkingDir: root,
      entryPoints: Object.fromEntries(entries.map((file) => [basename(file, '.ts'), file])),
      outdir: fresh,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      external: OUTSIDE,
      alias: Object.fromEntries(
        BUILTINS.map((name) => [`node:${name}`, join(import.meta.dirname, 'builtins', `${name}.cjs`)]),
      ),
      preserveSymlinks: true,
      banner: { js: REQUIRE },
      legalComments: 'none',
      metafile: true,
      logLevel: 'error',
    })
    const inputs = Object.keys(metafile.inputs)
    writeFileSync(
      join(fresh, LICENCES),
      licencesOf(
        root,
        packagesIn(
          metafile,
          IN_PAGES.filter((place) => existsSync(join(root, place))),
        ),
      ),
    )
    if (hasConsole(root)) writeFileSync(join(fresh, CONSOLE_ARCHIVE), consolePack(root))
    for (const [name, text] of Object.entries(further)) writeFileSync(join(fresh, name), text)
    replace(folder, fresh)
    return inputs
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Where they are installed, relative to the root, sorted. */
function packagesIn({ inputs }: Metafile, further: readonly string[]): readonly string[] {
  const found = Object.keys(inputs).flatMap(
    (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  )
  return [...new Set([...found, ...further])].sort()
}

/** A package that is handed on needs its licence beside it. */
function licencesOf(root: string, places: readonly string[]): string {
  const { packages } = readLockedProject()
  const parts = places.map((place) => {
    const { name = place, version = '', license = null } = packages.find(({ path }) => path === place) ?? {}
    const texts = readdirSync(join(root, place))
      .filter((file) => LICENCE_FILE.test(file))
      .map((file) => readFileSync(join(root, place, file), 'utf8').trim())
    return [`${name} ${version} (${license ?? 'see its text'})`, ...texts].join('\n\n')
  })
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** Processes that run from the old files have loaded them. Of two builds at once one stays: both are of the same sources. */
function replace(folder: string, fresh: string): void {
  const old = `${fresh}.old`
  mkdirSync(dirname(folder), { recursive: true })
  try {
    if (existsSync(folder)) renameSync(folder, old)
    renameSync(fresh, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(old, { recursive: true, force: true })
  }
}
