/**
 * getClusterTime: authorize -> what this node knows, of clocks and of the log.
 * confirmClusterTime: authorize -> reason -> level -> so much is withheld -> second approval, by setting -> commit.
 * setBackClusterTime: authorize -> reason -> level -> the log is ahead of the majority's time that was shown -> commit.
 */
import type { ClusterTimeStatus } from '../../../cluster/index.ts'
import type { AdminTokenPrincipal } from '../../access/base/principal.ts'
import { adminToken } from '../../access/rights.ts'
import { Refusal } from '../../base/refusal.ts'
import { requireLevel } from '../../commands/level-gate.ts'
import { approvedChangeOf } from '../../state-machine/approved-change.ts'
import { COMMAND_LEVELS } from '../../state-machine/command-levels.ts'
import { settle } from '../../commands/settle.ts'
import type { CorrectionRequest, TimeCorrected } from '../../state-machine/time/log-time.ts'
import { secondApproval } from '../approvals/second-approval.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'

export const getClusterTime = adminOperation(
  {
    id: 'getClusterTime',
    requires: adminToken('owner', 'cluster'),
    refuses: [],
    target: noTarget,
  },
  async (services): Promise<ClusterTimeStatus> => {
    return services.cluster.time.status()
  },
)

/** What the operator was shown may be so old. The machine refuses in the end what is too old for it. ms */
const SHOWN_MS_MAX = 5 * 60_000

export const confirmClusterTime = adminOperation(
  {
    id: 'confirmClusterTime',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (
    services,
    principal,
    { withheldMs, reason }: { readonly withheldMs: number; readonly reason: string },
  ): Promise<TimeCorrected> => {
    givenReason(reason, 'confirm the time')
    await requireLevel(services.cluster, COMMAND_LEVELS.correctTime)
    const { logTime, confirmedTime } = services.cluster.time.status()
    const withheld = logTime - confirmedTime
    if (withheld === 0)
      throw blocked('nothing_withheld', 'Cannot confirm the time: nothing of it is withheld')
    if (withheld !== withheldMs)
      throw blocked(
        'time_changed',
        `Cannot confirm the time: ${withheld} ms are withheld, not ${withheldMs}; look at it again`,
      )
    const confirmation = { reason, correction: { kind: 'confirm', withheldMs } } as const
    await useApproval(services, principal, confirmation)
    return correct(services, principal, confirmation)
  },
)

export const setBackClusterTime = adminOperation(
  {
    id: 'setBackClusterTime',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed'],
    target: noTarget,
  },
  async (
    services,
    principal,
    { majorityTime: seenTime, reason }: { readonly majorityTime: number; readonly reason: string },
  ): Promise<TimeCorrected> => {
    givenReason(reason, 'set the time back')
    await requireLevel(services.cluster, COMMAND_LEVELS.correctTime)
    const { logTime, majorityTime } = services.cluster.time.status()
    if (majorityTime === null)
      throw blocked(
        'majority_unknown',
        'Cannot set the time back: the clocks of a majority are not known now',
      )
    if (Math.abs(majorityTime - seenTime) > SHOWN_MS_MAX)
      throw blocked(
        'time_changed',
        'Cannot set the time back: the time of the majority is not the one that was shown, or it was shown too long ago; look at it again',
      )
    if (logTime - majorityTime <= services.config.cluster.clockSkewMaxMs)
      throw blocked(
        'not_ahead',
        'Cannot set the time back: the log is not ahead of the clocks of the majority',
      )
    return correct(services, principal, { reason, correction: { kind: 'setBack', seenTime } })
  },
)

/** In an entry of its own before: the machine corrects the time with the entry of the command, whatever apply decides. */
async function useApproval(
  services: Services,
  principal: AdminTokenPrincipal,
  confirmation: { readonly reason: string; readonly correction: CorrectionRequest },
): Promise<void> {
  const command = { type: 'correctTime', requestedBy: principal.tokenId, ...confirmation } as const
  const { approval } = await secondApproval(services, principal, 'lower_locks', command)
  const change = approvedChangeOf(command)?.text
  if (approval === undefined || change === undefined) return
  settle(await services.propose({ type: 'useApproval', change, approval }))
}

async function correct(
  services: Services,
  { tokenId: requestedBy }: AdminTokenPrincipal,
  requested: { readonly reason: string; readonly correction: CorrectionRequest },
): Promise<TimeCorrected> {
  return settle(await services.propose({ type: 'correctTime', requestedBy, ...requested }))
}

function blocked(code: string, message: string): Refusal {
  return new Refusal('precondition_failed', message, { blockers: [{ code, message }] })
}
