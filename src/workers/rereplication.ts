/**
 * Ends recoveries: once all that a node has lost is counted and back.
 *
 * Owns: when one is over. Knows nothing of: what was lost, how copies are made. Rule: apply decides anew, so several nodes may
 * propose the same end.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import { ALL_PLANNED } from '../state-machine/operations/operations.ts'
import type { LevelStateReader } from '../store/reads/level-state-reader.ts'
import type { Propose } from '../commands/propose.ts'

export interface RereplicationParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: Pick<LevelStateReader, 'unfinishedOperations'>
  readonly propose: Propose
  readonly logger: Logger
}

/** One round of a worker; there is never more to do at once. Throws Condition. */
export async function endRereplications({
  cluster,
  state,
  propose,
  logger,
}: RereplicationParts): Promise<boolean> {
  if (!cluster.isJobRunner()) return false
  for (const { operationId, kind, node, cursor, progress, error } of state.unfinishedOperations()) {
    if (kind !== 'recovery' || cursor !== ALL_PLANNED || progress.tasksOpen > 0) continue
    const action = error === null ? 'finish' : 'fail'
    const reply = await propose({ type: 'setOperationStatus', operationId, action, error })
    const { blobsDone: copies, bytesMoved: bytes } = progress
    const fields = { operation: operationId, node, copies, bytes, reason: error }
    if (reply.ok && error === null) logger.info(fields, 'lost copies are back')
    else if (reply.ok) logger.error(fields, 'some lost copies cannot be made again')
  }
  return false
}
