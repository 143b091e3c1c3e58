/**
 * `holdfast account`: its names, options and help.
 */
import { Command } from 'commander'
import type { AccountOptions, CreateAccountOptions } from '../admin/account-commands.ts'
import {
  type Done,
  dryRunOption,
  examples,
  jsonLinesOption,
  jsonOption,
  tenantOption,
  withAdminAccess,
} from './options.ts'

export function accountCommand(done: Done): Command {
  return new Command('account')
    .description('service accounts of a tenant, to which access keys can belong')
    .addCommand(listCommand(done))
    .addCommand(createCommand(done))
}

function listCommand(done: Done): Command {
  return withAdminAccess(new Command('list'))
    .description('list accounts, the oldest first')
    .addOption(tenantOption())
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('account list --tenant acme'))
    .action(async (options: AccountOptions) => {
      const { listAccounts } = await import('../admin/account-commands.ts')
      done(await listAccounts(options))
    })
}

function createCommand(done: Done): Command {
  return withAdminAccess(new Command('create'))
    .description('create an account')
    .argument('<name>', 'unique among the accounts of the tenant')
    .option('--description <text>', 'what it is for')
    .addOption(tenantOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples("account create ci --tenant acme --description 'uploads what the builds make'"),
    )
    .action(async (name: string, options: CreateAccountOptions) => {
      const { createAccount } = await import('../admin/account-commands.ts')
      done(await createAccount(name, options))
    })
}
