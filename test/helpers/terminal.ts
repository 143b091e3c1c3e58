/**
 * A shell that stays open while a test types into it, as a person at one machine would.
 *
 * Owns: the shell and all that is started from it. Rules: a line that fails ends the shell, and with it the test; whatever still runs
 * when the test is over is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { plainly } from './plainly.ts'

/** Some commands wait for operations that take their time. */
const TYPED_MS_MAX = 180_000

export interface Seat {
  readonly cwd: string
  /** Typed before anything else: functions that stand for programs which the machine of a test does not have. */
  readonly preamble?: string
  /** What is said on standard error is seen among the rest, as on a screen. Otherwise only a failure tells it. */
  readonly showsErrors?: boolean
}

export class Terminal {
  readonly #shell: ChildProcess
  readonly #ended: Promise<void>
  #heard = ''
  #errors = ''
  #typed = 0

  constructor(t: { teardown(callback: () => unknown): unknown }, { cwd, preamble, showsErrors }: Seat) {
    // A group of its own, so that what it leaves in the background can be ended with it.
    const shell = spawn(...plainly('sh', '-eu'), { cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#shell = shell
    this.#ended = new Promise((resolve) => shell.once('exit', () => resolve()))
    shell.stdout?.setEncoding('utf8').on('data', (piece: string) => (this.#heard += piece))
    shell.stderr?.setEncoding('utf8').on('data', (piece: string) => (this.#errors += piece))
    // It has ended: whoever types hears of it.
    shell.stdin?.on('error', () => {})
    t.teardown(() => this.#end())
    if (showsErrors === true) shell.stdin?.write('exec 2>&1\n')
    if (preamble !== undefined) shell.stdin?.write(`${preamble}\n`)
  }

  /** Resolves with what was printed. Throws when the shell was not content. */
  async type(lines: string): Promise<string> {
    const mark = `--- typed ${++this.#typed} ---`
    const from = this.#heard.length
    const isSaid = (): boolean => this.#heard.includes(`\n${mark}\n`, from)
    this.#shell.stdin?.write(`${lines}\necho; echo '${mark}'\n`)
    const outcome = await this.#waitFor(isSaid)
    const said = this.#heard.slice(from)
    if (outcome === 'said') return said.slice(0, said.indexOf(`\n${mark}\n`))
    throw new Error(`The shell ${outcome} at:\n${lines}\n${said}\n${this.#errors}`)
  }

  #waitFor(isSaid: () => boolean): Promise<'said' | 'ended' | 'said nothing for too long'> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (isSaid()) settle('said')
      }
      const timer = setTimeout(() => settle('said nothing for too long'), TYPED_MS_MAX)
      const settle = (outcome: 'said' | 'ended' | 'said nothing for too long'): void => {
        clearTimeout(timer)
        this.#shell.stdout?.off('data', look)
        resolve(outcome)
      }
      this.#shell.stdout?.on('data', look)
      this.#ended.then(
        () => settle(isSaid() ? 'said' : 'ended'),
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
      // Nothing of the group is left.
    }
    await this.#ended
  }
}
