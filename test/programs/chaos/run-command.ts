/**
 * Runs a program to its end.
 *
 * Rule: a failure says the command and its output; none is ignored.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Command } from './host-plan.ts'
import { SEARCH } from './private-host.ts'

const RUN_MS_MAX = 20_000
const execute = promisify(execFile)

export async function runCommand([program = '', ...args]: Command): Promise<void> {
  try {
    await execute(program, args, { env: { ...process.env, PATH: SEARCH }, timeout: RUN_MS_MAX })
  } catch (cause) {
    const { stderr = '' } = cause as { readonly stderr?: string }
    throw new Error(`Cannot run '${[program, ...args].join(' ')}': ${stderr.trim()}`, { cause })
  }
}

export async function runCommands(commands: readonly Command[]): Promise<void> {
  for (const command of commands) await runCommand(command)
}
