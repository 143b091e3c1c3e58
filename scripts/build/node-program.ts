/**
 * The program that a node of this checkout runs: the bundle, built when a source has changed since.
 *
 * Owns: whether the bundle is of the present sources. Knows nothing of: how it is made.
 * Rule: HOLDFAST_FROM_SOURCES=1 gives the sources instead, for programs that change a module as it is loaded or ask for its file by name.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../supply-chain/lockfile.ts'

const BUILD = fileURLToPath(new URL('main.ts', import.meta.url))
/** What the bundle depends on. */
const SOURCES = [
  'src/**/*.ts',
  'cluster/**/*.ts',
  'packages/client/src/**/*.ts',
  'packages/console/src/**/*',
  'scripts/build/**/*.{ts,cjs}',
  'package.json',
  'package-lock.json',
]
/** The file of the bundle that says which sources it was built of. */
export const STAMP = 'sources.sha256'

export const sourceProgram = (): string => join(ROOT, 'src', 'main.ts')
export const bundleOf = (root: string): string => join(root, 'dist', 'bundle')

/** Found out once for each process. */
let known: string | null = null

/** The file to start with Node.js. Throws when the build fails. */
export function nodeProgram(): string {
  known ??= presentProgram()
  return known
}

function presentProgram(): string {
  if (process.env['HOLDFAST_FROM_SOURCES'] === '1') return sourceProgram()
  if (!isFresh(ROOT, stampOf(ROOT))) build()
  return join(bundleOf(ROOT), 'main.js')
}

/** Whether the bundle was built of the sources with this stamp. */
export function isFresh(root: string, stamp: string): boolean {
  const file = join(bundleOf(root), STAMP)
  return existsSync(file) && readFileSync(file, 'utf8') === stamp
}

/** Changes when a source is added, removed or written. */
export function stampOf(root: string): string {
  const hash = createHash('sha256')
  for (const path of globSync(SOURCES, { cwd: root }).sort()) {
    const { size, mtimeMs } = statSync(join(root, path))
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

/** In a process of its own: the bundler takes a third of a second to load, and most callers need none. */
function build(): void {
  const { status, error } = spawnSync(process.execPath, [BUILD], { stdio: ['ignore', 2, 2] })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error('The build of the node failed: the messages above name the source')
}
