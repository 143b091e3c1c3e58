/**
 * Schedules of backups, on the wire.
 */
import Type, { type Static } from 'typebox'
import {
  deleteBackupSchedule,
  getBackupSchedule,
  listBackupSchedules,
  nextRuns,
  type Schedule,
  setBackupSchedule,
} from '../../operations/backup-plans/backup-schedules.ts'
import { outlookOf, pruneBackups } from '../../operations/backup-plans/prune-backups.ts'
import { backupKeys } from '../../state-machine/backup-plans/keys.ts'
import type { EndedRun, ScheduledRun } from '../../state-machine/backup-plans/records.ts'
import { KEEP_MAX } from '../../state-machine/long-operations/records.ts'
import { adminRoute } from '../route.ts'
import { orNull, Time, timeText, timeTextOrNull } from '../wire.ts'
import { changeRoute, longOperationRoute, removalRoute } from './mutation.ts'
import { REASON } from './queries.ts'

const SCHEDULE_PATH = '/cluster/backup-schedules/{name}'
/** Times of a plan that a dry run shows. */
const SHOWN_RUNS = 3
const SCHEDULE = { name: 'nightly' }

const Kept = Type.Integer({ minimum: 0, maximum: KEEP_MAX })
const kept = (description: string) => Type.Optional({ ...Kept, description })
const KeepBody = Type.Object(
  {
    last: kept('The newest ones'),
    hourly: kept('The newest of each of so many hours that have one'),
    daily: kept('The newest of each of so many days'),
    weekly: kept('The newest of each of so many weeks, which begin on Monday'),
    monthly: kept('The newest of each of so many months'),
    yearly: kept('The newest of each of so many years'),
  },
  {
    additionalProperties: false,
    description: 'Times are UTC. A backup stays by any rule that names it; the newest good one always stays',
  },
)
const ScheduleBody = Type.Object(
  {
    target: Type.String({ maxLength: 63, description: 'Name of a backup target' }),
    tenantId: Type.Optional(
      orNull(
        Type.String({
          maxLength: 128,
          description: 'The tenant whose backups are made; absent or null: the whole cluster',
        }),
      ),
    ),
    when: Type.String({
      maxLength: 200,
      description: 'Minute, hour, day, month and weekday in UTC, as cron has them, such as 30 2 * * *',
    }),
    keep: Type.Optional(orNull(KeepBody)),
    paused: Type.Optional(Type.Boolean()),
    maxBytesPerSecond: Type.Optional(orNull(Type.Integer({ minimum: 1 }))),
  },
  { additionalProperties: false },
)
const Run = {
  operationId: Type.String(),
  backupId: Type.String(),
  scheduledFor: Type.String({
    format: 'date-time',
    description: 'The time of the schedule that it stands for',
  }),
  startedAt: Time,
}
const EndedView = Type.Object(
  {
    ...Run,
    endedAt: Time,
    outcome: Type.Enum(['succeeded', 'failed', 'cancelled']),
    bytesSent: Type.Integer({ minimum: 0 }),
    error: orNull(Type.String()),
  },
  { additionalProperties: false },
)
export const BackupScheduleView = Type.Object(
  {
    name: Type.String(),
    target: Type.String(),
    tenantId: orNull(Type.String({ description: 'null: the whole cluster' })),
    when: Type.String(),
    keep: orNull(
      Type.Object(
        { last: Kept, hourly: Kept, daily: Kept, weekly: Kept, monthly: Kept, yearly: Kept },
        { additionalProperties: false },
      ),
    ),
    paused: Type.Boolean(),
    maxBytesPerSecond: orNull(Type.Integer()),
    nextRunAt: orNull(Time),
    run: orNull(Type.Object(Run, { additionalProperties: false, description: 'Under way' })),
    last: orNull(EndedView),
    lastGood: orNull(EndedView),
    failures: Type.Integer({ minimum: 0, description: 'In a row, up to the last one' }),
    updatedAt: Time,
  },
  { additionalProperties: false },
)
const ScheduleList = Type.Object(
  { schedules: Type.Array(BackupScheduleView) },
  { additionalProperties: false },
)

const PruneBody = Type.Object(
  {
    target: Type.String({
      maxLength: 512,
      description: 'Name of a backup target, or directory: and a folder',
    }),
    tenantId: Type.Optional(
      Type.String({
        maxLength: 128,
        description:
          'The rules are about the backups of this tenant; absent: those of the whole cluster. All others stay',
      }),
    ),
    keep: KeepBody,
    ...REASON,
  },
  { additionalProperties: false },
)
const PruneView = Type.Object({
  target: Type.String(),
  tenantId: orNull(Type.String()),
  keep: Type.Object({ last: Kept, hourly: Kept, daily: Kept, weekly: Kept, monthly: Kept, yearly: Kept }),
  kept: Type.Array(Type.Object({ backupId: Type.String(), reasons: Type.Array(Type.String()) }), {
    description: 'Those that the rules are not about have the reason otherScope',
  }),
  removed: Type.Array(Type.String(), { description: 'Ids of the backups that would go' }),
  unreadable: Type.Array(Type.String(), {
    description: 'Ids of backups that cannot be read: they stay, and no chunk goes',
  }),
  chunks: Type.Integer({
    minimum: 0,
    description: 'That no other backup names; a warning says when it is an estimate',
  }),
  chunkBytes: Type.Integer({ minimum: 0 }),
})

export const backupScheduleRoutes = [
  longOperationRoute(
    pruneBackups,
    {
      method: 'POST',
      path: '/cluster/backups/prune',
      summary: 'Remove the backups of this cluster that no rule keeps from a target, and what only they need',
      description:
        'The newest good backup stays under any rules. Chunks go when their manifests are gone, and never while a backup is made: neither starts beside the other.',
      status: 202,
      body: { schema: PruneBody },
      plan: PruneView,
      example: {
        body: { target: 'nas', keep: { daily: 7, weekly: 4 }, reason: 'The target fills' },
        query: { dryRun: 'true' },
      },
    },
    {
      run: (services, principal, { body }) => pruneBackups(services, principal, body),
      plan: async (services, { body }) => {
        const { plan, warnings } = await outlookOf(services, body)
        const { kept, removed, unreadable, ...figures } = plan
        const shown = kept.map(({ backupId, reasons }) => ({ backupId, reasons: [...reasons] }))
        return {
          plan: { ...figures, kept: shown, removed: [...removed], unreadable: [...unreadable] },
          warnings,
        }
      },
    },
  ),

  adminRoute(
    listBackupSchedules,
    {
      method: 'GET',
      path: '/cluster/backup-schedules',
      summary: 'List the schedules of backups, with what ran last and runs next',
      success: {
        status: 200,
        description: 'All of them, by name',
        content: { type: 'application/json', schema: ScheduleList },
      },
      example: {},
    },
    async (services, principal) => ({
      kind: 'json',
      body: { schedules: (await listBackupSchedules(services, principal)).map(scheduleView) },
    }),
  ),

  adminRoute(
    getBackupSchedule,
    {
      method: 'GET',
      path: SCHEDULE_PATH,
      summary: 'Get a schedule of backups, with what ran last and runs next',
      success: {
        status: 200,
        description: 'The schedule',
        content: { type: 'application/json', schema: BackupScheduleView },
      },
      example: { params: SCHEDULE },
    },
    async (services, principal, { params }) => ({
      kind: 'json',
      body: scheduleView(await getBackupSchedule(services, principal, params)),
    }),
  ),

  changeRoute(
    setBackupSchedule,
    {
      method: 'PUT',
      path: SCHEDULE_PATH,
      summary: 'Set when backups are made, where they go, and which stay',
      description:
        'Times that passed before are not made up for; of times that pass while the cluster is down, the last one is. Schedules that write to one target keep the same numbers.',
      body: { schema: ScheduleBody },
      answers: 'The schedule, or the plan of a dry run',
      view: BackupScheduleView,
      plan: Type.Object({
        before: orNull(BackupScheduleView),
        after: orNull(BackupScheduleView),
        nextRuns: Type.Array(Time, { description: 'The first three times' }),
      }),
      example: {
        params: SCHEDULE,
        body: { target: 'nas', when: '30 2 * * *', keep: { daily: 7, weekly: 4, monthly: 12 } },
      },
    },
    {
      run: (services, principal, { params, body }) =>
        setBackupSchedule(services, principal, { ...params, ...body }),
      answer: scheduleView,
      plan: async (services, { params: { name } }, outcome) => {
        const present = services.state.get(backupKeys.backupSchedule(name))
        const before = present === undefined ? null : scheduleView({ record: present, nextRunAt: null })
        const runs = outcome === null ? [] : nextRuns(services, outcome.record, SHOWN_RUNS).map(timeText)
        const after = outcome === null ? null : scheduleView(outcome)
        return { plan: { before, after, nextRuns: runs }, warnings: [] }
      },
    },
  ),

  removalRoute(
    deleteBackupSchedule,
    {
      method: 'DELETE',
      path: SCHEDULE_PATH,
      summary: 'Remove a schedule of backups; its backups stay, and repeating it is no error',
      plan: Type.Object({ before: orNull(BackupScheduleView) }),
      example: { params: SCHEDULE },
    },
    {
      run: (services, principal, { params }) => deleteBackupSchedule(services, principal, params),
      plan: async ({ state }, { params: { name } }) => {
        const present = state.get(backupKeys.backupSchedule(name))
        const before = present === undefined ? null : scheduleView({ record: present, nextRunAt: null })
        return { plan: { before }, warnings: [] }
      },
    },
  ),
]

function scheduleView({ record, nextRunAt }: Schedule): Static<typeof BackupScheduleView> {
  const { name, target, tenantId, when, keep, isPaused, maxBytesPerSecond } = record
  const { run, last, lastGood, failures } = record
  return {
    name,
    target,
    tenantId: tenantId ?? null,
    when,
    keep,
    paused: isPaused,
    maxBytesPerSecond,
    failures,
    nextRunAt: timeTextOrNull(nextRunAt),
    run: run && runView(run),
    last: last && endedView(last),
    lastGood: lastGood && endedView(lastGood),
    updatedAt: timeText(record.updatedAt),
  }
}

function runView({ operationId, backupId, slotAt, startedAt }: ScheduledRun) {
  return { operationId, backupId, scheduledFor: timeText(slotAt), startedAt: timeText(startedAt) }
}

function endedView(run: EndedRun): Static<typeof EndedView> {
  const { endedAt, outcome, bytesMoved, error } = run
  return { ...runView(run), endedAt: timeText(endedAt), outcome, bytesSent: bytesMoved, error }
}
