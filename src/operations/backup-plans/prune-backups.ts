/**
 * pruneBackups: authorize -> read -> target opens and its backups are read -> commit. The node on duty removes what no rule keeps afterwards.
 * [docs/adr/0087-backup-targets-and-schedules.md]
 */
import { adminToken } from '../../access/rights.ts'
import { estimateFreed, planPrune, type PrunePlan, type PruneRules } from '../../backup/retention/prune.ts'
import { Refusal } from '../../base/refusal.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import { isKeeping } from '../../state-machine/long-operations/backups.ts'
import type { KeepRules, LongOperation } from '../../state-machine/long-operations/records.ts'
import { schedulesOf } from '../../state-machine/backup-plans/plans.ts'
import { withTarget } from '../backups/target-refusals.ts'
import type { Plan } from '../base/dry-run.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { wholeKeep } from './backup-schedules.ts'

export interface PruneInput {
  readonly target: string
  /** Whose backups the rules are about. Absent: those of the whole cluster. */
  readonly tenantId?: string
  readonly keep: Partial<KeepRules>
  readonly reason: string
}

export const pruneBackups = adminOperation(
  {
    id: 'pruneBackups',
    requires: adminToken('owner', 'cluster'),
    refuses: ['precondition_failed', 'invalid_argument'],
    target: noTarget,
  },
  async (services, principal, input: PruneInput): Promise<LongOperation> => {
    const { target, reason: text } = input
    const tenantId = input.tenantId ?? null
    const keep = readKeep(input.keep)
    const reason = givenReason(text, 'remove backups')
    await planOf(services, target, { keep, tenantId })
    const scope = { tenantId, bucket: null, node: null, maxBytesPerSecond: null }
    const by = { operationId: newOperationId(), kind: 'backupPrune', requestedBy: principal.tokenId } as const
    return settle(
      await services.propose({ type: 'startOperation', ...by, reason, ...scope, prune: { target, keep } }),
    )
  },
)

export interface PruneOutlook {
  readonly target: string
  readonly tenantId: string | null
  readonly keep: KeepRules
  /** Newest first. */
  readonly kept: readonly { readonly backupId: string; readonly reasons: readonly string[] }[]
  /** Oldest first. */
  readonly removed: readonly string[]
  readonly unreadable: readonly string[]
  readonly chunks: number
  readonly chunkBytes: number
}

/** What would go, in figures. */
export async function outlookOf(
  services: Services,
  { target, tenantId: tenant, keep: asked }: PruneInput,
): Promise<Plan<PruneOutlook>> {
  const [keep, tenantId] = [readKeep(asked), tenant ?? null]
  return withTarget(services, target, async (opened) => {
    const { backups, cluster } = services
    const plan = await planPrune(
      { target: opened, clusterId: cluster.clusterId, masterKey: backups.masterKey },
      { keep, tenantId },
    )
    const { chunks, bytes, shardsRead } = await estimateFreed(plan)
    const outlook = {
      target,
      tenantId,
      keep,
      chunks,
      chunkBytes: bytes,
      kept: plan.kept.map(({ backup: { id: backupId }, reasons }) => ({ backupId, reasons })),
      removed: plan.removed.map(({ id }) => id),
      unreadable: plan.unreadable.map(({ id }) => id),
    }
    return { plan: outlook, warnings: warningsOf(services, { target, tenantId, keep, plan, shardsRead }) }
  })
}

function warningsOf(
  { state }: Services,
  about: {
    readonly target: string
    readonly tenantId: string | null
    readonly keep: KeepRules
    readonly plan: PrunePlan
    readonly shardsRead: number
  },
): readonly string[] {
  const { target, tenantId, keep, plan, shardsRead } = about
  const others = state
    .cut(schedulesOf)
    .filter((one) => one.target === target && (one.tenantId ?? null) === tenantId)
    .filter((one) => JSON.stringify(one.keep) !== JSON.stringify(keep))
  return [
    ...others.map(({ name }) => `Schedule "${name}" keeps other numbers of backups in this target`),
    ...plan.unreadable.map(
      ({ id, problem }) => `Backup ${id} cannot be read, so no chunk would go: ${problem}`,
    ),
    ...(shardsRead === 256 ? [] : [`Chunks and their bytes are estimated from ${shardsRead} of 256 shards`]),
  ]
}

async function planOf({ backups, cluster }: Services, text: string, rules: PruneRules): Promise<void> {
  const { clusterId } = cluster
  await withTarget({ backups }, text, async (target) => {
    await planPrune({ target, clusterId, masterKey: backups.masterKey }, rules)
  })
}

/** Throws Refusal invalid_argument. */
function readKeep(asked: Partial<KeepRules>): KeepRules {
  const keep = wholeKeep(asked)
  if (isKeeping(keep)) return keep
  throw new Refusal(
    'invalid_argument',
    'Cannot prune: the rules keep no backup; keep at least one, such as last 1',
  )
}
