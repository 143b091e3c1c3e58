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
  /** Absent: the whole cluster. */
  readonly tenantId?: string
  /** Absent: no limit. */
  readonly maxBytesPerSecond?: number
  readonly reason: string
}

export const createBackup = adminOperation(
  {
    id: 'createBackup',
    requires: adminToken('operator', 'cluster'),
    refuses: ['precondition_failed', 'invalid_argument', 'not_found'],
    target: noTarget,
  },
  async (services, principal, input: BackupInput): Promise<LongOperation> => {
    await withTarget(services, input.target, async (target) => {
      for await (const _ of target.list(backupsFolder(services.cluster.clusterId))) break
    })
    const reason = givenReason(input.reason, 'start a backup')
    const scope = { tenantId: input.tenantId ?? null, bucket: null, node: null }
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
  /** Null: the whole cluster. */
  readonly tenantId: string | null
  /** Finished ones of this cluster in the target. */
  readonly backups: number
  /** Of what is backed up; what the target has of them is not sent. */
  readonly chunks: number
  readonly chunkBytes: number
}

const TENANTS_PER_PAGE = 500

export async function planBackup(
  services: Services,
  { target: text, tenantId }: BackupInput,
): Promise<Plan<BackupPlan>> {
  const backups = await withTarget(services, text, async (target) => {
    let count = 0
    for await (const _ of listBackups(target, services.cluster.clusterId)) count++
    return count
  })
  const figures = tenantId === undefined ? await figuresOfAll(services) : figuresOf(services, tenantId)
  return { plan: { target: text, tenantId: tenantId ?? null, backups, ...figures }, warnings: [] }
}

type Figures = Pick<BackupPlan, 'chunks' | 'chunkBytes'>

function figuresOf({ state }: Services, tenantId: string): Figures {
  const { chunkCount = 0, storedBytes = 0 } = state.get(usageKeys.usage(tenantId)) ?? {}
  return { chunks: chunkCount, chunkBytes: storedBytes }
}

async function figuresOfAll(services: Services): Promise<Figures> {
  const { state } = services
  let [chunks, chunkBytes, after]: [number, number, string | null] = [0, 0, '']
  while (after !== null) {
    const page: Awaited<ReturnType<typeof state.page<{ readonly id: string }>>> = await state.page(
      tenantRanges.tenants(),
      { after, limit: TENANTS_PER_PAGE },
    )
    for (const { id } of page.items) {
      const one = figuresOf(services, id)
      chunks += one.chunks
      chunkBytes += one.chunkBytes
    }
    after = page.next
  }
  return { chunks, chunkBytes }
}
