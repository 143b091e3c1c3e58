/**
 * Ends recoveries once every lost copy of a node is counted and made again.
 *
 * Owns: when a recovery is over. Knows nothing of: which copies were lost, how copies are made. Rule: apply decides again, so several
 * nodes may propose the same end.
 */
import type { Cluster, Logger } from '../../cluster/index.ts'
import { ALL_PLANNED, unfinishedOperations } from '../state-machine/long-operations/operations.ts'
import type { View } from '../state-machine/base/view.ts'
import type { Propose } from '../commands/propose.ts'

export interface RereplicationParts {
  readonly cluster: Pick<Cluster, 'isJobRunner'>
  readonly state: View
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
  for (const { operationId, kind, node, cursor, progress, error } of unfinishedOperations(state)) {
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
