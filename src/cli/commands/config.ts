/**
 * `holdfast config`: its names, options and help.
 */
import { Command } from 'commander'
import { configOption, type Done, examples, jsonOption } from './options.ts'

export function configCommand(done: Done): Command {
  const group = new Command('config').description(
    'check or print the configuration of a node; needs no running node',
  )
  group
    .command('check')
    .description('report every fault; exits with 2 if there is one')
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
      'print every setting with its value and the source of that value: the file, the environment, a default',
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
