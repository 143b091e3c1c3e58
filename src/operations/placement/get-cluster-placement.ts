/**
 * getClusterPlacement: authorize -> tenant and bucket exist -> walk a bounded number of chunks, ask members for their disks, and, if that is asked for, on
 * which of them each copy is.
 *
 * Rules: it changes nothing; an answer counts only the chunks that it has read, and a token continues behind them, so pages add up
 * to the whole. The rows are walked instead of kept as counters: a counter for each tenant and node would be another write in
 * each commit and each repair.
 */
import type { NodeRepair } from '../../../cluster/index.ts'
import { adminToken } from '../../access/rights.ts'
import type { ChunkRecord } from '../../state-machine/chunks/records.ts'
import { membersOf } from '../../state-machine/members/members.ts'
import { adminOperation } from '../base/operation.ts'
import { noTarget } from '../base/targets.ts'
import { type NodeDisks, tallyDisks } from './disk-tally.ts'
import { type PlacementSums, PlacementTally } from './placement-tally.ts'
import { type PlacementInput, walkChunks } from './subject.ts'

export interface PlacementPart {
  readonly sums: PlacementSums
  /** Every member, as far as it answers. */
  readonly disks: readonly NodeRepair[]
  /** Of the nodes that answer; null: it was not asked for. */
  readonly byDisk: readonly NodeDisks[] | null
  readonly nextContinuationToken: string | null
}

/** Chunks that one answer counts when every node is asked for the disks of its copies: a look at the disk for each. */
export const BY_DISK_CHUNKS_MAX = 2_000

export const getClusterPlacement = adminOperation(
  {
    id: 'getClusterPlacement',
    requires: adminToken('owner', 'cluster'),
    refuses: ['not_found', 'invalid_continuation_token'],
    target: noTarget,
  },
  async (
    services,
    _principal,
    asked: PlacementInput & { readonly byDisk?: boolean },
  ): Promise<PlacementPart> => {
    const { byDisk: isByDisk = false, ...input } = asked
    const limit = Math.min(input.limit ?? BY_DISK_CHUNKS_MAX, BY_DISK_CHUNKS_MAX)
    const chunks: ChunkRecord[] = []
    const tally = new PlacementTally(membersOf(services.state).members)
    const statuses = services.cluster.repairStatuses()
    const bounded = isByDisk ? { ...input, limit } : input
    const nextContinuationToken = await walkChunks(services, bounded, ['getClusterPlacement'], (page) => {
      tally.add(page)
      if (isByDisk) chunks.push(...page)
    })
    const byDisk = isByDisk ? await tallyDisks(services, chunks) : null
    return { sums: tally.sums(), disks: await statuses, byDisk, nextContinuationToken }
  },
)
