/**
 * `holdfast recover skip-entry apply`: orders a stopped node to skip the entry of a plan. [deploy/runbooks/skip-entry.md]
 *
 * Owns: whether the plan is for this cluster, and that an operator has read it. Knows nothing of: the comparison of the node with the plan
 * (cluster/quorum-recovery). Rule: nothing is written before the seal is verified and the entry is confirmed by its index.
 */
import { orderSkip } from '../../../cluster/index.ts'
import { type OpenedNode, withStoppedNode } from '../../quorum-recovery/open-node.ts'
import { readSignedFile } from '../../quorum-recovery/signed-file.ts'
import { SKIP_FORMAT, skipCommand, type SkipPlan } from '../../quorum-recovery/skip-files.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson, printLine } from '../base/printing.ts'

export interface SkipApplyOptions {
  readonly config: string
  readonly plan: string
  readonly confirm?: string
  readonly json?: boolean
}

export async function applySkip(options: SkipApplyOptions): Promise<number> {
  const { config, json = false } = options
  const done = await withStoppedNode(config, (opened) => applyOn(opened, options))
  if (json) printJson({ ...done, changed: done.ordered === 'ordered' })
  else
    note(
      done.ordered === 'ordered'
        ? `${done.nodeId} skips entry ${done.index} by plan ${done.planId}. Apply it on every node, then start them.`
        : `${done.nodeId} is already ordered to skip entry ${done.index} by plan ${done.planId}; nothing was changed.`,
    )
  if (done.next !== null && !json)
    note(
      `Entry ${done.next.index} cannot be applied either (${done.next.why}): apply this plan on every node, then collect and plan again before any node starts.`,
    )
  return EXIT.done
}

async function applyOn(
  { node, masterKey, rehearse }: OpenedNode,
  { plan: file, confirm, json = false }: SkipApplyOptions,
) {
  const plan = await readSignedFile<SkipPlan>(masterKey, 'skip-plan', file)
  const { nodeId, clusterId } = node.identity
  const { planId, decision, statement } = plan
  if (plan.clusterId !== clusterId || plan.format !== SKIP_FORMAT) throw notOfCluster(clusterId, plan)
  const { index } = decision
  if (confirm !== String(index)) {
    if (!json) for (const sentence of statement) printLine(sentence)
    throw notConfirmed(nodeId, index)
  }
  const ordered = await orderSkip(node, rehearse, { planId, decision, command: skipCommand(plan) })
  const { obstacle } = await node.facts(rehearse)
  const next = obstacle === null ? null : { index: obstacle.index, why: obstacle.why }
  return { nodeId, planId, index, ordered, next }
}

function notOfCluster(clusterId: string, plan: SkipPlan): CommandError {
  const message = `Plan ${plan.planId} is for cluster "${plan.clusterId}" in format ${plan.format}, but the node belongs to "${clusterId}"`
  return new CommandError(message, {
    code: 'not_in_plan',
    hint: 'Collect and plan with the nodes of this cluster, and with the version of holdfast that applies the plan.',
    exitCode: EXIT.refused,
  })
}

function notConfirmed(nodeId: string, index: number): CommandError {
  return new CommandError(
    `The commands of entry ${index} would be lost permanently on ${nodeId}; nothing was changed`,
    {
      code: 'confirm_needed',
      hint: `If a version of holdfast can apply the entry, start that version instead. Otherwise repeat the command with --confirm ${index}.`,
      exitCode: EXIT.refused,
    },
  )
}
