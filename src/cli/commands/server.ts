/**
 * `holdfast server`: its names, options and help.
 */
import { Command } from 'commander'
import { type Done, examples } from './options.ts'

export function serverCommand(done: Done): Command {
  return new Command('server')
    .description('run one node in the foreground')
    .requiredOption('--config <file>', 'the configuration of this node (YAML)')
    .option('--join', 'wait on an empty data directory until a running cluster adds this node')
    .addHelpText(
      'after',
      `${examples('server --config n1.yaml', 'server --config n4.yaml --join')}\n  HOLDFAST_LOGGING__LEVEL=debug holdfast server --config n1.yaml`,
    )
    .action(async ({ config, join = false }: { config: string; join?: boolean }) => {
      const { runServer } = await import('../local/server-command.ts')
      done(await runServer(config, join))
    })
}
