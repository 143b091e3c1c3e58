/**
 * A cluster as `npm start` makes it, for tests of the documents.
 *
 * Owns: the launcher's process. Rule: it is stopped gracefully when the test ends.
 */
import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from './async.ts'
import { endsWithParent } from './ends-with-parent.ts'
import { withoutLoader } from './without-loader.ts'
import { freeBasePort } from './process-cluster.ts'

/** The documents use ports up to 99 after the base: those of a fourth node and of a receiver. */
const TENS_OF_PORTS = 10
const LAUNCHER = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'scripts', 'local', 'cluster.ts')

/** Resolves with the base port once three nodes serve. `options`: further options of the launcher. */
export async function startLauncher(
  t: { teardown(callback: () => unknown): unknown },
  data: string,
  options: readonly string[] = [],
): Promise<number> {
  const basePort = await freeBasePort(TENS_OF_PORTS)
  const start = [process.execPath, LAUNCHER, '--json', '--data', data, '--base-port', String(basePort)]
  const child = spawn(...withoutLoader(...endsWithParent('TERM', [...start, ...options])), {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let output = ''
  child.stdout.on('data', (piece) => (output += String(piece)))
  await until('the cluster is ready', () => output.includes('\n') || child.exitCode !== null)
  return basePort
}
