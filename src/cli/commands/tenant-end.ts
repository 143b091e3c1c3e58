/**
 * `holdfast tenant disable` and `delete`: their names, options and help.
 */
import { Command } from 'commander'
import type { StartOptions } from '../admin/operation-commands.ts'
import type { DeleteTenantOptions } from '../admin/tenant-end-commands.ts'
import { type Done, dryRunOption, examples, jsonOption, reasonOption, withAdminAccess } from './options.ts'
import { withWait } from './wait-options.ts'

const change = (name: string): Command =>
  withAdminAccess(new Command(name))
    .argument('<id>')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())

export function disableTenantCommand(done: Done): Command {
  return change('disable')
    .description('disable a tenant and revoke its access keys; this cannot be undone')
    .addHelpText('after', examples("tenant disable acme --reason 'the contract has ended' --dry-run"))
    .action(async (id: string, options: StartOptions) => {
      const { disableTenant } = await import('../admin/tenant-end-commands.ts')
      done(await disableTenant(id, options))
    })
}

export function deleteTenantCommand(done: Done): Command {
  return withWait(change('delete'))
    .description('delete a disabled tenant with everything that it stores')
    .requiredOption('--confirm <id>', 'the id of the tenant again')
    .addHelpText(
      'after',
      examples(
        "tenant delete acme --confirm acme --reason 'the contract has ended' --dry-run",
        "tenant delete acme --confirm acme --reason 'the contract has ended' --wait",
      ),
    )
    .action(async (id: string, options: DeleteTenantOptions) => {
      const { deleteTenant } = await import('../admin/tenant-end-commands.ts')
      done(await deleteTenant(id, options))
    })
}
