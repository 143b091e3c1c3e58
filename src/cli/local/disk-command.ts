/**
 * `holdfast disk prepare` and `drain`: an empty disk in the place of one that is gone; a disk that is to be emptied.
 *
 * Rule: each writes or removes one small file in the directory, and reads nothing of the node, which may run meanwhile.
 */
import { resolve } from 'node:path'
import { drainDisk as drain, prepareDisk as prepare } from '../../../cluster/index.ts'
import { loadConfig } from '../../config/load-config.ts'
import { EXIT } from '../base/exit.ts'
import { printJson, printLine } from '../base/printing.ts'

export interface DiskOptions {
  readonly config: string
  readonly json?: boolean
}

export interface DrainOptions extends DiskOptions {
  readonly cancel?: boolean
}

export async function prepareDisk(directory: string, options: DiskOptions): Promise<number> {
  const prepared = await prepare(expectedIn(options), resolve(directory))
  if (options.json) printJson(prepared)
  else
    printLine(
      `${prepared.directory} is disk ${prepared.diskId} of this node. A running node takes it into use within seconds, and fills it.`,
    )
  return EXIT.done
}

export async function drainDisk(directory: string, options: DrainOptions): Promise<number> {
  const isDraining = options.cancel !== true
  const drained = await drain(expectedIn(options), resolve(directory), isDraining)
  if (options.json) printJson({ ...drained, isDraining })
  else
    printLine(
      isDraining
        ? `${drained.directory} takes no new copies, and its copies move to the other disks of this node: holdfast cluster placement shows when it is drained.`
        : `${drained.directory} takes new copies again.`,
    )
  return EXIT.done
}

function expectedIn({ config }: DiskOptions): Parameters<typeof prepare>[0] {
  const { node, cluster } = loadConfig(config, process.env)
  const { id: nodeId, dataDir, blobDirectories: directories } = node
  return { clusterId: cluster.id, nodeId, dataDir, directories }
}
