/**
 * `holdfast up`: its names, options and help.
 */
import { Command, Option } from 'commander'
import type { UpOptions } from '../up/up-command.ts'
import { countValue, type Done, examples, jsonOption } from './options.ts'

const NODES_MAX = 9
const PORTS_A_NODE = 10
/** The last node still has its three ports. */
const BASE_PORT_MAX = 65_535 - PORTS_A_NODE * NODES_MAX

export const basePortOption = (): Option =>
  new Option(
    '--base-port <p>',
    'for a trial: node i listens on p+10*i (data), p+10*i+1 (admin), p+10*i+2 (peers), on 127.0.0.1',
  )
    .argParser(countValue(BASE_PORT_MAX))
    .default(9000)

export function upCommand(done: Done): Command {
  return new Command('up')
    .description(
      'run a cluster on this machine in the foreground, with a demo tenant and its key, for a trial',
    )
    .addOption(
      new Option('--nodes <n>', `how many nodes, 1 to ${NODES_MAX}`)
        .argParser(countValue(NODES_MAX))
        .default(3),
    )
    .option('--dir <dir>', 'the folder for all data; the same one continues the cluster', 'data')
    .addOption(new Option('--data <dir>', 'another name of --dir').hideHelp())
    .addOption(basePortOption())
    .option('--config <file>', 'settings (YAML) for every node, over the defaults')
    .option('--restart', 'start a node again when its process ends')
    .addOption(jsonOption())
    .addHelpText('after', examples('up', 'up --nodes 1 --dir ./trial --base-port 9100'))
    .action(async ({ data, ...options }: UpOptions & { readonly data?: string }) => {
      const { bringUpCluster } = await import('../up/up-command.ts')
      const dir = data ?? options.dir
      done(await bringUpCluster({ ...options, dir }, process.argv[1] ?? ''))
    })
}
