/**
 * The hold of a backup: while it runs, chunks that its cut may name are not collected. [docs/adr/0086-backups.md]
 *
 * Owns: when a hold starts, how long it lasts, what it keeps. Knows nothing of: targets, files, who drives the backup.
 * Rules: the hold starts in the entry of the request, so that each cut that is taken later lies behind it: of all chunks that such a cut needs, none is
 * condemned at an index before; each step of the driver renews the hold; one that has ended never starts again, because chunks may be gone by then.
 */
import type { ApplyContext, View } from '../base/view.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { tenantKeys } from '../tenants/keys.ts'
import { type BackupRun, KEEP_MAX, type KeepRules, type LongOperation } from './records.ts'

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

/** A tenant that is being deleted has no backups of its own any more: what it would hold is going. Null: there is something to back up. */
export function goneFault(
  view: View,
  { kind, tenantId }: Pick<LongOperation, 'kind' | 'tenantId'>,
): Refused | null {
  if (kind !== 'backup' || tenantId === null) return null
  const status = view.get(tenantKeys.tenant(tenantId))?.status
  return status === 'active' || status === 'disabled'
    ? null
    : refuse('not_found', `Cannot start a backup: tenant "${tenantId}" is deleted`)
}

/** Kinds that are not started beside one that is unfinished. A prune would remove what a backup has just found, or a restore still reads. */
const NOT_BESIDE: Readonly<Partial<Record<LongOperation['kind'], readonly LongOperation['kind'][]>>> = {
  backup: ['backup', 'backupPrune', 'keyExchange'],
  backupPrune: ['backup', 'backupPrune', 'backupRestore'],
  backupRestore: ['backupPrune', 'backupRestore'],
  // It only reads, so it runs beside the others.
  backupVerify: ['backupVerify'],
}

/**
 * Why no backup, prune of backups, or restore may be started now; null: one may. One at a time: a second backup would send the same chunks, and a prune would remove
 * chunks that a backup has just found in the target. And no backup beside an exchange of a data key, which replaces chunks that the cut names.
 */
export function backupFault(
  unfinished: readonly LongOperation[],
  {
    kind,
    backup,
    prune,
    verify,
    restore,
  }: Pick<LongOperation, 'kind' | 'prune' | 'verify'> & {
    readonly backup?: unknown
    readonly restore?: unknown
  },
): Refused | null {
  if ((kind === 'backup') !== (backup !== undefined))
    return refuse('invalid_argument', 'Cannot start operation: a backup, and nothing else, has a target')
  if ((kind === 'backupPrune') !== (prune !== undefined))
    return refuse('invalid_argument', 'Cannot start operation: a prune, and nothing else, has rules')
  if ((kind === 'backupRestore') !== (restore !== undefined))
    return refuse('invalid_argument', 'Cannot start operation: a restore, and nothing else, has a scope')
  if ((kind === 'backupVerify') !== (verify !== undefined))
    return refuse(
      'invalid_argument',
      'Cannot start operation: a verification, and nothing else, names a backup',
    )
  if (prune !== undefined && !isKeeping(prune.keep))
    return refuse(
      'invalid_argument',
      `Cannot start operation: rules keep whole numbers of backups from 0 to ${KEEP_MAX}, and at least one`,
    )
  const present = inTheWay(unfinished, kind)
  if (present === undefined) return null
  const what = WHAT[kind] ?? kind
  return refuse(
    'precondition_failed',
    `Cannot start ${what}: "${present.operationId}" is unfinished; wait for its end or cancel it`,
  )
}

/** The unfinished operation beside which none of this kind starts. */
export function inTheWay(
  unfinished: readonly LongOperation[],
  kind: LongOperation['kind'],
): LongOperation | undefined {
  const others = NOT_BESIDE[kind] ?? []
  return unfinished.find((one) => others.includes(one.kind))
}

const WHAT: Readonly<Partial<Record<LongOperation['kind'], string>>> = {
  backup: 'a backup',
  backupPrune: 'a prune',
  backupRestore: 'a restore',
  backupVerify: 'a verification',
}

/** Whether each rule is a whole number in its bounds, and one of them keeps something. */
export function isKeeping(keep: KeepRules): boolean {
  const counts: readonly number[] = Object.values(keep)
  const areCounts = counts.every((count) => Number.isSafeInteger(count) && count >= 0 && count <= KEEP_MAX)
  return areCounts && counts.some((count) => count > 0)
}

/** Chunks that were condemned after this index are kept; Infinity: nothing is held. */
export function heldAfter(unfinished: readonly LongOperation[], confirmedTime: number): number {
  return unfinished.reduce(
    (first, { backup }) =>
      backup === undefined || backup.heldUntil <= confirmedTime ? first : Math.min(first, backup.heldFrom),
    Number.POSITIVE_INFINITY,
  )
}
