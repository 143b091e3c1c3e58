/**
 * `holdfast recover trust-disk`: an operator states that a stopped node's directory is current. [deploy/runbooks/disk-went-back.md]
 *
 * Owns: what it says, the order of row and statement. Knows nothing of: how a disk is proved (cluster/disk-proof-file.ts). Rules: nothing
 * is changed without `--confirm`; the row of the audit log is durable before the statement holds.
 */
import { declareCurrent, notedState } from '../../../cluster/index.ts'
import { withStoppedNode } from '../../quorum-recovery/open-node.ts'
import { leaveRow, trustRow } from '../../quorum-recovery/trust-row.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson } from '../base/printing.ts'

export interface TrustDiskOptions {
  readonly config: string
  readonly confirm?: boolean
  readonly reason?: string
  readonly json?: boolean
}

export async function trustDisk(options: TrustDiskOptions): Promise<number> {
  const { config, confirm = false, reason = null, json = false } = options
  const told = await withStoppedNode(config, async ({ node, logger }) => {
    const { nodeId, incarnation } = node.identity
    if (!confirm) throw notConfirmed(nodeId)
    const before = await notedState(node.dataDir)
    const row = trustRow({ nodeId, incarnation, before, reason }, Date.now())
    await leaveRow(node.dataDir, row, logger)
    await declareCurrent(node.dataDir)
    return { nodeId, before, requestId: row.requestId }
  })
  if (json) printJson(told)
  else
    note(
      `The disk of ${told.nodeId} counts as current from its next start on. The audit log gets its row (${told.requestId}) when the node is back.`,
    )
  return EXIT.done
}

function notConfirmed(nodeId: string): CommandError {
  const message = `If the disk of ${nodeId} went back in time, what it acknowledged since together with nodes that never return is lost, and nobody will notice`
  return new CommandError(message, {
    code: 'confirm_needed',
    hint: 'Bring the other nodes back instead if you can: then nothing has to be stated. Otherwise repeat the command with --confirm.',
    exitCode: EXIT.refused,
  })
}
