/**
 * One process that runs test files and prints TAP.
 *
 * Owns: the process, its limit of time, the limit of its output. Knows nothing of: the order of files, reports.
 * Rule: a file runs like with `node FILE`, without the loaders of `tap run` and without source maps: the loaders cost 0.2 to 0.3 s of
 * processor time a file, the maps of what it imports a tenth of a short one, and sources run without their types have no map.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Parser } from 'tap-parser'

export interface ProcessInput {
  /** Arguments of Node.js: the program and its own. */
  readonly args: readonly string[]
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  readonly job: number
  /** The time limit of a file that requests no other one. ms */
  readonly timeoutMs: number
  readonly running: Set<ChildProcess>
}

export interface EndedProcess {
  readonly tap: string
  /** Empty: it ended by itself with exit code 0. */
  readonly why: string
  /** The files that a group has started, with the time since the start of the process. ms */
  readonly started: readonly { readonly file: string; readonly atMs: number }[]
  readonly ms: number
}

/** The limit of the standard output; above it the process is stopped. */
const OUTPUT_CHARACTERS_MAX = 64 * 1024 * 1024
/** Between SIGTERM and SIGKILL, so that a file can print what it was waiting for. ms */
const LAST_WORDS_MS = 5000
/** Tells a file that a runner reads its messages, so that it can request more time: `allowMinutes` in test/programs/simulator/time-limit.ts. */
export const CHILD_KEY = 'test-runner'

export async function runProcess(input: ProcessInput): Promise<EndedProcess> {
  const { root, job, timeoutMs, running } = input
  const start = performance.now()
  const child = spawn(process.execPath, input.args, {
    cwd: root,
    env: {
      ...input.env,
      TAP: '1',
      TAP_BAIL: '0',
      TAP_CHILD_ID: '0',
      TAP_CHILD_KEY: CHILD_KEY,
      TAP_JOB_ID: String(job),
      TAP_TIMEOUT: String(timeoutMs / 1000),
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  running.add(child)
  const started: { file: string; atMs: number }[] = []
  let tap = ''
  let why = ''
  let force: NodeJS.Timeout | undefined
  const end = (reason: string): void => {
    why ||= reason
    child.kill('SIGALRM')
    force ??= setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS)
  }
  const limit = (ms: number): NodeJS.Timeout => setTimeout(() => end(`ran for more than ${ms} ms`), ms)
  let timer = limit(timeoutMs)
  child.on('message', (message) => {
    const { file, ms } = readMessage(message)
    if (file !== null) started.push({ file, atMs: performance.now() - start })
    if (file === null && ms === null) return
    clearTimeout(timer)
    timer = limit(ms ?? timeoutMs)
  })
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    tap += text
    if (tap.length > OUTPUT_CHARACTERS_MAX) end(`printed more than ${OUTPUT_CHARACTERS_MAX} characters`)
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  clearTimeout(force)
  running.delete(child)
  if (why === '' && code !== 0) why = signal === null ? `exit code ${code}` : `ended by ${signal}`
  return { tap, why, started, ms: performance.now() - start }
}

/** Whether the TAP is whole and says that all is well. */
export function isGood(tap: string): boolean {
  const parser = new Parser()
  let ok = false
  parser.on('complete', (results) => (ok = results.ok))
  parser.end(tap)
  return ok
}

/** The time that a file asks for, ms, or the file that a group starts. */
function readMessage(message: unknown): { readonly ms: number | null; readonly file: string | null } {
  const { key, setTimeout: ms, file } = (message ?? {}) as Readonly<Record<string, unknown>>
  if (key !== CHILD_KEY) return { ms: null, file: null }
  return {
    ms: typeof ms === 'number' && ms > 0 ? ms : null,
    file: typeof file === 'string' ? file : null,
  }
}
