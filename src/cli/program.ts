/**
 * The command line: one tree of commands. Names, options and help of a group are in commands/; its actions are in other folders.
 *
 * Owns: parsing and exit codes. Rule: heavy imports happen inside the actions, so that --help is quick.
 */
import { Command, CommanderError } from 'commander'
import { VERSION } from '../base/version.ts'
import { accountCommand } from './commands/account.ts'
import { adminTokenCommand } from './commands/admin-token.ts'
import { approvalsCommand } from './commands/approvals.ts'
import { auditCommand } from './commands/audit.ts'
import { bucketCommand } from './commands/bucket.ts'
import { backupCommand } from './commands/backup.ts'
import { certsCommand } from './commands/certs.ts'
import { clusterCommand } from './commands/cluster.ts'
import { completeCommand, completionCommand } from './commands/completion.ts'
import { configCommand } from './commands/config.ts'
import { corsCommand, deliveriesCommand, notificationsCommand } from './commands/bucket-parts.ts'
import { diskCommand } from './commands/disk.ts'
import { doctorCommand } from './commands/doctor.ts'
import { importCommand } from './commands/import.ts'
import { keyCommand } from './commands/key.ts'
import { limitsCommand } from './commands/limits.ts'
import { diffCommand, findCommand, moveCommand, usageBelowCommand, watchCommand } from './commands/many.ts'
import { masterKeyCommand } from './commands/master-key.ts'
import {
  copyCommand,
  getCommand,
  listCommand,
  putCommand,
  removeCommand,
  signCommand,
  statCommand,
  tokenCommand,
} from './commands/objects.ts'
import { legalHoldCommand, retentionCommand, tagCommand } from './commands/object-settings.ts'
import type { Done } from './commands/options.ts'
import { openApiCommand } from './commands/openapi.ts'
import { policyCommand } from './commands/policy.ts'
import { loginCommand, logoutCommand, profilesCommand, useCommand } from './commands/profiles.ts'
import { quotaCommand } from './commands/quota.ts'
import { recoverCommand } from './commands/recover.ts'
import { replicationCommand } from './commands/replication.ts'
import { serverCommand } from './commands/server.ts'
import { syncCommand } from './commands/sync.ts'
import { tenantCommand, usageCommand } from './commands/tenant.ts'
import { upCommand } from './commands/up.ts'
import { uploadsCommand } from './commands/uploads.ts'
import { withEarlyOptions } from './early-options.ts'
import { EXIT, reportError } from './base/exit.ts'

type Group = (done: Done) => Command

/** As --help shows them; a new group of commands is one line more. */
const SECTIONS: readonly (readonly [heading: string, groups: readonly Group[]])[] = [
  [
    'Objects:',
    [
      bucketCommand,
      listCommand,
      putCommand,
      getCommand,
      removeCommand,
      copyCommand,
      moveCommand,
      statCommand,
      findCommand,
      usageBelowCommand,
      diffCommand,
      watchCommand,
      signCommand,
      syncCommand,
      importCommand,
      uploadsCommand,
      tagCommand,
      retentionCommand,
      legalHoldCommand,
      corsCommand,
      notificationsCommand,
      deliveriesCommand,
      replicationCommand,
      tokenCommand,
    ],
  ],
  [
    'Tenants and the cluster:',
    [
      tenantCommand,
      accountCommand,
      keyCommand,
      quotaCommand,
      limitsCommand,
      usageCommand,
      policyCommand,
      approvalsCommand,
      clusterCommand,
      backupCommand,
      auditCommand,
    ],
  ],
  [
    'A node:',
    [
      upCommand,
      serverCommand,
      configCommand,
      doctorCommand,
      recoverCommand,
      adminTokenCommand,
      masterKeyCommand,
      diskCommand,
      certsCommand,
    ],
  ],
  ['Profiles:', [loginCommand, useCommand, profilesCommand, logoutCommand]],
  ['Other:', [openApiCommand, completionCommand, completeCommand]],
]

export function programOf(done: Done): Command {
  const program = new Command('holdfast')
    .description('A private object store on three or more ordinary machines.')
    .version(VERSION)
    .showSuggestionAfterError()
  for (const [heading, groups] of SECTIONS) {
    program.commandsGroup(heading)
    for (const group of groups) program.addCommand(group(done))
  }
  return program
}

/** Commander prints usage errors itself; `exitOverride` stops it from ending the process. */
function prepared(command: Command, isJson: boolean): Command {
  command.exitOverride()
  if (isJson) command.configureOutput({ outputError: usageAsJson })
  for (const inner of command.commands) prepared(inner, isJson)
  return command
}

function usageAsJson(text: string, write: (text: string) => void): void {
  const message = text.trim().replace(/^error: /, '')
  write(`${JSON.stringify({ error: { code: 'invalid_argument', message, hint: 'See --help.' } })}\n`)
}

/** The reader of a pipe may stop early: `holdfast ls | head`. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done)
    throw error
  })
}

export async function runProgram(typed: readonly string[]): Promise<number> {
  endWithReader()
  let exitCode: number = EXIT.done
  const program = programOf((code) => {
    exitCode = code
  })
  const argv = withEarlyOptions(program, typed)
  const isJson = argv.includes('--json')
  try {
    await prepared(program, isJson).parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) return await reportError(error, isJson)
    return error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
  return exitCode
}
