/**
 * The command line: one tree of commands. Names, options and help of a group stand in commands/, what it does in a file of its own.
 *
 * Owns: parsing and exit codes. Rule: heavy imports happen inside the actions, so that --help is quick.
 */
import { Command, CommanderError } from 'commander'
import { VERSION } from '../version.ts'
import { adminTokenCommand } from './commands/admin-token.ts'
import { auditCommand } from './commands/audit.ts'
import { bucketCommand } from './commands/bucket.ts'
import { completionCommand } from './commands/completion.ts'
import { masterKeyCommand } from './commands/master-key.ts'
import {
  copyCommand,
  getCommand,
  listCommand,
  putCommand,
  removeCommand,
  signCommand,
  statCommand,
} from './commands/objects.ts'
import type { Done } from './commands/options.ts'
import { serverCommand } from './commands/server.ts'
import { syncCommand } from './commands/sync.ts'
import { EXIT, reportError } from './exit.ts'

/** A line for each group, so that a new one is one line more. */
const GROUPS: readonly ((done: Done) => Command)[] = [
  serverCommand,
  adminTokenCommand,
  masterKeyCommand,
  auditCommand,
  bucketCommand,
  listCommand,
  putCommand,
  getCommand,
  removeCommand,
  copyCommand,
  statCommand,
  signCommand,
  syncCommand,
  completionCommand,
]

export function programOf(done: Done): Command {
  const program = new Command('holdfast')
    .description('A private object store on three or more ordinary machines.')
    .version(VERSION)
    .showSuggestionAfterError()
  for (const group of GROUPS) program.addCommand(group(done))
  return program
}

/** Errors of usage are told by commander itself; these must not exit the process under our feet. */
function throwInsteadOfExit(command: Command): Command {
  command.exitOverride()
  for (const inner of command.commands) throwInsteadOfExit(inner)
  return command
}

export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.done
  const program = programOf((code) => {
    exitCode = code
  })
  try {
    await throwInsteadOfExit(program).parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, argv.includes('--json'))
    return error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
  return exitCode
}
