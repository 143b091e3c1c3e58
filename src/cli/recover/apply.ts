/**
 * `holdfast recover apply`: binds a stopped survivor to a plan. [decisions 12: lost quorum]
 *
 * Owns: whether the plan is for this node. Knows nothing of: the log, epochs (cluster/quorum-recovery). Rule: nothing is written before the
 * seal of the plan is verified.
 */
import { bindToPlan, declareCurrent } from '../../../cluster/index.ts'
import { recoverCommand } from '../../quorum-recovery/recover-command.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson } from '../base/printing.ts'
import { withStoppedNode } from '../../quorum-recovery/open-node.ts'
import type { Plan } from '../../quorum-recovery/recovery-files.ts'
import { readSignedFile } from '../../quorum-recovery/signed-file.ts'

export interface ApplyOptions {
  readonly config: string
  readonly plan: string
  readonly json?: boolean
}

export async function applyPlan({ config, plan: file, json = false }: ApplyOptions): Promise<number> {
  const done = await withStoppedNode(config, async ({ node, masterKey }) => {
    const plan = await readSignedFile<Plan>(masterKey, 'recovery-plan', file)
    const { nodeId, clusterId } = node.identity
    const report = plan.reports.find((one) => one.nodeId === nodeId)
    if (plan.clusterId !== clusterId || report === undefined) throw notOfPlan(nodeId, plan)
    const { planId, decision, madeAt: time } = plan
    const bound = await bindToPlan(node, { planId, decision, report, time, command: recoverCommand(plan) })
    // The plan decides which history counts; a node that may know another history is refused from now on.
    await declareCurrent(node.dataDir)
    return { nodeId, planId, epoch: decision.epoch, isWinner: decision.winner === nodeId, bound }
  })
  const { nodeId, planId, epoch, bound } = done
  if (json) printJson({ ...done, changed: bound === 'bound' })
  else
    note(
      bound === 'bound'
        ? `${nodeId} is bound to plan ${planId}, recovery epoch ${epoch}. Apply it on every survivor, then start them.`
        : `${nodeId} is already bound to plan ${planId}; nothing was changed.`,
    )
  return EXIT.done
}

function notOfPlan(nodeId: string, { planId, decision }: Plan): CommandError {
  return new CommandError(
    `Plan ${planId} is not for ${nodeId}: it recovers ${decision.survivors.join(', ')}`,
    {
      code: 'not_in_plan',
      hint: 'Apply it on the survivors that it names. Move the data directory of a node that it names as dead away, and let that node join again under another name.',
      exitCode: EXIT.refused,
    },
  )
}
