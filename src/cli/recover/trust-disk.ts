/**
 * `holdfast recover trust-disk`: an operator declares the directory of a stopped node current. [deploy/runbooks/disk-went-back.md]
 *
 * Owns: the text, the order of audit row and declaration. Knows nothing of: how a disk is proved current (cluster/raft-half/disk-proof-file.ts).
 * Rules: nothing is changed without `--confirm`; the audit row is durable before the declaration takes effect.
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
  const result = await withStoppedNode(config, async ({ node, logger, metadataKey }) => {
    const { nodeId, incarnation } = node.identity
    if (!confirm) throw notConfirmed(nodeId)
    const before = await notedState(node.dataDir)
    const row = trustRow({ nodeId, incarnation, before, reason }, Date.now())
    await leaveRow(node.dataDir, row, { logger, metadataKey })
    await declareCurrent(node.dataDir)
    return { nodeId, before, requestId: row.requestId }
  })
  if (json) printJson(result)
  else
    note(
      `The disk of ${result.nodeId} counts as current from its next start on. The audit log receives the row of this command (${result.requestId}) when the node is back.`,
    )
  return EXIT.done
}

function notConfirmed(nodeId: string): CommandError {
  const message = `If the disk of ${nodeId} went back in time, changes that only this node and permanently lost nodes acknowledged since then are lost, and no node can detect it`
  return new CommandError(message, {
    code: 'confirm_needed',
    hint: 'If you can bring the other nodes back, do that instead: then no declaration is needed. Otherwise repeat the command with --confirm.',
    exitCode: EXIT.refused,
  })
}
