/**
 * `holdfast tenant replication`: its names, options and help.
 */
import { Command } from 'commander'
import type {
  SetTenantReplicationOptions,
  TenantReplicationOptions,
} from '../admin/tenant-replication-commands.ts'
import { type Done, dryRunOption, examples, jsonOption, withAdminAccess } from './options.ts'

export function tenantReplicationCommand(done: Done): Command {
  return new Command('replication')
    .description('a second site for all buckets of a tenant, also those made later')
    .addCommand(setCommand(done))
    .addCommand(showCommand(done))
    .addCommand(removeCommand(done))
}

function setCommand(done: Done): Command {
  return withAdminAccess(new Command('set'))
    .description(
      'replicate every bucket without a replication of its own to another Holdfast or S3 store; replaces what is set',
    )
    .argument('<id>')
    .requiredOption('--to <url>', 'the address of the other store, without a bucket')
    .option('--bucket-prefix <text>', 'before the names of the buckets there (default: the same names)')
    .option('--target-key-file <file>', 'a file with AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…')
    .option('--region <name>', 'the region of the buckets there')
    .option('--virtual-host', 'the bucket is part of the name of the host')
    .option('--rules <file>', 'a JSON file with rules, or - for standard input (default: everything)')
    .option('--create-buckets', 'create buckets that are not there')
    .option('--existing', 'send what buckets hold already, too')
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('tenant replication set acme --to https://s3.other.example --create-buckets --dry-run'),
    )
    .action(async (id: string, options: SetTenantReplicationOptions) => {
      const { setTenantReplication } = await import('../admin/tenant-replication-commands.ts')
      done(await setTenantReplication(id, options))
    })
}

function showCommand(done: Done): Command {
  return withAdminAccess(new Command('show'))
    .description('show target, rules, and buckets whose target is not there or refuses')
    .argument('<id>')
    .addOption(jsonOption())
    .addHelpText('after', examples('tenant replication show acme'))
    .action(async (id: string, options: TenantReplicationOptions) => {
      const { showTenantReplication } = await import('../admin/tenant-replication-commands.ts')
      done(await showTenantReplication(id, options))
    })
}

function removeCommand(done: Done): Command {
  return withAdminAccess(new Command('remove'))
    .description('end it; buckets with a replication of their own keep that, and what is there stays')
    .argument('<id>')
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('tenant replication remove acme --dry-run'))
    .action(async (id: string, options: TenantReplicationOptions) => {
      const { removeTenantReplication } = await import('../admin/tenant-replication-commands.ts')
      done(await removeTenantReplication(id, options))
    })
}
