/**
 * Runs test files, several processes at once, and writes their output as one TAP stream, like `tap run`.
 *
 * Owns: the order, and which outcome belongs to which file. Knows nothing of: assertions, reports.
 * Rules: a file that ends with an exit code other than 0, by a signal, too late or in the middle of its TAP is not ok; when a group ends early, the
 * file that ran is not ok, and those that had not started run alone.
 */
import type { ChildProcess } from 'node:child_process'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { isGood, runProcess } from './test-process.ts'

export interface TestRun {
  /** Groups of paths relative to `root`, in the order in which they start. The files of a group share a process. */
  readonly groups: readonly (readonly string[])[]
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

interface Ended extends FileOutcome {
  readonly tap: string
  /** Empty: the TAP of the file is sufficient. */
  readonly why: string
}

const GROUPED = fileURLToPath(new URL('grouped-files.ts', import.meta.url))

/** Writes one TAP stream to `out` and ends it. Resolves with an outcome for each file that was started. */
export async function runTestFiles(run: TestRun, out: Writable): Promise<readonly FileOutcome[]> {
  const outcomes: FileOutcome[] = []
  const running = new Set<ChildProcess>()
  const left = [...run.groups]
  let stopped = false
  const stop = (signal: NodeJS.Signals): void => {
    stopped = true
    for (const child of running) child.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  const work = async (job: number): Promise<void> => {
    while (!stopped) {
      const group = left.shift()
      if (group === undefined) return
      const { ended, unstarted } = await runGroup(run, { group, job, running })
      left.unshift(...unstarted.map((file) => [file]))
      for (const outcome of ended) {
        outcomes.push({ file: outcome.file, ok: outcome.ok, ms: outcome.ms })
        out.write(subtest(outcome, outcomes.length))
        if (!outcome.ok && run.stopsAtFailure) stopped = true
      }
    }
  }
  out.write('TAP version 14\n')
  await Promise.all(Array.from({ length: Math.min(run.jobs, left.length) }, (_, job) => work(job)))
  for (const signal of signals) process.off(signal, stop)
  out.end(`1..${outcomes.length}\n`)
  return outcomes
}

function subtest({ file, ok, ms, why, tap }: Ended, place: number): string {
  const head = `${ok ? 'ok' : 'not ok'} ${place} - ${file} # time=${ms.toFixed(0)}ms`
  const diagnosis = why === '' ? '' : `\n  ---\n  why: ${JSON.stringify(why)}\n  ...\n`
  const inner = tap.replace(/\n$/, '').replaceAll('\n', '\n    ')
  return `${head}${diagnosis === '' ? ' ' : diagnosis}{\n    ${inner}\n}\n`
}

interface Group {
  readonly group: readonly string[]
  readonly job: number
  readonly running: Set<ChildProcess>
}

async function runGroup(
  run: TestRun,
  { group, job, running }: Group,
): Promise<{ readonly ended: readonly Ended[]; readonly unstarted: readonly string[] }> {
  const { root, env, timeoutMs } = run
  const args = group.length === 1 ? group : [GROUPED, String(timeoutMs), ...group]
  const { tap, why, started, ms } = await runProcess({ args, root, env, job, timeoutMs, running })
  const [only = ''] = group
  if (group.length === 1)
    return { ended: [{ file: only, ok: why === '' && isGood(tap), ms, tap, why }], unstarted: [] }
  const parts = partsOf(tap)
  const ended = started.map(({ file, atMs }, place): Ended => {
    const part = parts.get(file)
    const isLast = place === started.length - 1
    const until = started[place + 1]?.atMs ?? ms
    const isWhole = part?.ok === true && isGood(part.tap)
    // What happens outside of every file, such as an error after its end, counts for the one that ran last.
    const blame = isLast && (why === 'exit code 1' ? isAllGood(parts) : why !== '') ? why : ''
    return { file, ok: isWhole && blame === '', ms: until - atMs, tap: part?.tap ?? '', why: blame }
  })
  const names = new Set(started.map(({ file }) => file))
  return { ended, unstarted: group.filter((file) => !names.has(file)) }
}

interface FilePart {
  readonly tap: string
  readonly ok: boolean
}

const isAllGood = (parts: ReadonlyMap<string, FilePart>): boolean => [...parts.values()].every(({ ok }) => ok)

/** The TAP of each file of a group: the lines of its subtest, without their margin. */
export function partsOf(tap: string): ReadonlyMap<string, FilePart> {
  const parts = new Map<string, FilePart>()
  let name = ''
  let lines: string[] = []
  for (const line of tap.split('\n')) {
    const [, opened] = /^# Subtest: (.*)$/.exec(line) ?? []
    const [, not, closed] = /^(not )?ok \d+ - (.*?)(?: # .*)?$/.exec(line) ?? []
    if (opened !== undefined) {
      name = opened
      lines = ['TAP version 14']
      parts.set(name, { tap: '', ok: false })
    } else if (closed !== undefined && closed === name) {
      parts.set(name, { tap: `${lines.join('\n')}\n`, ok: not === undefined })
      name = ''
    } else if (name !== '' && line !== '') {
      lines.push(line.startsWith('    ') ? line.slice(4) : line)
      parts.set(name, { tap: `${lines.join('\n')}\n`, ok: false })
    }
  }
  return parts
}
