/**
 * The command line: names, options and help texts. What a command does stands in a file of its own.
 *
 * Owns: parsing and exit codes. Rule: heavy imports happen inside the actions, so that --help is quick.
 */
import { Command, CommanderError, Option } from 'commander'
import { VERSION } from '../version.ts'
import type { AdminTokenOptions } from './admin-token-command.ts'
import type { VerifyAuditOptions } from './audit-command.ts'
import type { QueryAuditOptions } from './audit-query-command.ts'
import { clusterCommand } from './cluster-program.ts'
import { EXIT, reportError } from './exit.ts'

type Done = (exitCode: number) => void

function serverCommand(done: Done): Command {
  return new Command('server')
    .description('run one node in the foreground')
    .requiredOption('--config <file>', 'the configuration of this node (YAML)')
    .option('--join', 'wait on an empty data directory until a running cluster takes this node in')
    .addHelpText(
      'after',
      '\nExamples:\n  holdfast server --config n1.yaml\n  HOLDFAST_LOGGING__LEVEL=debug holdfast server --config n1.yaml',
    )
    .action(async ({ config, join = false }: { config: string; join?: boolean }) => {
      const { runServer } = await import('./server-command.ts')
      done(await runServer(config, join))
    })
}

const dataOption = (): Option =>
  new Option('--data <dir>', 'the data directory of a node of the cluster').makeOptionMandatory()
const configOption = (): Option =>
  new Option('--config <file>', 'the configuration of a node (YAML)').makeOptionMandatory()
const jsonOption = (): Option => new Option('--json', 'print one JSON object')

function adminTokenCommand(done: Done): Command {
  const group = new Command('admin-token').description(
    'mint, list and revoke admin tokens; needs access to a data directory',
  )
  group
    .command('create')
    .description('mint a token; it is printed once and stored nowhere')
    .requiredOption('--name <name>', 'what the token is for')
    .addOption(
      new Option('--role <role>', 'what it may do')
        .choices(['viewer', 'operator', 'owner'])
        .makeOptionMandatory(),
    )
    .option('--tenant <id>', 'limit it to one tenant')
    .addOption(
      new Option('--expires-in <duration>', 'such as 90d or 2160h (default: 90d)').conflicts([
        'expiresAt',
        'expiry',
      ]),
    )
    .addOption(new Option('--expires-at <time>', 'RFC 3339 time or date').conflicts('expiry'))
    .option('--no-expiry', 'never expires')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nExamples:\n  holdfast admin-token create --name ops --role owner --data data/n1\n  holdfast admin-token create --name watch --role viewer --tenant acme --expires-in 30d --data data/n1 --json',
    )
    .action(async (options: AdminTokenOptions) => {
      const { createToken } = await import('./admin-token-command.ts')
      done(await createToken(options))
    })
  group
    .command('list')
    .description('list tokens (the node must be running)')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (options: { data: string; json?: boolean }) => {
      const { listTokens } = await import('./admin-token-command.ts')
      done(await listTokens(options))
    })
  group
    .command('revoke <tokenId>')
    .description('revoke a token for ever')
    .addOption(dataOption())
    .addOption(jsonOption())
    .action(async (tokenId: string, options: { data: string; json?: boolean }) => {
      const { revokeToken } = await import('./admin-token-command.ts')
      done(await revokeToken(tokenId, options))
    })
  return group
}

function keyCommand(done: Done): Command {
  const group = new Command('master-key').description('the secret that everything else is sealed with')
  group
    .command('create <file>')
    .description(
      'make a new master key; copy the file to every node of the cluster and keep a copy elsewhere',
    )
    .addHelpText('after', '\nExample:\n  holdfast master-key create master.key')
    .action(async (file: string) => {
      const { MasterKey } = await import('../access/master-key.ts')
      const key = await MasterKey.create(file)
      process.stdout.write(
        `${file} holds master key ${key.id}. Whoever loses it loses all data; whoever has it can read all data.\n`,
      )
      done(EXIT.done)
    })
  group
    .command('add')
    .description('put a new master key in front of those in the key file; the older ones stay')
    .addOption(configOption())
    .addHelpText('after', '\nExample:\n  holdfast master-key add --config n1.yaml')
    .action(async ({ config }: { config: string }) => {
      const { addMasterKey } = await import('./master-key-command.ts')
      done(await addMasterKey(config))
    })
  group
    .command('list')
    .description('show the ids and fingerprints of the keys in the key file, never the keys')
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: { config: string; json?: boolean }) => {
      const { listMasterKeys } = await import('./master-key-command.ts')
      done(await listMasterKeys(options))
    })
  return group
}

function auditCommand(done: Done): Command {
  const group = new Command('audit').description('the audit log of the cluster')
  group
    .command('verify')
    .description('check that no row was changed, taken out, swapped or cut off (the node must be running)')
    .addOption(dataOption())
    .option('--head <head>', 'what verify printed earlier: the log must contain it')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nNote the head that it prints outside of the cluster: a later check finds with it whether the log was written anew.\n\nExample:\n  holdfast audit verify --data data/n1',
    )
    .action(async (options: VerifyAuditOptions) => {
      const { verifyAudit } = await import('./audit-command.ts')
      done(await verifyAudit(options))
    })
  group.addCommand(auditQueryCommand(done))
  return group
}

function auditQueryCommand(done: Done): Command {
  return new Command('query')
    .description('rows of the audit log, the newest first, asked over the admin API')
    .addOption(
      new Option('--admin-endpoint <urls>', 'admin addresses of nodes, separated by commas')
        .env('HOLDFAST_ADMIN_ENDPOINT')
        .default('http://127.0.0.1:9001'),
    )
    .option('--token-file <file>', 'a file with an admin token (otherwise HOLDFAST_ADMIN_TOKEN)')
    .option('--tenant <id>', 'of this tenant')
    .option('--since <age>', 'not older, such as 90s, 15m or 7d (default: 24h)')
    .option('--until <age>', 'not newer')
    .addOption(new Option('--limit <n>', 'at most so many rows, 1 to 1000').argParser(Number).default(100))
    .option('--operation <id>', 'of this operation, such as deleteObject')
    .option('--actor <id>', 'by this access key, admin token or signed URL')
    .option('--bucket <name>', 'in this bucket')
    .option('--key <key>', 'on this object key; a batch is found by each of its keys')
    .option('--key-prefix <prefix>', 'on object keys that begin so')
    .addOption(new Option('--outcome <outcome>', 'how it ended').choices(['success', 'denied', 'error']))
    .option('--request-id <id>', 'of one request')
    .addOption(new Option('--json', 'print one JSON object a row'))
    .addHelpText(
      'after',
      '\nExamples:\n  HOLDFAST_ADMIN_TOKEN=$OWNER holdfast audit query --bucket photos --key 2026/cat.jpg\n  holdfast audit query --token-file owner.token --outcome denied --since 7d --json',
    )
    .action(async (options: QueryAuditOptions) => {
      const { queryAudit } = await import('./audit-query-command.ts')
      done(await queryAudit(options))
    })
}

/** Errors of usage are told by commander itself; these must not exit the process under our feet. */
function throwInsteadOfExit(command: Command): Command {
  command.exitOverride()
  for (const inner of command.commands) throwInsteadOfExit(inner)
  return command
}

export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.done
  const done: Done = (code) => {
    exitCode = code
  }
  const program = new Command('holdfast')
    .description('A private object store on three or more ordinary machines.')
    .version(VERSION)
    .showSuggestionAfterError()
    .addCommand(serverCommand(done))
    .addCommand(adminTokenCommand(done))
    .addCommand(keyCommand(done))
    .addCommand(auditCommand(done))
    .addCommand(clusterCommand(done))
  try {
    await throwInsteadOfExit(program).parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, argv.includes('--json'))
    return error.exitCode === 0 ? EXIT.done : EXIT.usage
  }
  return exitCode
}
