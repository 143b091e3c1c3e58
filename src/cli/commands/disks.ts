/**
 * `holdfast cluster disks`: its names, options and help.
 */
import { Command } from 'commander'
import type { DisksOptions, DrainOptions } from '../admin/disks-commands.ts'
import { type Done, dryRunOption, examples, jsonOption, reasonOption, withAdminAccess } from './options.ts'

export function disksCommand(done: Done): Command {
  return new Command('disks')
    .description('the disks of a member with several, asked at any node')
    .addCommand(listCommand(done))
    .addCommand(drainCommand(done))
}

function listCommand(done: Done): Command {
  return withAdminAccess(new Command('list'))
    .description('list the disks of a member, what is left on one that is emptied, and what to do')
    .argument('<nodeId>')
    .addOption(jsonOption())
    .addHelpText('after', examples('cluster disks list n2'))
    .action(async (nodeId: string, options: DisksOptions) => {
      const { listDisks } = await import('../admin/disks-commands.ts')
      done(await listDisks(nodeId, options))
    })
}

function drainCommand(done: Done): Command {
  return withAdminAccess(new Command('drain'))
    .description(
      'empty a disk: it takes no new copies, and those that it has move to other disks of its node',
    )
    .argument('<nodeId>')
    .argument('<disk>', 'its id or its directory')
    .option('--cancel', 'use it again')
    .addOption(reasonOption())
    .addOption(dryRunOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        "cluster disks drain n2 /mnt/disk2/holdfast --reason 'it reports errors' --dry-run",
        "cluster disks drain n2 /mnt/disk2/holdfast --cancel --reason 'the cable was loose'",
      ),
    )
    .action(async (nodeId: string, disk: string, options: DrainOptions) => {
      const { drainDisk } = await import('../admin/disks-commands.ts')
      done(await drainDisk(nodeId, disk, options))
    })
}
