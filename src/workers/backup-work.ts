/**
 * The work on backups: one that is under way, a prune, a verification, a restore into the running cluster, what schedules start.
 *
 * Owns: the list. Knows nothing of: when it begins and ends.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { MetricSample } from '../../cluster/index.ts'
import type { OpenTarget } from '../backup/targets/open-target.ts'
import { BackingUp, type BackingUpParts } from './backing-up.ts'
import { BackupPruning } from './backup-pruning.ts'
import { BackupVerifying } from './backup-verifying.ts'
import { BackupSchedules, type BackupSchedulesParts } from './backup-schedules.ts'
import type { Repeating } from './repeating.ts'
import { Restoring, type RestoringParts } from './restoring.ts'

export interface BackupWorkParts
  extends Omit<BackingUpParts, 'openTarget' | 'masterKey'>,
    Pick<RestoringParts, 'content' | 'config' | 'masterKey' | 'uploads'>,
    Pick<BackupSchedulesParts, 'confirmedTime'> {
  readonly backups: { readonly openTarget: OpenTarget }
  readonly often: Pick<Repeating, 'everyMs' | 'logger'>
}

export interface BackupWork {
  readonly workers: readonly Repeating[]
  readonly samples: () => readonly MetricSample[]
  readonly close: () => Promise<void>
}

export function backupWork({ often, backups, ...parts }: BackupWorkParts): BackupWork {
  const { openTarget } = backups
  const backingUp = new BackingUp({ ...parts, openTarget })
  const pruning = new BackupPruning({ ...parts, openTarget })
  const verifying = new BackupVerifying({ ...parts, openTarget })
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    wait(ms, undefined, { signal }).catch(() => undefined)
  const restoring = new Restoring({ ...parts, openTarget, wait: pause })
  const schedules = new BackupSchedules(parts)
  return {
    workers: [
      { name: 'backup', work: () => backingUp.round(), ...often },
      { name: 'backup prune', work: () => pruning.round(), ...often },
      { name: 'backup verification', work: (signal) => verifying.round(signal), ...often },
      { name: 'restore', work: (signal) => restoring.round(signal), ...often },
      { name: 'backup schedules', work: () => schedules.round(), ...often },
    ],
    samples: () => [...schedules.metrics(), ...verifying.metrics()],
    close: async () => {
      await Promise.all([backingUp.close(), pruning.close(), verifying.close(), restoring.close()])
    },
  }
}
