/**
 * The stopped node that a configuration names, with the state as its log would leave it.
 *
 * Owns: what is opened and closed. Rule: a node that runs is refused, before anything of it is read.
 */
import { join } from 'node:path'
import { type Logger, StoppedNode } from '../../cluster/index.ts'
import { MasterKey } from '../access/master-key.ts'
import { loadConfig } from '../config/load-config.ts'
import { recoveryFault } from '../state-machine/members/cluster-recoveries.ts'
import { LevelStateMachine } from '../store/apply/level-state-machine.ts'
import { RehearsedState } from '../store/apply/rehearsed-state.ts'
import { createLogger } from '../telemetry/logger.ts'

export interface OpenedNode {
  readonly node: StoppedNode
  readonly masterKey: MasterKey
  readonly logger: Logger
  /** Only of a state that can be used. Each call begins anew with what is on the disk. */
  readonly rehearse: () => RehearsedState
  /** Why there is no room for one more recovery in which these may be dead; null: there is, or the state cannot be used. */
  readonly roomFault: (members: readonly string[]) => string | null
}

/** Throws StartError. */
export async function withStoppedNode<T>(
  configFile: string,
  work: (opened: OpenedNode) => Promise<T>,
): Promise<T> {
  const config = loadConfig(configFile, process.env)
  const masterKey = await MasterKey.load(config.security.masterKeyFile)
  const { id: nodeId, dataDir } = config.node
  const logger = createLogger({ level: 'error', nodeId })
  const stateMachine = new LevelStateMachine({ dir: join(dataDir, 'state'), logger })
  const expected = {
    clusterId: config.cluster.id,
    nodeId,
    dataDir,
    members: config.cluster.members,
    fingerprint: masterKey.fingerprint,
    olderFingerprints: masterKey.fingerprints.slice(1),
  }
  const node = await StoppedNode.open(expected, { stateMachine, logger })
  const rehearse = (): RehearsedState => {
    const state = stateMachine.handle.current
    const seal = state.seal()
    if (seal === null) throw new Error('a state that can be used has a seal')
    return new RehearsedState(state, seal.sum)
  }
  try {
    const roomFault = (members: readonly string[]): string | null =>
      node.recovered === null ? null : recoveryFault(rehearse(), members)
    return await work({ node, masterKey, logger, rehearse, roomFault })
  } finally {
    await node.close()
  }
}
