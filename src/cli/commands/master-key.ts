/**
 * `holdfast master-key`: its names, options and help.
 */
import { Command } from 'commander'
import { configOption, type Done, examples, jsonOption } from './options.ts'

export function masterKeyCommand(done: Done): Command {
  const group = new Command('master-key').description('the key that encrypts all other keys')
  group
    .command('create <file>')
    .description(
      'create a new master key; copy the file to every node of the cluster and keep a copy elsewhere',
    )
    .addOption(jsonOption())
    .addHelpText('after', examples('master-key create master.key'))
    .action(async (file: string, options: { json?: boolean }) => {
      const { createMasterKey } = await import('../local/master-key-command.ts')
      done(await createMasterKey(file, options))
    })
  group
    .command('add')
    .description('put a new master key in front of those in the key file; the older ones stay')
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('master-key add --config n1.yaml'))
    .action(async (options: { config: string; json?: boolean }) => {
      const { addMasterKey } = await import('../local/master-key-command.ts')
      done(await addMasterKey(options))
    })
  group
    .command('list')
    .description('show the ids and fingerprints of the keys in the key file, never the keys')
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('master-key list --config n1.yaml --json'))
    .action(async (options: { config: string; json?: boolean }) => {
      const { listMasterKeys } = await import('../local/master-key-command.ts')
      done(await listMasterKeys(options))
    })
  return group
}
