/**
 * The name of a member again, before what cannot be taken back is asked for.
 *
 * Owns: the question. Knows nothing of: what is asked for then.
 * Rule: on a terminal a person is asked; a script that does not say it is refused before anything is sent.
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
  if (confirm !== undefined) throw refused(`--confirm is '${confirm}', and the member is '${nodeId}'`, nodeId)
  const { input, output } = terminal
  const isAsked = input.isTTY === true && output.isTTY === true
  const given = isAsked ? await ask(nodeId, terminal) : null
  if (given === nodeId) return
  const why = given === null ? 'a demotion cannot be taken back' : `'${given}' is not the name of the member`
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
    hint: `Look at it with --dry-run, and repeat the name with --confirm ${nodeId}.`,
    exitCode: EXIT.usage,
  })
}
