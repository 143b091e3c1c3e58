/**
 * `holdfast config`: its names, options and help.
 */
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Owner } from '../local/cluster-folder.ts'
import type { CheckOptions } from '../local/config-command.ts'
import type { CreateConfigOptions } from '../local/config-create-command.ts'
import { configOption, countValue, type Done, examples, jsonOption, listValue, pairValue } from './options.ts'

/** The largest port of a data listener: the admin and peer listeners have the next two. */
const PORT_MAX = 65_533

export function configCommand(done: Done): Command {
  const group = new Command('config').description(
    'create, check or print the configuration of nodes; needs no running node',
  )
  group.addCommand(createCommand(done))
  group
    .command('check')
    .description(
      'report what a start would refuse: settings, the files that they name, the data directory; run it as the user of the node; exits with 2 if there is a fault',
    )
    .addOption(configOption())
    .option('--join', 'check for a start with --join')
    .option('--settings-only', 'check the file and the environment, but no file or folder that they name')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'config check --config n1.yaml',
        'config check --config n4.yaml --join',
        'config check --config n1.yaml --settings-only',
      ),
    )
    .action(async (options: CheckOptions) => {
      const { checkConfig } = await import('../local/config-command.ts')
      done(await checkConfig(options))
    })
  group
    .command('print')
    .description(
      'print every setting with its value and the source of that value: the file, the environment, a default',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('config print --config n1.yaml', 'config print --config n1.yaml --json'))
    .action(async (options: { config: string; json?: boolean }) => {
      const { printConfig } = await import('../local/config-command.ts')
      done(await printConfig(options))
    })
  return group
}

function createCommand(done: Done): Command {
  return new Command('create')
    .description(
      'write the files of a new cluster into one folder: master key, certificates, a configuration for each node',
    )
    .requiredOption('--dir <dir>', 'the folder of the files; new or empty')
    .addOption(
      new Option(
        '--node <id=host>',
        'a founding member and the name or address at which it is reached; may be repeated',
      )
        .argParser(listValue)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '--zone <id=zone>',
        'what a node shares with others, such as its rack; may be repeated',
      ).argParser(pairValue),
    )
    .option('--cluster-id <id>', 'the id of the cluster (default: a new random one)')
    .option('--data-dir <dir>', 'the data directory on each node', '/var/lib/holdfast')
    .addOption(
      new Option(
        '--port <n>',
        'the port of the data listener; the admin and peer listeners have the next two',
      )
        .argParser(countValue(PORT_MAX))
        .default(9000),
    )
    .option(
      '--listen <address>',
      'the address that all listeners bind to, such as 0.0.0.0 (default: the host of the node)',
    )
    .option('--plain', 'data and admin listeners without TLS, for a private network or behind a proxy')
    .option('--node-folders', 'a folder DIR/ID for each node with all that it needs, and DIR/ca for you')
    .addOption(
      new Option('--owner <uid:gid>', 'with --node-folders: who owns the folder of each node').argParser(
        ownerValue,
      ),
    )
    .option('--once', 'succeed without a change when DIR holds all of these files already')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'config create --dir cluster --node n1=10.0.0.1 --node n2=10.0.0.2 --node n3=10.0.0.3',
        'config create --dir cluster --node n1=n1 --node n2=n2 --node n3=n3 --listen 0.0.0.0 --node-folders --owner 10001:10001',
      ),
    )
    .action(async (options: CreateConfigOptions) => {
      const { createConfig } = await import('../local/config-create-command.ts')
      done(await createConfig(options))
    })
}

function ownerValue(text: string): Owner {
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(text) ?? []
  if (uid === undefined || gid === undefined)
    throw new InvalidArgumentError('It is not UID:GID in numbers, such as 10001:10001.')
  return { uid: Number(uid), gid: Number(gid) }
}
