/**
 * Backup targets and schedules: what operators set, and what ran.
 *
 * Owns: the rows of targets and schedules, the bounded list of their names, when a schedule may start a backup. Knows nothing of: how a schedule is spelled,
 * what a target holds. Rules: one run of a schedule at a time, and each time of it at most once, because the entry that starts the backup moves the mark
 * as well; the time is the confirmed one; how a run ended is read from the row of its operation; rules that keep backups are about those of the whole
 * cluster, or of one tenant, so only schedules of the same scope have to agree.
 */
import type { ApplyContext, View } from '../base/view.ts'
import type { Draft } from '../base/draft.ts'
import { isKeyPart } from '../base/row-key.ts'
import { type Accepted, accept, type Refused, refuse } from '../base/reply.ts'
import { longOperationKeys } from '../long-operations/keys.ts'
import { tenantKeys } from '../tenants/keys.ts'
import { isFinished, startOperation } from '../long-operations/operations.ts'
import { KEEP_MAX, type KeepRules, type LongOperation } from '../long-operations/records.ts'
import { isKeeping } from '../long-operations/backups.ts'
import type { BackupPlanCommand } from './commands.ts'
import { backupKeys } from './keys.ts'
import {
  BACKUP_SCHEDULES_MAX,
  BACKUP_TARGETS_MAX,
  type BackupNamesRecord,
  type BackupPlan,
  type BackupScheduleRecord,
  type BackupTargetRecord,
  type EndedRun,
  type ScheduledRun,
} from './records.ts'

type Of<T extends BackupPlanCommand['type']> = Extract<BackupPlanCommand, { type: T }>

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

export function setBackupTarget(
  draft: Draft,
  { name, place, markerId }: Of<'setBackupTarget'>,
  { time }: ApplyContext,
): Accepted<BackupTargetRecord> | Refused {
  const fault = nameFault(name) ?? addName(draft, 'targets', name, BACKUP_TARGETS_MAX)
  if (fault !== null) return fault
  const record = { name, place, markerId, updatedAt: time }
  draft.put(backupKeys.backupTarget(name), record)
  return accept(record)
}

export function deleteBackupTarget(
  draft: Draft,
  { name }: Of<'deleteBackupTarget'>,
): Accepted<null> | Refused {
  const user = schedulesOf(draft).find(({ target }) => target === name)
  if (user !== undefined)
    return refuse(
      'precondition_failed',
      `Cannot delete backup target "${name}": schedule "${user.name}" writes to it; change or delete the schedule first`,
    )
  if (draft.get(backupKeys.backupTarget(name)) === undefined) return accept(null)
  draft.remove(backupKeys.backupTarget(name))
  removeName(draft, 'targets', name)
  return accept(null)
}

export function setBackupSchedule(
  draft: Draft,
  { name, plan }: Of<'setBackupSchedule'>,
  context: ApplyContext,
): Accepted<BackupScheduleRecord> | Refused {
  const fault =
    nameFault(name) ?? planFault(draft, name, plan) ?? addName(draft, 'schedules', name, BACKUP_SCHEDULES_MAX)
  if (fault !== null) return fault
  const before = draft.get(backupKeys.backupSchedule(name))
  const { run = null, last = null, lastGood = null, failures = 0 } = before ?? {}
  const record: BackupScheduleRecord = {
    ...plan,
    name,
    updatedAt: context.time,
    revision: context.index,
    markAt: context.confirmedTime,
    run,
    last,
    lastGood,
    failures,
  }
  draft.put(backupKeys.backupSchedule(name), record)
  return accept(record)
}

export function deleteBackupSchedule(
  draft: Draft,
  { name }: Of<'deleteBackupSchedule'>,
): Accepted<null> | Refused {
  if (draft.get(backupKeys.backupSchedule(name)) === undefined) return accept(null)
  draft.remove(backupKeys.backupSchedule(name))
  removeName(draft, 'schedules', name)
  return accept(null)
}

export function startScheduledBackup(
  draft: Draft,
  { name, revision, slotAt, operationId, backupId }: Of<'startScheduledBackup'>,
  context: ApplyContext,
): Accepted<BackupScheduleRecord> | Refused {
  const present = scheduleOf(draft, name, 'start a scheduled backup')
  if (!present.ok) return present
  const schedule = present.value
  const why = notNow(schedule, { revision, slotAt, confirmedTime: context.confirmedTime })
  if (why !== null)
    return refuse('precondition_failed', `Cannot start a backup of schedule "${name}": ${why}`)
  const run = { operationId, backupId, slotAt, startedAt: context.time }
  const started = startOperation(draft, operationOf(schedule, run), context)
  // What goes away by itself, such as another backup, is tried again; the rest would be refused each second until somebody changes the plan.
  if (!started.ok && started.code === 'precondition_failed') return started
  const marked = { ...schedule, markAt: slotAt }
  return started.ok
    ? put(draft, { ...marked, run })
    : put(draft, ended(marked, failedRun(run, started.message, context.time)))
}

function notNow(
  { revision, isPaused, markAt, run }: BackupScheduleRecord,
  asked: Pick<Of<'startScheduledBackup'>, 'revision' | 'slotAt'> & Pick<ApplyContext, 'confirmedTime'>,
): string | null {
  if (revision !== asked.revision) return 'it was changed'
  if (isPaused) return 'it is paused'
  if (run !== null) return `its run "${run.operationId}" is under way`
  if (asked.slotAt > asked.confirmedTime) return 'its time has not come'
  return asked.slotAt > markAt ? null : 'this time of it is dealt with'
}

function operationOf(
  { name, target, tenantId, maxBytesPerSecond }: BackupScheduleRecord,
  { operationId, backupId }: ScheduledRun,
): Parameters<typeof startOperation>[1] {
  return {
    type: 'startOperation',
    operationId,
    kind: 'backup',
    requestedBy: `schedule ${name}`,
    reason: `schedule ${name}`,
    tenantId: tenantId ?? null,
    bucket: null,
    node: null,
    maxBytesPerSecond,
    backup: { backupId, target },
  }
}

export function endScheduledBackup(
  draft: Draft,
  { name, operationId }: Of<'endScheduledBackup'>,
  { time }: ApplyContext,
): Accepted<BackupScheduleRecord> | Refused {
  const present = scheduleOf(draft, name, 'end a scheduled backup')
  if (!present.ok) return present
  const { run } = present.value
  if (run?.operationId !== operationId) return accept(present.value)
  const operation = draft.get(longOperationKeys.operation(operationId))
  if (operation !== undefined && !isFinished(operation.status))
    return refuse('precondition_failed', `Cannot end the run "${operationId}": it is under way`)
  const outcome =
    operation === undefined
      ? failedRun(run, 'Its operation is not known any more', time)
      : endedRun(run, operation, time)
  return put(draft, ended(present.value, outcome))
}

export function alignBackupSchedule(
  draft: Draft,
  { name }: Of<'alignBackupSchedule'>,
  { confirmedTime }: ApplyContext,
): Accepted<BackupScheduleRecord> | Refused {
  const present = scheduleOf(draft, name, 'align a schedule')
  if (!present.ok) return present
  const markAt = Math.min(present.value.markAt, confirmedTime)
  return put(draft, { ...present.value, markAt })
}

export function rewrapBackupSecrets(
  draft: Draft,
  { items }: Of<'rewrapBackupSecrets'>,
): Accepted<{ readonly rewrapped: number }> | Refused {
  if (items.length > BACKUP_TARGETS_MAX)
    return refuse(
      'invalid_argument',
      `Cannot rewrap: ${items.length} secrets are more than the ${BACKUP_TARGETS_MAX} targets of a cluster`,
    )
  let rewrapped = 0
  for (const { name, before, after } of items) {
    const key = backupKeys.backupTarget(name)
    const target = draft.get(key)
    if (target?.place.kind !== 's3' || !isSame(target.place.secret, before)) continue
    draft.put(key, { ...target, place: { ...target.place, secret: after } })
    rewrapped += 1
  }
  return accept({ rewrapped })
}

/** In the order of their names; at most BACKUP_SCHEDULES_MAX. */
export function schedulesOf(view: View): readonly BackupScheduleRecord[] {
  return namesOf(view).schedules.flatMap((name) => view.get(backupKeys.backupSchedule(name)) ?? [])
}

/** In the order of their names; at most BACKUP_TARGETS_MAX. */
export function targetsOf(view: View): readonly BackupTargetRecord[] {
  return namesOf(view).targets.flatMap((name) => view.get(backupKeys.backupTarget(name)) ?? [])
}

function nameFault(name: string): Refused | null {
  if (NAME.test(name) && isKeyPart(name)) return null
  return refuse(
    'invalid_argument',
    `"${name.slice(0, 80)}" is no name: use 1 to 63 of a-z, 0-9 and "-", and begin with a letter or digit`,
  )
}

function planFault(view: View, name: string, { target, tenantId, keep }: BackupPlan): Refused | null {
  if (view.get(backupKeys.backupTarget(target)) === undefined)
    return refuse(
      'precondition_failed',
      `Cannot set schedule "${name}": there is no backup target "${target}"; set it first`,
    )
  if (tenantId !== undefined && view.get(tenantKeys.tenant(tenantId)) === undefined)
    return refuse(
      'precondition_failed',
      `Cannot set schedule "${name}": tenant "${tenantId}" does not exist; leave it out to back up the whole cluster`,
    )
  if (keep !== null && !isKeeping(keep))
    return refuse(
      'invalid_argument',
      `Cannot set schedule "${name}": its rules keep no backup, or a number that is no whole number from 0 to ${KEEP_MAX}; keep at least one, such as last 1, or leave the rules out to keep all`,
    )
  const other = schedulesOf(view).find(
    (one) => one.name !== name && one.target === target && one.tenantId === tenantId,
  )
  if (other !== undefined && !isSameKeep(other.keep, keep))
    return refuse(
      'precondition_failed',
      `Cannot set schedule "${name}": schedule "${other.name}" keeps other numbers of the same backups in the target "${target}", and one would remove what the other keeps; give both the same rules, or targets of their own`,
    )
  return null
}

function isSameKeep(one: KeepRules | null, other: KeepRules | null): boolean {
  if (one === null || other === null) return one === other
  return (Object.keys(one) as (keyof KeepRules)[]).every((rule) => one[rule] === other[rule])
}

function scheduleOf(view: View, name: string, what: string): Accepted<BackupScheduleRecord> | Refused {
  const present = view.get(backupKeys.backupSchedule(name))
  return present === undefined
    ? refuse('not_found', `Cannot ${what}: there is no backup schedule "${name}"`)
    : accept(present)
}

function put(draft: Draft, record: BackupScheduleRecord): Accepted<BackupScheduleRecord> {
  draft.put(backupKeys.backupSchedule(record.name), record)
  return accept(record)
}

function ended(schedule: BackupScheduleRecord, last: EndedRun): BackupScheduleRecord {
  const isGood = last.outcome === 'succeeded'
  return {
    ...schedule,
    run: null,
    last,
    lastGood: isGood ? last : schedule.lastGood,
    failures: isGood ? 0 : schedule.failures + 1,
  }
}

function failedRun(run: ScheduledRun, error: string, endedAt: number): EndedRun {
  return { ...run, endedAt, outcome: 'failed', bytesMoved: 0, error }
}

function endedRun(
  run: ScheduledRun,
  { status, finishedAt, progress, error }: LongOperation,
  time: number,
): EndedRun {
  const outcome = status === 'succeeded' || status === 'cancelled' ? status : 'failed'
  return { ...run, endedAt: finishedAt ?? time, outcome, bytesMoved: progress.bytesMoved, error }
}

function namesOf(view: View): BackupNamesRecord {
  return view.get(backupKeys.backupNames()) ?? { targets: [], schedules: [] }
}

/** Null: the name is in the list. */
function addName(draft: Draft, list: keyof BackupNamesRecord, name: string, max: number): Refused | null {
  const names = namesOf(draft)
  if (names[list].includes(name)) return null
  if (names[list].length >= max)
    return refuse('quota_exceeded', `Cannot add "${name}": a cluster has at most ${max} backup ${list}`)
  draft.put(backupKeys.backupNames(), { ...names, [list]: [...names[list], name].sort() })
  return null
}

function removeName(draft: Draft, list: keyof BackupNamesRecord, name: string): void {
  const names = namesOf(draft)
  draft.put(backupKeys.backupNames(), { ...names, [list]: names[list].filter((one) => one !== name) })
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
