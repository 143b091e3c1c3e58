/**
 * `holdfast disk`: its names, options and help.
 */
import { Command } from 'commander'
import type { DiskOptions, DrainOptions } from '../local/disk-command.ts'
import { configOption, type Done, examples, jsonOption } from './options.ts'

export function diskCommand(done: Done): Command {
  const group = new Command('disk').description('the disks of a node with several; run it on that machine')
  group
    .command('prepare')
    .argument('<directory>', 'one of node.blob_directories, on the new disk, empty')
    .description('say that an empty disk is the new one in its place; the node takes it into use')
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('disk prepare /mnt/disk2/holdfast --config n1.yaml'))
    .action(async (directory: string, options: DiskOptions) => {
      const { prepareDisk } = await import('../local/disk-command.ts')
      done(await prepareDisk(directory, options))
    })
  group
    .command('drain')
    .argument('<directory>', 'the directory of a disk that the node uses')
    .description(
      'empty a disk: it takes no new copies, and those that it has move to other disks of the node',
    )
    .option('--cancel', 'use it again')
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'disk drain /mnt/disk2/holdfast --config n1.yaml',
        'disk drain /mnt/disk2/holdfast --cancel --config n1.yaml',
      ),
    )
    .action(async (directory: string, options: DrainOptions) => {
      const { drainDisk } = await import('../local/disk-command.ts')
      done(await drainDisk(directory, options))
    })
  return group
}
