/**
 * `holdfast policy`: its names, options and help.
 */
import { Command } from 'commander'
import type { PolicyOptions } from '../admin/policy-commands.ts'
import { type Done, dryRunOption, examples, jsonOption, tenantOption, withAdminAccess } from './options.ts'

export function policyCommand(done: Done): Command {
  return new Command('policy')
    .description('policies of buckets, which restrict what scopes allow')
    .addCommand(getCommand(done))
    .addCommand(setCommand(done))
    .addCommand(deleteCommand(done))
}

const ofBucket = (name: string): Command =>
  withAdminAccess(new Command(name)).argument('<bucket>').addOption(tenantOption()).addOption(jsonOption())

function getCommand(done: Done): Command {
  return ofBucket('get')
    .description('show the policy of a bucket')
    .addHelpText('after', examples('policy get photos --tenant acme'))
    .action(async (bucket: string, options: PolicyOptions) => {
      const { getPolicy } = await import('../admin/policy-commands.ts')
      done(await getPolicy(bucket, options))
    })
}

function setCommand(done: Done): Command {
  return ofBucket('set')
    .description('set the policy of a bucket; replaces the present one')
    .argument('<file>', 'a JSON file, or - for standard input')
    .addOption(dryRunOption())
    .addHelpText('after', examples('policy set photos policy.json --tenant acme --dry-run'))
    .action(async (bucket: string, file: string, options: PolicyOptions) => {
      const { setPolicy } = await import('../admin/policy-commands.ts')
      done(await setPolicy(bucket, file, options))
    })
}

function deleteCommand(done: Done): Command {
  return ofBucket('delete')
    .description('remove the policy of a bucket')
    .addOption(dryRunOption())
    .addHelpText('after', examples('policy delete photos --tenant acme'))
    .action(async (bucket: string, options: PolicyOptions) => {
      const { deletePolicy } = await import('../admin/policy-commands.ts')
      done(await deletePolicy(bucket, options))
    })
}
