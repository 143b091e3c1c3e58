/**
 * `holdfast server`: its names, options and help.
 */
import { Command } from 'commander'
import type { Done } from './options.ts'

export function serverCommand(done: Done): Command {
  return new Command('server')
    .description('run one node in the foreground')
    .requiredOption('--config <file>', 'the configuration of this node (YAML)')
    .addHelpText(
      'after',
      '\nExamples:\n  holdfast server --config n1.yaml\n  HOLDFAST_LOGGING__LEVEL=debug holdfast server --config n1.yaml',
    )
    .action(async ({ config }: { config: string }) => {
      const { runServer } = await import('../server-command.ts')
      done(await runServer(config))
    })
}
