/**
 * Programs of this machine: which there are, and running them to their end.
 *
 * Rules: no shell is between, so a name is an argument as it is; a program that runs for too long is ended; nothing is left running when the test ends.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, createReadStream } from 'node:fs'
import { delimiter, join } from 'node:path'
import { endsWithParent } from '../../helpers/ends-with-parent.ts'

const RUN_MS_MAX = 1_200_000
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const SHOWN = 3000

export interface Program {
  readonly path: string
  /** The first line that it prints about itself. */
  readonly version: string
}

export interface Ended {
  readonly code: number | string
  readonly out: Buffer
  readonly err: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** A file that is given as standard input. */
  readonly input?: string
  /** The caller writes to the standard input. */
  readonly isSpokenTo?: boolean
}

/** All programs of this name in the path that state different versions, the first one first. */
export function programsNamed(
  name: string,
  versionArguments: readonly string[] = ['--version'],
): readonly Program[] {
  const found: Program[] = []
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name)
    if (!isExecutable(path)) continue
    const { status, stdout, stderr } = spawnSync(path, versionArguments, { encoding: 'utf8' })
    const [version = ''] = `${stdout}${stderr}`.trim().split('\n')
    if (status === 0 && !found.some((other) => other.version === version)) found.push({ path, version })
  }
  return found
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Without what would change how a client behaves: its settings on this machine, and proxies. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(?:AWS_|BOTO_|RCLONE_|RESTIC_|DUPLICITY_|NODE_OPTIONS$)|_proxy$/i
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

/** Starts a program that ends with this process. */
export function started(
  command: readonly string[],
  { env, cwd, input, isSpokenTo = false }: RunOptions = {},
): ChildProcess {
  const [program = '', ...args] = endsWithParent('KILL', command)
  const child = spawn(program, args, {
    stdio: [input === undefined && !isSpokenTo ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: { ...ownEnvironment(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  if (input !== undefined && child.stdin !== null) {
    // The program may end before it has read everything; its exit code reports that.
    child.stdin.on('error', () => undefined)
    createReadStream(input).pipe(child.stdin)
  }
  return child
}

/** Resolves when the program has ended, however. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const out: Buffer[] = []
  let bytes = 0
  let err = ''
  child.stdout?.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > OUTPUT_BYTES_MAX) child.kill('SIGKILL')
    else out.push(piece)
  })
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (err = (err + text).slice(-OUTPUT_BYTES_MAX)))
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX)
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, signal) => resolve(status ?? signal ?? 'unknown'))
  })
  clearTimeout(timer)
  return { code, out: Buffer.concat(out), err }
}

export const ended = (command: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  endOf(started(command, options))

/** Resolves with the standard output. Throws unless the exit code is 0. */
export async function ran(command: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  const result = await ended(command, options)
  if (result.code !== 0) throw new Error(described(command, result))
  return result.out
}

/** Resolves with what it prints. Throws when the exit code is 0. */
export async function refused(command: readonly string[], options: RunOptions = {}): Promise<string> {
  const result = await ended(command, options)
  if (result.code === 0) throw new Error(`expected a failure: ${described(command, result)}`)
  return `${result.out.toString()}${result.err}`
}

function described(command: readonly string[], { code, out, err }: Ended): string {
  return `${command.join(' ')}\nended with ${code}\n${err.slice(-SHOWN)}\n${out.toString().slice(-SHOWN)}`
}
