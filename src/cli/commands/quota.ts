/**
 * `holdfast quota`: its names, options and help.
 */
import { Command } from 'commander'
import type { QuotaOptions, SetQuotaOptions } from '../admin/quota-commands.ts'
import {
  countValue,
  type Done,
  dryRunOption,
  examples,
  jsonOption,
  orNone,
  sizeValue,
  tenantOption,
  withAdminAccess,
} from './options.ts'

const COUNT_MAX = 999_999_999

export function quotaCommand(done: Done): Command {
  return new Command('quota')
    .description('limits of a tenant: bytes, objects, buckets')
    .addCommand(getCommand(done))
    .addCommand(setCommand(done))
    .addCommand(clearCommand(done))
}

const ofTenant = (name: string): Command =>
  withAdminAccess(new Command(name)).addOption(tenantOption()).addOption(jsonOption())

function getCommand(done: Done): Command {
  return ofTenant('get')
    .description('show the quota of a tenant and its usage')
    .addHelpText('after', examples('quota get --tenant acme'))
    .action(async (options: QuotaOptions) => {
      const { getQuota } = await import('../admin/quota-commands.ts')
      done(await getQuota(options))
    })
}

function setCommand(done: Done): Command {
  return ofTenant('set')
    .description('set limits of a tenant; limits that are not given stay unchanged')
    .option(
      '--max-bytes <size>',
      'of all versions and unfinished uploads, such as 100GiB, or none',
      orNone(sizeValue),
    )
    .option('--max-objects <n>', 'or none', orNone(countValue(COUNT_MAX)))
    .option('--max-buckets <n>', 'or none', orNone(countValue(COUNT_MAX)))
    .option(
      '--max-versions <n>',
      'object versions and delete markers, or none',
      orNone(countValue(COUNT_MAX)),
    )
    .option('--max-uploads <n>', 'unfinished uploads, or none', orNone(countValue(COUNT_MAX)))
    .option(
      '--max-metadata-bytes <size>',
      'of keys, metadata, tags and configurations, or none: what follows from the other limits',
      orNone(sizeValue),
    )
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      examples(
        'quota set --tenant acme --max-bytes 100GiB',
        'quota set --tenant acme --max-objects none --dry-run',
        'quota set --tenant acme --max-versions 1000000 --max-uploads 1000',
      ),
    )
    .action(async (options: SetQuotaOptions) => {
      const { setQuota } = await import('../admin/quota-commands.ts')
      done(await setQuota(options))
    })
}

function clearCommand(done: Done): Command {
  return ofTenant('clear')
    .description('remove all limits of a tenant')
    .addOption(dryRunOption())
    .addHelpText('after', examples('quota clear --tenant acme'))
    .action(async (options: QuotaOptions) => {
      const { clearQuota } = await import('../admin/quota-commands.ts')
      done(await clearQuota(options))
    })
}
