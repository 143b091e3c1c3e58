/**
 * The hold of a backup: while it runs, chunks that its cut may name are not collected. [docs/adr/0086-backups.md]
 *
 * Owns: when a hold starts, how long it lasts, what it keeps. Knows nothing of: targets, files, who drives the backup.
 * Rules: the hold starts in the entry of the request, so that each cut that is taken later lies behind it: of all chunks that such a cut needs, none is
 * condemned at an index before; each step of the driver renews the hold; one that has ended never starts again, because chunks may be gone by then.
 */
import type { ApplyContext } from '../base/view.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import type { BackupRun, LongOperation } from './records.ts'

/** Without a step for so long a backup holds nothing any more: a target that is away for a night does not end it. ms */
export const HOLD_MS: number = 86_400_000

type Times = Pick<ApplyContext, 'index' | 'confirmedTime'>

export function startHold(
  { backupId, target }: Pick<BackupRun, 'backupId' | 'target'>,
  { index, confirmedTime }: Times,
): BackupRun {
  return { backupId, target, heldFrom: index, heldUntil: confirmedTime + HOLD_MS }
}

/** The row with its hold renewed; a refusal when the hold has ended. Operations that hold nothing are returned as they are. */
export function renewHold(
  operation: LongOperation,
  { confirmedTime }: Pick<ApplyContext, 'confirmedTime'>,
): Accepted<LongOperation> | Refused {
  const { backup, operationId } = operation
  if (backup === undefined) return accept(operation)
  if (backup.heldUntil <= confirmedTime)
    return refuse(
      'precondition_failed',
      `Cannot advance operation: "${operationId}" has made no step for too long, and its chunks are no longer held`,
    )
  const heldUntil = Math.max(backup.heldUntil, confirmedTime + HOLD_MS)
  return accept({ ...operation, backup: { ...backup, heldUntil } })
}

/**
 * Why no backup may be started now; null: one may. One at a time: a second one would send the same chunks; and not beside an exchange of a data key, which
 * replaces chunks that the cut names.
 */
export function backupFault(
  unfinished: readonly LongOperation[],
  kind: string,
  backup: unknown,
): Refused | null {
  if (kind !== 'backup') {
    return backup === undefined
      ? null
      : refuse('invalid_argument', 'Cannot start operation: only a backup has a target')
  }
  if (backup === undefined)
    return refuse('invalid_argument', 'Cannot start operation: a backup needs a target')
  const present = unfinished.find((one) => one.kind === 'backup' || one.kind === 'keyExchange')
  if (present === undefined) return null
  return refuse(
    'precondition_failed',
    `Cannot start a backup: "${present.operationId}" is unfinished; wait for its end or cancel it`,
  )
}

/** Chunks that were condemned after this index are kept; Infinity: nothing is held. */
export function heldAfter(unfinished: readonly LongOperation[], confirmedTime: number): number {
  return unfinished.reduce(
    (first, { backup }) =>
      backup === undefined || backup.heldUntil <= confirmedTime ? first : Math.min(first, backup.heldFrom),
    Number.POSITIVE_INFINITY,
  )
}
