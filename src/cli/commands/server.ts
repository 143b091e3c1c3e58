/**
 * `holdfast server`: its names, options and help.
 */
import { Command, Option } from 'commander'
import { CommandError, EXIT } from '../base/exit.ts'
import { type Done, examples } from './options.ts'
import { basePortOption } from './up.ts'

interface Options {
  readonly config?: string
  readonly join?: boolean
  readonly dev?: boolean
  readonly data: string
  readonly basePort: number
}

export function serverCommand(done: Done): Command {
  return new Command('server')
    .description('run one node in the foreground')
    .option('--config <file>', 'the configuration of this node (YAML)')
    .option('--join', 'wait on an empty data directory until a running cluster adds this node')
    .addOption(
      new Option(
        '--dev',
        'one node on 127.0.0.1 without a configuration, with a demo tenant, for a trial',
      ).conflicts(['config', 'join']),
    )
    .option('--data <dir>', 'with --dev: the folder for all data; the same one continues', 'data')
    .addOption(basePortOption())
    .addHelpText(
      'after',
      `${examples('server --config n1.yaml', 'server --config n4.yaml --join', 'server --dev')}\n  HOLDFAST_LOGGING__LEVEL=debug holdfast server --config n1.yaml`,
    )
    .action(async ({ config, join = false, dev = false, data, basePort }: Options) => {
      if (dev) {
        const { runDevServer } = await import('../up/dev-server.ts')
        return done(await runDevServer({ data, basePort }))
      }
      if (config === undefined)
        throw new CommandError('No configuration is given', {
          code: 'invalid_argument',
          hint: 'Name it with --config FILE. For a trial without one: holdfast server --dev, or a cluster of three: holdfast up.',
          exitCode: EXIT.usage,
        })
      const { runServer } = await import('../local/server-command.ts')
      done(await runServer(config, { isJoining: join }))
    })
}
