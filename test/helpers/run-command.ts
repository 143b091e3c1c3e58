/**
 * Runs the command line in this process, and captures its output.
 *
 * Rule: only the output of the command is kept; test results written to the same stream meanwhile pass through.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { runProgram } from '../../src/cli/program.ts'

export interface Printed {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Neither profiles nor tokens of the user who runs the tests; a test sets a folder of its own. */
process.env['XDG_CONFIG_HOME'] ??= '/dev/null/none'

const PRINTING = new AsyncLocalStorage<Record<'stdout' | 'stderr', string>>()

for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name]
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  stream.write = (...args: unknown[]): boolean => {
    const printed = PRINTING.getStore()
    if (printed === undefined) return write(...args)
    printed[name] += String(args[0])
    return true
  }
}

export async function runCommand(...argv: readonly string[]): Promise<Printed> {
  const printed = { stdout: '', stderr: '' }
  const code = await PRINTING.run(printed, () => runProgram(argv))
  return { code, out: printed.stdout, err: printed.stderr }
}
