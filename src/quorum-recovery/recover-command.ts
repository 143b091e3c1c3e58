/**
 * The command that the service applies in the entry of a plan.
 *
 * Rule: it depends only on the plan, so applying the plan again produces the same bytes.
 */
import type { Proposal } from '../state-machine/commands.ts'
import { SYSTEM_ORIGIN } from '../state-machine/base/origin.ts'
import { encodeCommand } from '../commands/command-codec.ts'
import type { Plan } from './recovery-files.ts'

export function recoverCommand({ planId, madeAt, decision, loss }: Plan): Uint8Array {
  const { epoch, winner, survivors, dead, configuration } = decision
  const { certainThrough, mayMissAfter, isRestored } = decision
  const command: Proposal = {
    type: 'recoverCluster',
    planId,
    epoch,
    plannedAt: madeAt,
    winner,
    survivors,
    voters: configuration.voters,
    dead,
    certainThrough,
    mayMissAfter,
    isRestored,
    loss: { chunks: loss.chunks, versions: loss.versions },
    origin: {
      ...SYSTEM_ORIGIN,
      requestId: planId,
      operation: 'recoverCluster',
      method: 'OFFLINE',
      path: '/recover/apply',
      reason: `recovery ${planId}`,
      elapsedMs: 0,
      successStatus: 200,
      nodeId: winner,
    },
  }
  return encodeCommand(command)
}
