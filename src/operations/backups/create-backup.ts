/** createBackup: authorize -> target opens and answers -> reason -> commit. The node on duty writes the backup afterwards. [docs/adr/0086-backups.md] */
import { adminToken } from '../../access/rights.ts'
import { backupsFolder, newBackupId } from '../../backup/format/names.ts'
import { listBackups } from '../../backup/read/backup-reader.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import { tenantRanges } from '../../state-machine/tenants/keys.ts'
import { usageKeys } from '../../state-machine/usage/keys.ts'
import type { Plan } from '../base/dry-run.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { withTarget } from './target-refusals.ts'

export interface BackupInput {
  readonly target: string
  /** Absent: no limit. */
  readonly maxBytesPerSecond?: number
  readonly reason: string
}

export const createBackup = adminOperation(
  {
    id: 'createBackup',
    requires: adminToken('operator', 'cluster'),
    refuses: ['precondition_failed', 'invalid_argument'],
    target: noTarget,
  },
  async (services, principal, input: BackupInput): Promise<LongOperation> => {
    await withTarget(services, input.target, async (target) => {
      for await (const _ of target.list(backupsFolder(services.cluster.clusterId))) break
    })
    const reason = givenReason(input.reason, 'start a backup')
    const scope = { tenantId: null, bucket: null, node: null }
    const maxBytesPerSecond = input.maxBytesPerSecond ?? null
    const backup = { backupId: newBackupId(new Date(services.cluster.time.now())), target: input.target }
    const asked = { operationId: newOperationId(), kind: 'backup', requestedBy: principal.tokenId } as const
    return settle(
      await services.propose({
        type: 'startOperation',
        ...asked,
        reason,
        ...scope,
        maxBytesPerSecond,
        backup,
      }),
    )
  },
)

export interface BackupPlan {
  readonly target: string
  /** Finished ones of this cluster in the target. */
  readonly backups: number
  /** Of the whole cluster; what the target has of them is not sent. */
  readonly chunks: number
  readonly chunkBytes: number
}

const TENANTS_PER_PAGE = 500

export async function planBackup(
  services: Services,
  { target: text }: BackupInput,
): Promise<Plan<BackupPlan>> {
  const backups = await withTarget(services, text, async (target) => {
    let count = 0
    for await (const _ of listBackups(target, services.cluster.clusterId)) count++
    return count
  })
  const { state } = services
  let [chunks, chunkBytes, after]: [number, number, string | null] = [0, 0, '']
  while (after !== null) {
    const page: Awaited<ReturnType<typeof state.page<{ readonly id: string }>>> = await state.page(
      tenantRanges.tenants(),
      {
        after,
        limit: TENANTS_PER_PAGE,
      },
    )
    for (const { id } of page.items) {
      const usage = state.get(usageKeys.usage(id))
      chunks += usage?.chunkCount ?? 0
      chunkBytes += usage?.storedBytes ?? 0
    }
    after = page.next
  }
  return { plan: { target: text, backups, chunks, chunkBytes }, warnings: [] }
}
