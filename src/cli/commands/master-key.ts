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
    .option('--config <file>', 'wrap the key by the provider that this configuration names (YAML)')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('master-key create master.key', 'master-key create master.key --config n1.yaml'),
    )
    .action(async (file: string, options: { config?: string; json?: boolean }) => {
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
    .command('rewrap')
    .description(
      'write the same keys as the provider of the configuration wraps them now, to move them or after it has a new version',
    )
    .addOption(configOption())
    .option(
      '--from <file>',
      'the configuration whose provider opens what is there (default: that of --config)',
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples('master-key rewrap --config n1.yaml', 'master-key rewrap --config n1.yaml --from before.yaml'),
    )
    .action(async (options: { config: string; from?: string; json?: boolean }) => {
      const { rewrapMasterKeys } = await import('../local/master-key-command.ts')
      done(await rewrapMasterKeys(options))
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
