/**
 * `holdfast server --dev`: one node on loopback without a configuration file, for trials and for tests of other programs.
 *
 * Owns: the configuration that takes the place of the file. Rule: the folder is that of `holdfast up --nodes 1`, so either continues what the
 * other started; the node is this process.
 */
import { resolve } from 'node:path'
import { runServer } from '../local/server-command.ts'
import { demoCredentials } from './demo.ts'
import { requireFreePorts } from './nodes.ts'
import { readyText } from './ready-text.ts'
import { planNodes, prepare } from './setup.ts'
import { describeCluster, nodeView, untilReady } from './up-command.ts'

export interface DevServerOptions {
  /** The folder for everything that the node keeps, its keys and secrets among it. */
  readonly data: string
  readonly basePort: number
}

/** Resolves with the exit code when the node has ended. */
export async function runDevServer({ data, basePort }: DevServerOptions): Promise<number> {
  const options = {
    nodes: 1,
    dataDir: resolve(data),
    basePort,
    json: false,
    configFile: null,
    restart: false,
  }
  const plan = planNodes(options)
  const [node] = plan
  if (node === undefined) throw new Error('A plan of one node has a node')
  await requireFreePorts(plan)
  const prepared = await prepare(options, plan)
  return runServer(node.configFile, {
    endsWithTerminal: true,
    started: async () => {
      await untilReady(node, { isRunning: () => true, log: () => 'The log above says why.' })
      const setup = await demoCredentials(options, prepared, plan)
      process.stdout.write(readyText(describeCluster(options, setup, [nodeView(node, process.pid)])))
    },
  })
}
