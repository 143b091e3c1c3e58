/**
 * Runs test files, several at once, and writes their output as one TAP stream, like `tap run`.
 *
 * Owns: the processes, the time limit of each, the order. Knows nothing of: assertions, reports.
 * Rule: a file runs like with `node FILE`, without the loaders of `tap run`: they cost 0.2 to 0.3 s of processor time a file.
 * A file that ends with an exit code other than 0, by a signal, too late or in the middle of its TAP is not ok.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { Parser } from 'tap-parser'

export interface TestRun {
  /** Paths relative to `root`, in the order in which they start. */
  readonly files: readonly string[]
  readonly root: string
  readonly jobs: number
  /** The time limit of a file that requests no other one. ms */
  readonly timeoutMs: number
  /** Start no further file after one that failed. */
  readonly stopsAtFailure: boolean
  readonly env: NodeJS.ProcessEnv
}

export interface FileOutcome {
  readonly file: string
  readonly ok: boolean
  readonly ms: number
}

interface Ended {
  readonly ok: boolean
  readonly tap: string
  /** Empty: the TAP of the file is sufficient. */
  readonly why: string
}

/** The limit of one file's standard output; above it the file is stopped. */
const OUTPUT_CHARACTERS_MAX = 64 * 1024 * 1024
/** Between SIGTERM and SIGKILL, so that the file can print what it was waiting for. ms */
const LAST_WORDS_MS = 5000
/** Tells a file that a runner reads its messages, so that it can request more time: `allowMinutes` in test/programs/simulator/time-limit.ts. */
const CHILD_KEY = 'test-runner'

/** Writes one TAP stream to `out` and ends it. Resolves with an outcome for each file that was started. */
export async function runTestFiles(run: TestRun, out: Writable): Promise<readonly FileOutcome[]> {
  const outcomes: FileOutcome[] = []
  const running = new Set<ChildProcess>()
  let next = 0
  let stopped = false
  const stop = (signal: NodeJS.Signals): void => {
    stopped = true
    for (const child of running) child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  const work = async (job: number): Promise<void> => {
    while (!stopped && next < run.files.length) {
      const file = run.files[next++] ?? ''
      const start = performance.now()
      const { ok, tap, why } = await runFile(run, { file, job, running })
      const ms = performance.now() - start
      outcomes.push({ file, ok, ms })
      out.write(subtest({ file, ok, ms, place: outcomes.length, why, tap }))
      if (!ok && run.stopsAtFailure) stopped = true
    }
  }
  out.write('TAP version 14\n')
  await Promise.all(Array.from({ length: Math.min(run.jobs, run.files.length) }, (_, job) => work(job)))
  for (const signal of signals) process.off(signal, stop)
  out.end(`1..${outcomes.length}\n`)
  return outcomes
}

function subtest(input: FileOutcome & { place: number; why: string; tap: string }): string {
  const { file, ok, ms, place, why, tap } = input
  const head = `${ok ? 'ok' : 'not ok'} ${place} - ${file} # time=${ms.toFixed(0)}ms`
  const diagnosis = why === '' ? '' : `\n  ---\n  why: ${JSON.stringify(why)}\n  ...\n`
  const inner = tap.replace(/\n$/, '').replaceAll('\n', '\n    ')
  return `${head}${diagnosis === '' ? ' ' : diagnosis}{\n    ${inner}\n}\n`
}

async function runFile(
  run: TestRun,
  { file, job, running }: { file: string; job: number; running: Set<ChildProcess> },
): Promise<Ended> {
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    cwd: run.root,
    env: {
      ...run.env,
      TAP: '1',
      TAP_BAIL: '0',
      TAP_CHILD_ID: '0',
      TAP_CHILD_KEY: CHILD_KEY,
      TAP_JOB_ID: String(job),
      TAP_TIMEOUT: String(run.timeoutMs / 1000),
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  running.add(child)
  const parser = new Parser()
  let tap = ''
  let why = ''
  let force: NodeJS.Timeout | undefined
  const end = (reason: string): void => {
    why ||= reason
    child.kill('SIGALRM')
    force ??= setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS)
  }
  const limit = (ms: number): NodeJS.Timeout => setTimeout(() => end(`ran for more than ${ms} ms`), ms)
  let timer = limit(run.timeoutMs)
  child.on('message', (message) => {
    const asked = askedLimit(message)
    if (asked === null) return
    clearTimeout(timer)
    timer = limit(asked)
  })
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    tap += text
    parser.write(text)
    if (tap.length > OUTPUT_CHARACTERS_MAX) end(`printed more than ${OUTPUT_CHARACTERS_MAX} characters`)
  })
  const complete = once(parser, 'complete')
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearTimeout(timer)
  clearTimeout(force)
  running.delete(child)
  parser.end()
  const [results] = (await complete) as [{ ok: boolean }]
  if (why === '' && code !== 0) why = signal === null ? `exit code ${code}` : `ended by ${signal}`
  return { ok: why === '' && results.ok, tap, why }
}

/** The requested time, ms. Null: another message. */
function askedLimit(message: unknown): number | null {
  if (typeof message !== 'object' || message === null) return null
  const { key, setTimeout: ms } = message as { readonly key?: unknown; readonly setTimeout?: unknown }
  return key === CHILD_KEY && typeof ms === 'number' && ms > 0 ? ms : null
}
