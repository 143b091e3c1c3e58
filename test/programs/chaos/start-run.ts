/**
 * Starts a run in namespaces of its own.
 *
 * Rule: it lives no longer than its parent: its standard input ends with that process in any case.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { withoutLoader } from '../../helpers/without-loader.ts'
import type { ChaosOptions } from './options.ts'
import { inPrivate, SEARCH } from './private-host.ts'

const INSIDE = fileURLToPath(new URL('inside.ts', import.meta.url))

export interface StartedRun {
  /** The exit code. */
  readonly ended: Promise<number>
  /** Null where it is inherited. */
  readonly output: Readable | null
  stop(): void
  /** Without a chance to do anything any more. */
  kill(): void
}

export function startRun(options: ChaosOptions, output: 'inherit' | 'pipe'): StartedRun {
  const command = inPrivate([process.execPath, INSIDE, JSON.stringify(options)])
  const env = { ...process.env, PATH: SEARCH }
  const child: ChildProcess = spawn(...withoutLoader(...command), { env, stdio: ['pipe', output, 'inherit'] })
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
  const stop = (): void => void child.stdin?.end()
  return { ended, output: child.stdout, stop, kill: () => void child.kill('SIGKILL') }
}
