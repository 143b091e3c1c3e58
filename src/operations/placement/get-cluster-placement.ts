/**
 * getClusterPlacement: authorize -> tenant and bucket exist -> walk a bounded number of chunks, ask members for their disks.
 *
 * Rules: it changes nothing; an answer counts only the chunks that it has read, and a token continues behind them, so pages add up
 * to the whole. The rows are walked instead of kept as counters: a counter for each tenant and node would be another write in
 * each commit and each repair.
 */
import type { NodeRepair } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import { type PlacementSums, PlacementTally } from './placement-tally.ts'
import { type PlacementInput, walkChunks } from './subject.ts'

export interface PlacementPart {
  readonly sums: PlacementSums
  /** Every member, as far as it answers. */
  readonly disks: readonly NodeRepair[]
  readonly nextContinuationToken: string | null
}

export const getClusterPlacement = adminOperation(
  {
    id: 'getClusterPlacement',
    requires: adminToken('owner', 'cluster'),
    refuses: ['not_found', 'invalid_continuation_token'],
    target: noTarget,
  },
  async (services, _principal, input: PlacementInput): Promise<PlacementPart> => {
    const tally = new PlacementTally(membersOf(services.state).members)
    const asked = services.cluster.repairStatuses()
    const nextContinuationToken = await walkChunks(services, input, ['getClusterPlacement'], (chunks) =>
      tally.add(chunks),
    )
    return { sums: tally.sums(), disks: await asked, nextContinuationToken }
  },
)
