/** verifyClusterBackup: authorize -> target opens, and the manifest -> reason -> commit. The node on duty reads the backup back afterwards. [docs/adr/0095-parts-of-backups.md] */
import { adminToken } from '../../access/rights.ts'
import { newOperationId } from '../../commands/operation-id.ts'
import { settle } from '../../commands/settle.ts'
import type { LongOperation } from '../../state-machine/long-operations/records.ts'
import type { Plan } from '../base/dry-run.ts'
import { adminOperation } from '../base/operation.ts'
import { givenReason } from '../base/reason.ts'
import type { Services } from '../base/services.ts'
import { noTarget } from '../base/targets.ts'
import { manifestIn } from './backup-lookups.ts'

export interface VerifyInput {
  readonly backupId: string
  readonly target: string
  /** Absent: no limit. */
  readonly maxBytesPerSecond?: number
  readonly reason: string
}

export const verifyClusterBackup = adminOperation(
  {
    id: 'verifyClusterBackup',
    requires: adminToken('operator', 'cluster'),
    refuses: ['precondition_failed', 'invalid_argument', 'not_found'],
    target: noTarget,
  },
  async (services, principal, input: VerifyInput): Promise<LongOperation> => {
    const { backupId, target } = input
    await manifestIn(services, input)
    const reason = givenReason(input.reason, 'verify a backup')
    const scope = { tenantId: null, bucket: null, node: null }
    const asked = {
      operationId: newOperationId(),
      kind: 'backupVerify',
      requestedBy: principal.tokenId,
    } as const
    return settle(
      await services.propose({
        type: 'startOperation',
        ...asked,
        reason,
        ...scope,
        maxBytesPerSecond: input.maxBytesPerSecond ?? null,
        verify: { backupId, target },
      }),
    )
  },
)

export interface VerifyPlan {
  readonly target: string
  readonly backupId: string
  readonly rows: number
  readonly chunks: number
  /** That are read. */
  readonly chunkBytes: number
}

export async function planVerification(services: Services, input: VerifyInput): Promise<Plan<VerifyPlan>> {
  const { backupId, target } = input
  const { rows, chunks, chunkBytes } = await manifestIn(services, input)
  return { plan: { target, backupId, rows, chunks, chunkBytes }, warnings: [] }
}
