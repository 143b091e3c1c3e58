/**
 * Builds the package of the client, packages/client/dist: ECMAScript modules in one file for each entry with what they share, and their types.
 *
 * Owns: the form of the package. Rules: nothing of a platform and no package is inside; nothing is shortened, so that a stack trace names
 * functions as the sources do; it is built beside its place and moved there whole.
 */
import { spawnSync } from 'node:child_process'
import { buildSync } from 'esbuild'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../supply-chain/lockfile.ts'

export const CLIENT_PACKAGE: string = join('packages', 'client')

/**
 * Writes the package to `folder`, in the place of one that is there.
 * Throws when a type is wrong, or when the sources import something of a platform.
 */
export function buildClient(root: string, folder: string = join(root, CLIENT_PACKAGE, 'dist')): void {
  const fresh = `${folder}.${process.pid}`
  try {
    const sources = join(root, CLIENT_PACKAGE, 'src')
    buildSync({
      absWorkingDir: root,
      entryPoints: { index: join(sources, 'index.ts'), admin: join(sources, 'admin.ts') },
      chunkNames: 'shared',
      outdir: fresh,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      legalComments: 'none',
      logLevel: 'error',
    })
    writeTypes(root, join(fresh, 'types'))
    mkdirSync(dirname(folder), { recursive: true })
    rmSync(folder, { recursive: true, force: true })
    renameSync(fresh, folder)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function writeTypes(root: string, folder: string): void {
  const compiler = join(root, 'node_modules', '.bin', 'tsc')
  if (!existsSync(compiler)) throw new Error(`The types need the compiler: ${compiler} does not exist`)
  const project = ['--project', join(root, CLIENT_PACKAGE), '--rootDir', join(root, CLIENT_PACKAGE, 'src')]
  const emitted = ['--composite', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', folder]
  const { status, stdout, error } = spawnSync(process.execPath, [compiler, ...project, ...emitted], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`The types of the client cannot be written:\n${stdout}`)
  // Not every resolver knows that a declaration may name a source.
  for (const name of globSync('**/*.d.ts', { cwd: folder })) {
    const file = join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/(from '\.[^']+)\.ts'/g, "$1.js'"))
  }
}

if (import.meta.main) buildClient(ROOT)
