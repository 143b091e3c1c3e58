/**
 * `holdfast approvals`: its names, options and help.
 */
import { Command } from 'commander'
import type { DecideOptions } from '../admin/approval-commands.ts'
import type { ReadOptions } from '../admin/tenant-commands.ts'
import {
  type Done,
  dryRunOption,
  examples,
  jsonLinesOption,
  jsonOption,
  reasonOption,
  withAdminAccess,
} from './options.ts'

export function approvalsCommand(done: Done): Command {
  return new Command('approvals')
    .description('changes that need the approval of a second owner (security.second_approval)')
    .addCommand(listCommand(done))
    .addCommand(showCommand(done))
    .addCommand(approveCommand(done))
    .addCommand(rejectCommand(done))
}

function listCommand(done: Done): Command {
  return withAdminAccess(new Command('list'))
    .description('list the changes that wait for an approval, or have it and are not made yet')
    .addOption(jsonLinesOption())
    .addHelpText('after', examples('approvals list'))
    .action(async (options: ReadOptions) => {
      const { listApprovals } = await import('../admin/approval-commands.ts')
      done(await listApprovals(options))
    })
}

function showCommand(done: Done): Command {
  return withAdminAccess(new Command('show'))
    .description('show what exactly would be done')
    .argument('<id>')
    .addOption(jsonOption())
    .addHelpText('after', examples('approvals show apr_5e0f3c1a9b7d2468ace01357'))
    .action(async (id: string, options: ReadOptions) => {
      const { showApproval } = await import('../admin/approval-commands.ts')
      done(await showApproval(id, options))
    })
}

const decision = (name: string): Command =>
  withAdminAccess(new Command(name))
    .argument('<id>')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())

function approveCommand(done: Done): Command {
  return decision('approve')
    .description(
      'approve a change that another owner or an access key requested; the requester then repeats the request',
    )
    .addHelpText(
      'after',
      examples("approvals approve apr_5e0f3c1a9b7d2468ace01357 --reason 'ended by both sides'"),
    )
    .action(async (id: string, options: DecideOptions) => {
      const { approve } = await import('../admin/approval-commands.ts')
      done(await approve(id, options))
    })
}

function rejectCommand(done: Done): Command {
  return decision('reject')
    .description('reject a change, or take back the request for one')
    .addHelpText(
      'after',
      examples("approvals reject apr_5e0f3c1a9b7d2468ace01357 --reason 'the customer stays'"),
    )
    .action(async (id: string, options: DecideOptions) => {
      const { reject } = await import('../admin/approval-commands.ts')
      done(await reject(id, options))
    })
}
