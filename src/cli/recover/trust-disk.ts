/**
 * `holdfast recover trust-disk`: an operator states that a stopped node's directory is current. [deploy/runbooks/disk-went-back.md]
 *
 * Owns: what it says. Knows nothing of: how a disk is proved (cluster/disk-proof-file.ts). Rule: nothing is changed without `--confirm`.
 */
import { declareCurrent } from '../../../cluster/index.ts'
import { withStoppedNode } from '../../recovery/open-node.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson } from '../base/printing.ts'

export interface TrustDiskOptions {
  readonly config: string
  readonly confirm?: boolean
  readonly json?: boolean
}

export async function trustDisk({
  config,
  confirm = false,
  json = false,
}: TrustDiskOptions): Promise<number> {
  const told = await withStoppedNode(config, async ({ node }) => {
    const { nodeId } = node.identity
    if (!confirm) throw notConfirmed(nodeId)
    return { nodeId, before: await declareCurrent(node.dataDir) }
  })
  if (json) printJson(told)
  else note(`The disk of ${told.nodeId} counts as current from its next start on.`)
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
