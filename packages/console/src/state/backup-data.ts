/**
 * Targets and schedules of backups, and the backups of one target.
 */
import { signal } from '@preact/signals'
import type { AdminOperations, HoldfastAdmin } from '../../../client/src/admin.ts'
import { resource } from './resource.ts'

/** `backup` is null where it cannot be read, and `problem` says why. */
export type HeldBackup = AdminOperations['listClusterBackups']['answer']['backups'][number]

/** Of one target. */
const BACKUPS_MAX = 1000

export const backupPlans = resource(async (api) => {
  const [{ targets }, { schedules }] = await Promise.all([api.listBackupTargets(), api.listBackupSchedules()])
  return { targets, schedules }
})

/** Which one `backupsOfTarget` loads, such as `directory:weekly`; '' for none. */
export const backupTarget = signal('')

export const backupsOfTarget = resource(async (api: HoldfastAdmin): Promise<readonly HeldBackup[]> => {
  const target = backupTarget.peek()
  const found: HeldBackup[] = []
  if (target === '') return found
  for await (const backup of api.backups({ target, limit: 200 })) {
    found.push(backup)
    if (found.length === BACKUPS_MAX) break
  }
  return found.reverse()
})
