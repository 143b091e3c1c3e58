/**
 * `holdfast limits`: its names, options and help.
 */
import { Command } from 'commander'
import type { LimitsOptions, SetLimitsOptions } from '../admin/limits-commands.ts'
import {
  countValue,
  type Done,
  dryRunOption,
  durationValue,
  examples,
  jsonOption,
  NONE,
  sizeValue,
  tenantOption,
  withAdminAccess,
} from './options.ts'

const COUNT_MAX = 999_999_999
const WEIGHT_MAX = 100
/** The setting of the nodes. A word, as `none` is. */
export const DEFAULT = 'default'

export function limitsCommand(done: Done): Command {
  return new Command('limits')
    .description('how much a tenant may ask for: requests, bytes, uploads at once')
    .addCommand(showCommand(done))
    .addCommand(setCommand(done))
    .addCommand(clearCommand(done))
}

const ofTenant = (name: string): Command =>
  withAdminAccess(new Command(name)).addOption(tenantOption()).addOption(jsonOption())

const limitValue =
  (parse: (text: string) => number) =>
  (text: string): number | typeof NONE | typeof DEFAULT =>
    text === NONE || text === DEFAULT ? text : parse(text)

function showCommand(done: Done): Command {
  return ofTenant('show')
    .description('show the limits of a tenant, what runs now, and whether it was limited')
    .addHelpText('after', examples('limits show --tenant acme'))
    .action(async (options: LimitsOptions) => {
      const { showLimits } = await import('../admin/limits-commands.ts')
      done(await showLimits(options))
    })
}

function setCommand(done: Done): Command {
  const count = limitValue(countValue(COUNT_MAX))
  const size = limitValue(sizeValue)
  return ofTenant('set')
    .description(
      'set limits of a tenant; those that are not given stay. none: no limit; default: as the nodes are set',
    )
    .option('--each-key', 'the limits of each access key of the tenant, not of the tenant')
    .option('--requests <n>', 'requests a second', count)
    .option('--bytes-in <size>', 'bytes of uploads a second, such as 50MiB', size)
    .option('--bytes-out <size>', 'bytes of downloads a second', size)
    .option(
      '--burst <duration>',
      'the time of each rate that may come at once, such as 10s',
      limitValue(durationValue),
    )
    .option('--requests-at-once <n>', 'requests that run at the same time', count)
    .option('--uploads-at-once <n>', 'uploads among them', count)
    .option(
      '--weight <n>',
      'turns of the tenant for each turn of another, when requests wait',
      countValue(WEIGHT_MAX),
    )
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      examples(
        'limits set --tenant acme --requests 500 --bytes-out 100MiB',
        'limits set --tenant acme --each-key --requests 50 --dry-run',
      ),
    )
    .action(async (options: SetLimitsOptions) => {
      const { setLimits } = await import('../admin/limits-commands.ts')
      done(await setLimits(options))
    })
}

function clearCommand(done: Done): Command {
  return ofTenant('clear')
    .description('remove the limits of a tenant, so that those of the nodes hold')
    .addOption(dryRunOption())
    .addHelpText('after', examples('limits clear --tenant acme'))
    .action(async (options: LimitsOptions) => {
      const { clearLimits } = await import('../admin/limits-commands.ts')
      done(await clearLimits(options))
    })
}
