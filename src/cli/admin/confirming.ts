/**
 * Asks for the name of the member once more before an irreversible change is requested.
 *
 * Owns: the question. Knows nothing of: the request that follows.
 * Rule: on a terminal the command asks; a script without --confirm is refused before anything is sent.
 */
import { createInterface } from 'node:readline/promises'
import { CommandError, EXIT } from '../base/exit.ts'
import { interruption } from '../base/interruption.ts'

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

const TERMINAL: Terminal = { input: process.stdin, output: process.stderr }

/** Throws CommandError. */
export async function requireConfirmed(
  nodeId: string,
  { confirm, dryRun = false }: { readonly confirm?: string; readonly dryRun?: boolean },
  terminal: Terminal = TERMINAL,
): Promise<void> {
  if (dryRun || confirm === nodeId) return
  if (confirm !== undefined) throw refused(`--confirm is '${confirm}', but the member is '${nodeId}'`, nodeId)
  const { input, output } = terminal
  const isTerminal = input.isTTY === true && output.isTTY === true
  const given = isTerminal ? await ask(nodeId, terminal) : null
  if (given === nodeId) return
  const why = given === null ? 'a demotion cannot be undone' : `'${given}' is not the name of the member`
  throw refused(`'${nodeId}' is not demoted: ${why}`, nodeId)
}

async function ask(nodeId: string, { input, output }: Terminal): Promise<string> {
  const lines = createInterface({ input, output })
  try {
    const question = `${nodeId} cannot get its vote back. Type its name to demote it: `
    return (await lines.question(question, { signal: interruption() })).trim()
  } finally {
    lines.close()
  }
}

function refused(message: string, nodeId: string): CommandError {
  return new CommandError(message, {
    code: 'confirm_mismatch',
    hint: `Check the plan with --dry-run, then repeat the name with --confirm ${nodeId}.`,
    exitCode: EXIT.usage,
  })
}
