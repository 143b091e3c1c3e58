/**
 * `holdfast master-key`: its names, options and help.
 */
import { Command } from 'commander'
import { EXIT } from '../exit.ts'
import { configOption, type Done, jsonOption } from './options.ts'

export function masterKeyCommand(done: Done): Command {
  const group = new Command('master-key').description('the secret that everything else is sealed with')
  group
    .command('create <file>')
    .description(
      'make a new master key; copy the file to every node of the cluster and keep a copy elsewhere',
    )
    .addHelpText('after', '\nExample:\n  holdfast master-key create master.key')
    .action(async (file: string) => {
      const { MasterKey } = await import('../../access/master-key.ts')
      const key = await MasterKey.create(file)
      process.stdout.write(
        `${file} holds master key ${key.id}. Whoever loses it loses all data; whoever has it can read all data.\n`,
      )
      done(EXIT.done)
    })
  group
    .command('add')
    .description('put a new master key in front of those in the key file; the older ones stay')
    .addOption(configOption())
    .addHelpText('after', '\nExample:\n  holdfast master-key add --config n1.yaml')
    .action(async ({ config }: { config: string }) => {
      const { addMasterKey } = await import('../master-key-command.ts')
      done(await addMasterKey(config))
    })
  group
    .command('list')
    .description('show the ids and fingerprints of the keys in the key file, never the keys')
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: { config: string; json?: boolean }) => {
      const { listMasterKeys } = await import('../master-key-command.ts')
      done(await listMasterKeys(options))
    })
  return group
}
