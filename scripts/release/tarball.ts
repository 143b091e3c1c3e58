/**
 * The tarball of the npm package, the same bytes from the same files.
 *
 * Owns: how it is built. Rule: nothing of the machine is in it: npm writes neither owners nor times, modes follow from the copied tree, and the
 * bundler names files relative to it.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
/** Files that npm makes are readable by all, as in any package. */
const USUAL_MASK = 0o022

/** `tree`: from copyCleanTree; it is built there. Returns the path of the tarball in `out`. Throws when a step fails. */
export function makeTarball(tree: string, out: string): string {
  const before = process.umask(USUAL_MASK)
  try {
    mkdirSync(out, { recursive: true })
    run(tree, process.execPath, 'scripts/build/prepack.ts')
    // The build is done; npm would run it a second time.
    const packed = run(tree, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', out)
    const [{ filename } = { filename: '' }] = JSON.parse(packed) as readonly { readonly filename: string }[]
    return join(out, filename)
  } finally {
    process.umask(before)
  }
}

/** Returns its standard output. Throws with the end of what it wrote when it fails. */
export function run(cwd: string, program: string, ...args: readonly string[]): string {
  const { stdout, stderr, status, error } = spawnSync(program, [...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    env: { ...process.env, PATH: `${join(cwd, 'node_modules', '.bin')}${delimiter}${process.env['PATH']}` },
  })
  if (error !== undefined) throw error
  if (status !== 0)
    throw new Error(
      `${program} ${args.join(' ')} ended with ${status}:\n${`${stdout}${stderr}`.slice(-2000)}`,
    )
  return stdout
}
