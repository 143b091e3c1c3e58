/**
 * `holdfast config`: its names, options and help.
 */
import { Command } from 'commander'
import { configOption, type Done, examples, jsonOption } from './options.ts'

export function configCommand(done: Done): Command {
  const group = new Command('config').description('the configuration of a node, looked at without a node')
  group
    .command('check')
    .description('tell everything that is wrong with it; ends with 2 when something is')
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('config check --config n1.yaml'))
    .action(async (options: { config: string; json?: boolean }) => {
      const { checkConfig } = await import('../local/config-command.ts')
      done(checkConfig(options))
    })
  group
    .command('print')
    .description(
      'every setting with its value and where that came from: the file, the environment, a default',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .addHelpText('after', examples('config print --config n1.yaml', 'config print --config n1.yaml --json'))
    .action(async (options: { config: string; json?: boolean }) => {
      const { printConfig } = await import('../local/config-command.ts')
      done(printConfig(options))
    })
  return group
}
