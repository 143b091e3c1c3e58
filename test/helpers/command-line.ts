/**
 * The command line as a user runs it: a separate process, with only the environment that a test gives.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { nodeProgram } from '../../scripts/build/node-program.ts'
import { withoutLoader } from './without-loader.ts'

const RUN_MS_MAX = 600_000

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Surroundings {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export class CommandLine {
  readonly #surroundings: Surroundings
  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  with(env: Readonly<Record<string, string>>): CommandLine {
    return new CommandLine({ ...this.#surroundings, env: { ...this.#surroundings.env, ...env } })
  }

  /** Runs the command to its end. */
  async run(args: readonly string[], input: Uint8Array | string = ''): Promise<Ran> {
    const child = this.start(args)
    const answer = { stdout: '', stderr: '' }
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => (answer.stdout += piece))
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => (answer.stderr += piece))
    // The process may end before it has read everything.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    return { status: await ended(child), ...answer }
  }

  /** Each line of its standard output. Throws when it fails. */
  async json(args: readonly string[], input: Uint8Array | string = ''): Promise<readonly Json[]> {
    const { status, stdout, stderr } = await this.run([...args, '--json'], input)
    if (status !== 0) throw new Error(`holdfast ${args.join(' ')} ended with ${status}: ${stderr}`)
    return stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json)
  }

  /** The test must end it. */
  start(args: readonly string[]): ChildProcess {
    const { cwd, env } = this.#surroundings
    return spawn(...withoutLoader(process.execPath, nodeProgram(), ...args), {
      cwd,
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: RUN_MS_MAX,
    })
  }
}

export type Json = Readonly<Record<string, unknown>>

/** The exit code; null when a signal ended it. */
export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', (code) => resolve(code)))
}
