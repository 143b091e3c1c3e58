/**
 * `holdfast admin-token`: its names, options and help.
 */
import { Command, Option } from 'commander'
import { ADMIN_ROLES } from '../../state-machine/base/origin.ts'
import type { AdminTokenOptions } from '../local/admin-token-command.ts'
import { addressOption, certificateOption, dataOption, type Done, examples, jsonOption } from './options.ts'

export function adminTokenCommand(done: Done): Command {
  const group = new Command('admin-token').description(
    'create, list and revoke admin tokens; needs access to a data directory',
  )
  group
    .command('create')
    .description('create a token; it is printed once and not stored')
    .requiredOption('--name <name>', 'what the token is for')
    .addOption(new Option('--role <role>', 'what it may do').choices(ADMIN_ROLES).makeOptionMandatory())
    .option('--tenant <id>', 'limit it to one tenant')
    .option('--no-keys', 'it makes and rotates no access keys, so it never sees a secret')
    .addOption(addressOption())
    .addOption(certificateOption())
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
      '\nExamples:\n  holdfast admin-token create --name ops --role owner --data data/n1\n  holdfast admin-token create --name watch --role viewer --tenant acme --expires-in 30d --data data/n1 --json\n  holdfast admin-token create --name helpdesk --role operator --no-keys --data data/n1',
    )
    .action(async (options: AdminTokenOptions) => {
      const { createToken } = await import('../local/admin-token-command.ts')
      done(await createToken(options))
    })
  group
    .command('list')
    .description('list tokens (the node must be running)')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('admin-token list --data data/n1'))
    .action(async (options: { data: string; json?: boolean }) => {
      const { listTokens } = await import('../local/admin-token-command.ts')
      done(await listTokens(options))
    })
  group
    .command('revoke <tokenId>')
    .description('revoke a token permanently')
    .addOption(dataOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('admin-token revoke adm_0123456789abcdef --data data/n1'))
    .action(async (tokenId: string, options: { data: string; json?: boolean }) => {
      const { revokeToken } = await import('../local/admin-token-command.ts')
      done(await revokeToken(tokenId, options))
    })
  return group
}
