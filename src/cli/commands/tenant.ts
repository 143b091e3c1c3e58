/**
 * `holdfast tenant` and `holdfast usage`: their names, options and help.
 */
import { Command } from 'commander'
import type { CreateTenantOptions, ReadOptions, UsageOptions } from '../admin/tenant-commands.ts'
import {
  type Done,
  dryRunOption,
  examples,
  jsonLinesOption,
  jsonOption,
  tenantOption,
  withAdminAccess,
} from './options.ts'
import { encryptionCommand } from './tenant-encryption.ts'
import { deleteTenantCommand, disableTenantCommand } from './tenant-end.ts'
import { tenantReplicationCommand } from './tenant-replication.ts'

export function tenantCommand(done: Done): Command {
  return new Command('tenant')
    .description('tenants: customers, each with buckets and keys of its own')
    .addCommand(listCommand(done))
    .addCommand(createCommand(done))
    .addCommand(getCommand(done))
    .addCommand(tenantUsageCommand(done))
    .addCommand(encryptionCommand(done))
    .addCommand(tenantReplicationCommand(done))
    .addCommand(disableTenantCommand(done))
    .addCommand(deleteTenantCommand(done))
}

function listCommand(done: Done): Command {
  return withAdminAccess(new Command('list'))
    .description('list tenants; a token limited to one tenant sees only that one')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('tenant list', 'tenant list --token-file owner.token --json'))
    .action(async (options: ReadOptions) => {
      const { listTenants } = await import('../admin/tenant-commands.ts')
      done(await listTenants(options))
    })
}

function createCommand(done: Done): Command {
  return withAdminAccess(new Command('create'))
    .description('create a tenant')
    .argument('<name>', 'display name')
    .option('--id <id>', '2 to 63 of a-z, 0-9 and "-" (default: derived from the name)')
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText('after', examples("tenant create 'Acme Inc.' --id acme"))
    .action(async (name: string, options: CreateTenantOptions) => {
      const { createTenant } = await import('../admin/tenant-commands.ts')
      done(await createTenant(name, options))
    })
}

function getCommand(done: Done): Command {
  return withAdminAccess(new Command('get'))
    .description('show a tenant')
    .argument('<id>')
    .addOption(jsonOption())
    .addHelpText('after', examples('tenant get acme'))
    .action(async (id: string, options: ReadOptions) => {
      const { getTenant } = await import('../admin/tenant-commands.ts')
      done(await getTenant(id, options))
    })
}

function tenantUsageCommand(done: Done): Command {
  return withAdminAccess(new Command('usage'))
    .description('show the usage of a tenant, exact as of one moment')
    .argument('<id>')
    .addOption(jsonOption())
    .addHelpText('after', examples('tenant usage acme --json'))
    .action(async (tenant: string, options: UsageOptions) => {
      const { showUsage } = await import('../admin/tenant-commands.ts')
      done(await showUsage({ ...options, tenant }))
    })
}

/** The same as `tenant usage`, for callers that work with one tenant. */
export function usageCommand(done: Done): Command {
  return withAdminAccess(new Command('usage'))
    .description('show the usage of a tenant, bucket by bucket')
    .addOption(tenantOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('usage --tenant acme'))
    .action(async (options: UsageOptions) => {
      const { showUsage } = await import('../admin/tenant-commands.ts')
      done(await showUsage(options))
    })
}
