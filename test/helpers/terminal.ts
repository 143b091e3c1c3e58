/**
 * A shell that stays open while a test types into it, as a person at one machine would.
 *
 * Owns: the shell and all that is started from it. Rules: a line that fails ends the shell, and with it the test; processes that still run
 * when the test is over are killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { withoutLoader } from './without-loader.ts'

/** Some commands wait for long operations. */
const TYPED_MS_MAX = 600_000

export interface TerminalOptions {
  readonly cwd: string
  /** Typed before anything else: functions in place of programs that the test machine does not have. */
  readonly preamble?: string
  /** Standard error is part of the output, as on a screen. Otherwise only a failure shows it. */
  readonly showsErrors?: boolean
}

export class Terminal {
  readonly #shell: ChildProcess
  readonly #ended: Promise<void>
  #answer = ''
  #errors = ''
  #typed = 0

  constructor(
    t: { teardown(callback: () => unknown): unknown },
    { cwd, preamble, showsErrors }: TerminalOptions,
  ) {
    // A process group of its own, so that its background processes can be ended with it.
    const shell = spawn(...withoutLoader('sh', '-eu'), {
      cwd,
      detached: true,
      // Profiles of the user who runs the tests are none of the machine that is typed on.
      env: { ...process.env, XDG_CONFIG_HOME: '/dev/null/none' },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#shell = shell
    this.#ended = new Promise((resolve) => shell.once('exit', () => resolve()))
    shell.stdout?.setEncoding('utf8').on('data', (piece: string) => (this.#answer += piece))
    shell.stderr?.setEncoding('utf8').on('data', (piece: string) => (this.#errors += piece))
    // The shell has ended: `type` reports it.
    shell.stdin?.on('error', () => {})
    t.teardown(() => this.#end())
    if (showsErrors === true) shell.stdin?.write('exec 2>&1\n')
    if (preamble !== undefined) shell.stdin?.write(`${preamble}\n`)
  }

  /** Resolves with the output. Throws when a line failed. */
  async type(lines: string): Promise<string> {
    const mark = `--- typed ${++this.#typed} ---`
    const from = this.#answer.length
    const isDone = (): boolean => this.#answer.includes(`\n${mark}\n`, from)
    this.#shell.stdin?.write(`${lines}\necho; echo '${mark}'\n`)
    const outcome = await this.#waitFor(isDone)
    const output = this.#answer.slice(from)
    if (outcome === 'done') return output.slice(0, output.indexOf(`\n${mark}\n`))
    throw new Error(`The shell ${outcome} at:\n${lines}\n${output}\n${this.#errors}`)
  }

  #waitFor(isDone: () => boolean): Promise<'done' | 'ended' | 'printed nothing for too long'> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (isDone()) settle('done')
      }
      const timer = setTimeout(() => settle('printed nothing for too long'), TYPED_MS_MAX)
      const settle = (outcome: 'done' | 'ended' | 'printed nothing for too long'): void => {
        clearTimeout(timer)
        this.#shell.stdout?.off('data', look)
        resolve(outcome)
      }
      this.#shell.stdout?.on('data', look)
      this.#ended.then(
        () => settle(isDone() ? 'done' : 'ended'),
        () => {},
      )
      look()
    })
  }

  async #end(): Promise<void> {
    if (this.#shell.pid === undefined) return
    try {
      process.kill(-this.#shell.pid, 'SIGKILL')
    } catch {
      // No process of the group is left.
    }
    await this.#ended
  }
}
