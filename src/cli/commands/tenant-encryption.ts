/**
 * `holdfast tenant encryption`: its names, options and help.
 */
import { Command } from 'commander'
import type { ReadOptions } from '../admin/tenant-commands.ts'
import type { KeyExchangeOptions } from '../admin/encryption-commands.ts'
import {
  type Done,
  dryRunOption,
  examples,
  jsonOption,
  reasonOption,
  sizeValue,
  withAdminAccess,
} from './options.ts'
import { withWait } from './wait-options.ts'

export function encryptionCommand(done: Done): Command {
  return new Command('encryption')
    .description('the data key of a tenant, with which its objects are sealed')
    .addCommand(showCommand(done))
    .addCommand(rotateCommand(done))
}

function showCommand(done: Done): Command {
  return withAdminAccess(new Command('show'))
    .description('show the version of the key, and how much an unfinished exchange has left')
    .argument('<id>')
    .addOption(jsonOption())
    .addHelpText('after', examples('tenant encryption show acme'))
    .action(async (id: string, options: ReadOptions) => {
      const { showEncryption } = await import('../admin/encryption-commands.ts')
      done(await showEncryption(id, options))
    })
}

function rotateCommand(done: Done): Command {
  return withWait(withAdminAccess(new Command('rotate')))
    .description(
      'exchange the data key: new writes use another one at once, what is stored is sealed again in the background',
    )
    .argument('<id>')
    .addOption(reasonOption())
    .option(
      '--max-rate <size>',
      'sealed bytes a second, such as 20MiB; without it the work rests as long as it runs',
      sizeValue,
    )
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        "tenant encryption rotate acme --reason 'yearly exchange' --dry-run",
        "tenant encryption rotate acme --reason 'yearly exchange' --wait",
      ),
    )
    .action(async (id: string, options: KeyExchangeOptions) => {
      const { rotateEncryption } = await import('../admin/encryption-commands.ts')
      done(await rotateEncryption(id, options))
    })
}
