/**
 * `holdfast disk prepare`: an empty disk in the place of one that is gone.
 *
 * Rule: it writes one file into an empty directory, and reads nothing of the node, which may run meanwhile.
 */
import { resolve } from 'node:path'
import { prepareDisk as prepare } from '../../../cluster/index.ts'
import { loadConfig } from '../../config/load-config.ts'
import { EXIT } from '../base/exit.ts'
import { printJson, printLine } from '../base/printing.ts'

export interface DiskOptions {
  readonly config: string
  readonly json?: boolean
}

export async function prepareDisk(directory: string, options: DiskOptions): Promise<number> {
  const { node, cluster } = loadConfig(options.config, process.env)
  const { id: nodeId, dataDir, blobDirectories: directories } = node
  const expected = { clusterId: cluster.id, nodeId, dataDir, directories }
  const prepared = await prepare(expected, resolve(directory))
  if (options.json) printJson(prepared)
  else
    printLine(
      `${prepared.directory} is disk ${prepared.diskId} of ${nodeId}. A running node takes it into use within seconds, and fills it.`,
    )
  return EXIT.done
}
