/**
 * What verifications of backups have found.
 *
 * Owns: the row with the last one of each target and scope, its bound. Knows nothing of: how a backup is read. Rule: only a verification that is under way
 * records something, so a driver that was replaced records nothing for one that has ended.
 */
import type { ApplyContext, View } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { workable } from '../long-operations/operations.ts'
import type { BackupPlanCommand } from './commands.ts'
import { backupKeys } from './keys.ts'
import { BACKUP_CHECKS_MAX, type BackupCheck } from './records.ts'

export function recordBackupCheck(
  draft: Draft,
  { operationId, check: found }: Extract<BackupPlanCommand, { type: 'recordBackupCheck' }>,
  { time }: ApplyContext,
): Accepted<BackupCheck> | Refused {
  const operation = workable(draft, operationId, 'record a verification')
  if (!operation.ok) return operation
  const { verify } = operation.value
  if (verify?.backupId !== found.backupId || verify.target !== found.target)
    return refuse(
      'invalid_argument',
      `Cannot record a verification: "${operationId}" does not verify backup "${found.backupId.slice(0, 64)}"`,
    )
  const check = { ...found, operationId, checkedAt: time }
  const others = checksOf(draft).filter(
    ({ target, tenantId }) => target !== check.target || tenantId !== check.tenantId,
  )
  draft.put(backupKeys.backupChecks(), { checks: [...others, check].slice(-BACKUP_CHECKS_MAX) })
  return accept(check)
}

export function checksOf(view: View): readonly BackupCheck[] {
  return view.get(backupKeys.backupChecks())?.checks ?? []
}
