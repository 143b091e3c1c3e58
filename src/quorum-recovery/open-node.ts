/**
 * Opens the stopped node that a configuration names, with the state that its log leads to.
 *
 * Owns: opening and closing. Rule: a running node is refused before anything of it is read.
 */
import { join } from 'node:path'
import { type Logger, StoppedNode } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { readMetadataKey } from '../access/metadata-key.ts'
import { loadMasterKeyOnce } from '../access/provided-keys.ts'
import { loadConfig } from '../config/load-config.ts'
import { recoveryFault } from '../state-machine/members/cluster-recoveries.ts'
import { LevelStateMachine } from '../store/apply/level-state-machine.ts'
import { RehearsedState } from '../store/apply/rehearsed-state.ts'
import { createLogger } from '../telemetry/logger.ts'

export interface OpenedNode {
  readonly node: StoppedNode
  readonly masterKey: MasterKey
  /** Null: the directory is not sealed. */
  readonly metadataKey: Uint8Array | null
  readonly logger: Logger
  /** Only for a usable state. Each call starts again from the state on the disk. */
  readonly rehearse: () => RehearsedState
  /** Why the state cannot record one more recovery in which these nodes may be dead; null: it can, or the state is unusable. */
  readonly capacityFault: (members: readonly string[]) => string | null
}

/** Throws StartError. */
export async function withStoppedNode<T>(
  configFile: string,
  work: (opened: OpenedNode) => Promise<T>,
): Promise<T> {
  const config = loadConfig(configFile, process.env)
  const masterKey = await loadMasterKeyOnce(config.security)
  const { id: nodeId, dataDir } = config.node
  const logger = createLogger({ level: 'error', nodeId })
  const metadataKey = await readMetadataKey(dataDir, masterKey)
  const stateMachine = new LevelStateMachine({ dir: join(dataDir, 'state'), logger, metadataKey })
  const expected = {
    clusterId: config.cluster.id,
    nodeId,
    dataDir,
    members: config.cluster.members,
    fingerprint: masterKey.fingerprint,
    olderFingerprints: masterKey.fingerprints.slice(1),
  }
  const node = await StoppedNode.open(expected, { stateMachine, logger, metadataKey })
  const rehearse = (): RehearsedState => {
    const state = stateMachine.handle.current
    const seal = state.seal()
    if (seal === null) throw new Error('a usable state has a seal')
    return new RehearsedState(state, seal.sum)
  }
  try {
    const capacityFault = (members: readonly string[]): string | null =>
      node.recovered === null ? null : recoveryFault(rehearse(), members)
    return await work({ node, masterKey, metadataKey, logger, rehearse, capacityFault })
  } finally {
    await node.close()
  }
}
