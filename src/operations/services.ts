/**
 * What an operation may use: ports only.
 *
 * Owns: the bundle that the composition root fills and every operation receives as its first argument.
 * Knows nothing of: fastify, sockets, LevelDB.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import type { Access } from '../access/access.ts'
import type { Config } from '../config/types.ts'
import type { Content } from '../content/content.ts'
import type { Propose } from '../store/propose.ts'
import type { StateReader } from '../store/state-reader.ts'

export interface Services {
  readonly config: Config
  readonly cluster: Pick<
    Cluster,
    'nodeId' | 'clusterId' | 'readBarrier' | 'readiness' | 'metrics' | 'repairStatus'
  >
  readonly state: StateReader
  /** Encodes, replicates, decodes. Throws Condition; refusals are replies. */
  readonly propose: Propose
  readonly access: Access
  readonly content: Content
  /** 32 bytes that depend on the master key and the label alone, so every node derives the same. For seals such as paging tokens. */
  readonly deriveKey: (label: 'continuation-token') => Uint8Array
  /** Of the master key this node was started with; compared with the one in the replicated state. */
  readonly masterKeyFingerprint: string
  readonly logger: Logger
}
