/**
 * `holdfast key`: its names, options and help.
 */
import { Command, Option } from 'commander'
import type {
  CreateKeyOptions,
  ListKeysOptions,
  NewSecretOptions,
  RevokeKeyOptions,
} from '../admin/key-commands.ts'
import type { TestKeyOptions } from '../admin/key-test-command.ts'
import type { TemporaryOptions } from '../objects/temporary-command.ts'
import {
  addressOption,
  certificateOption,
  type Done,
  durationValue,
  dryRunOption,
  examples,
  jsonLinesOption,
  jsonOption,
  listValue,
  reasonOption,
  tenantOption,
  withAdminAccess,
  withDataAccess,
} from './options.ts'

export function keyCommand(done: Done): Command {
  return new Command('key')
    .description('access keys of a tenant')
    .addCommand(listCommand(done))
    .addCommand(createCommand(done))
    .addCommand(rotateCommand(done))
    .addCommand(revokeCommand(done))
    .addCommand(testCommand(done))
    .addCommand(temporaryCommand(done))
}

const ofTenant = (name: string): Command => withAdminAccess(new Command(name)).addOption(tenantOption())

/** What a key may be allowed, as its help says it. */
const ALLOWED = {
  read: 'allow to read there',
  write: 'allow to write there',
  delete: 'allow to delete there',
  admin: 'allow administration there (CORS, policies, notifications)',
} as const

function withVerbs(command: Command): Command {
  for (const [verb, allows] of Object.entries(ALLOWED))
    command.addOption(
      new Option(`--${verb} <bucket/prefix>`, `${allows}; may be repeated`).argParser(listValue),
    )
  return command
}

/** `otherwise`: the scopes without an option. */
function withLimits(command: Command, otherwise: string): Command {
  return withVerbs(command)
    .option('--scopes <text>', `all scopes in one text, such as read,write (default: ${otherwise})`)
    .addOption(new Option('--expires-in <duration>', 'such as 90d').conflicts('expiresAt'))
    .option('--expires-at <time>', 'RFC 3339 time or date')
    .addOption(addressOption())
    .addOption(certificateOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())
}

function listCommand(done: Done): Command {
  return ofTenant('list')
    .description('list keys, without secrets')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('key list --tenant acme'))
    .action(async (options: ListKeysOptions) => {
      const { listKeys } = await import('../admin/key-commands.ts')
      done(await listKeys(options))
    })
}

function createCommand(done: Done): Command {
  return withLimits(ofTenant('create'), 'read,write,delete')
    .description('create a key; its secret is printed only once')
    .option('--name <name>', 'what it is for')
    .option('--account <id>', 'the service account that it belongs to')
    .addHelpText(
      'after',
      examples(
        'key create --tenant acme --name ci --read photos --write photos/in/ --expires-in 90d > ci.env',
        'key create --tenant acme --scopes read,write,delete --json',
      ),
    )
    .action(async (options: CreateKeyOptions) => {
      const { createKey } = await import('../admin/key-commands.ts')
      done(await createKey(options))
    })
}

function rotateCommand(done: Done): Command {
  return withLimits(ofTenant('rotate'), 'those that the key has')
    .description('give a key a new secret; the old secret and its tokens become invalid immediately')
    .argument('<keyId>')
    .addHelpText('after', examples('key rotate AK7Q3M… --tenant acme > ci.env'))
    .action(async (keyId: string, options: NewSecretOptions) => {
      const { rotateKey } = await import('../admin/key-commands.ts')
      done(await rotateKey(keyId, options))
    })
}

function revokeCommand(done: Done): Command {
  return ofTenant('revoke')
    .description('revoke a key permanently')
    .argument('<keyId>')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples("key revoke AK7Q3M… --tenant acme --reason 'it was in a public repository'"),
    )
    .action(async (keyId: string, options: RevokeKeyOptions) => {
      const { revokeKey } = await import('../admin/key-commands.ts')
      done(await revokeKey(keyId, options))
    })
}

function testCommand(done: Done): Command {
  return ofTenant('test')
    .description('tell whether a key may do an operation, and why; without its secret')
    .argument('<keyId>')
    .argument('<operation>', 'an operationId of the data API, such as getObject')
    .argument('[path]', 'bucket/key, or bucket for what is done to a bucket')
    .option('--version-id <id>', 'the version that the request names')
    .option('--source-ip <address>', 'from where the request comes, where key or policy ask for it')
    .option('--no-secure', 'the request comes without TLS')
    .addOption(jsonOption())
    .addHelpText('after', examples('key test AK7Q3M… getObject photos/2026/cat.jpg --tenant acme'))
    .action(async (keyId: string, operation: string, path: string | undefined, options: TestKeyOptions) => {
      const { testKey } = await import('../admin/key-test-command.ts')
      done(await testKey({ keyId, operation, path }, options))
    })
}

function temporaryCommand(done: Done): Command {
  return withVerbs(withDataAccess(new Command('temporary')))
    .description('make a temporary credential that may do less than the access key in use')
    .requiredOption('--session <name>', 'recorded with each request in the audit log')
    .option('--scopes <text>', 'all scopes in one text (default: those of the key)')
    .addOption(new Option('--expires-in <duration>', 'such as 15m (default: 1h)').argParser(durationValue))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('key temporary --session build-17 --read photos/2026/ --expires-in 15m > build.env'),
    )
    .action(async (options: TemporaryOptions) => {
      const { makeTemporary } = await import('../objects/temporary-command.ts')
      done(await makeTemporary(options))
    })
}
