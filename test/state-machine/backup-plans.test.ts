/** Backup targets and schedules: their rows, and when a schedule starts a backup. [docs/adr/0087-backup-targets-and-schedules.md] */
import t from 'tap'
import { backupKeys } from '../../src/state-machine/backup-plans/keys.ts'
import {
  BACKUP_SCHEDULES_MAX,
  BACKUP_TARGETS_MAX,
  type BackupPlan,
} from '../../src/state-machine/backup-plans/records.ts'
import type { KeepRules } from '../../src/state-machine/long-operations/records.ts'
import { longOperationKeys } from '../../src/state-machine/long-operations/keys.ts'
import { unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'
import { MapWorld } from './map-world.ts'

const KEEP: KeepRules = { last: 0, hourly: 0, daily: 7, weekly: 4, monthly: 0, yearly: 0 }
const PLAN: BackupPlan = {
  target: 'nas',
  when: '30 2 * * *',
  keep: KEEP,
  isPaused: false,
  maxBytesPerSecond: null,
}
const S3 = {
  kind: 's3',
  endpoint: 'https://s3.example.net',
  bucket: 'backups',
  prefix: '',
  region: 'us-east-1',
  accessKeyId: 'AK1',
  secret: Uint8Array.of(1, 2, 3),
  ca: null,
} as const

const setTarget = (name = 'nas') =>
  ({ type: 'setBackupTarget', name, place: { kind: 'directory', folder: name }, markerId: 'm1' }) as const
const setSchedule = (name = 'nightly', plan: Partial<BackupPlan> = {}) =>
  ({ type: 'setBackupSchedule', name, plan: { ...PLAN, ...plan } }) as const
const end = (operationId: string, action: 'finish' | 'fail' | 'cancel', error: string | null = null) =>
  ({ type: 'setOperationStatus', operationId, action, error }) as const

function worldWithSchedule(): MapWorld {
  const world = new MapWorld()
  world.do(setTarget())
  world.do(setSchedule())
  return world
}
const schedule = (world: MapWorld, name = 'nightly') => {
  const found = world.get(backupKeys.backupSchedule(name))
  if (found === undefined) throw new Error(`no schedule ${name}`)
  return found
}
/** As the node on duty asks for it when it finds the schedule due now. */
const start = (world: MapWorld, n = 1, more: { readonly slotAt?: number; readonly revision?: number } = {}) =>
  ({
    type: 'startScheduledBackup',
    name: 'nightly',
    revision: schedule(world).revision,
    slotAt: world.time + 7,
    operationId: `op-${n}`,
    backupId: `b-${n}`,
    ...more,
  }) as const

t.test('backup targets', async (t) => {
  t.test('are set, replaced and deleted; deleting what is not there is no error', async (t) => {
    const world = new MapWorld()
    world.do(setTarget())
    t.match(world.do({ ...setTarget(), markerId: 'm2' }), { name: 'nas', markerId: 'm2' })
    t.same(world.get(backupKeys.backupNames()), { targets: ['nas'], schedules: [] })
    world.do({ type: 'deleteBackupTarget', name: 'nas' })
    world.do({ type: 'deleteBackupTarget', name: 'nas' })
    t.equal(world.get(backupKeys.backupTarget('nas')), undefined)
    t.same(world.get(backupKeys.backupNames()), { targets: [], schedules: [] })
  })

  t.test('precondition_failed: a target that a schedule writes to is not deleted', async (t) => {
    const world = worldWithSchedule()
    const refused = world.run({ type: 'deleteBackupTarget', name: 'nas' })
    t.match(refused, { code: 'precondition_failed', message: /schedule "nightly"/ })
    world.do({ type: 'deleteBackupSchedule', name: 'nightly' })
    world.do({ type: 'deleteBackupTarget', name: 'nas' })
  })

  t.test('invalid_argument: names; quota_exceeded: too many', async (t) => {
    const world = new MapWorld()
    for (const name of ['', 'Nas', '-a', 'a/b', 'a'.repeat(64), 'a\u0000b'])
      t.match(world.run(setTarget(name)), { code: 'invalid_argument' }, name)
    for (let n = 0; n < BACKUP_TARGETS_MAX; n++) world.do(setTarget(`t${n}`))
    t.match(world.run(setTarget('more')), { code: 'quota_exceeded' })
    world.do(setTarget('t0'))
  })

  t.test('rewrapBackupSecrets replaces a secret that is still the same bytes', async (t) => {
    const world = new MapWorld()
    world.do({ type: 'setBackupTarget', name: 'far', place: S3, markerId: 'm1' })
    world.do(setTarget())
    const item = (name: string, before: Uint8Array) => ({ name, before, after: Uint8Array.of(9) })
    const items = [item('far', Uint8Array.of(1, 2)), item('nas', S3.secret), item('gone', S3.secret)]
    t.same(world.do({ type: 'rewrapBackupSecrets', items }), { rewrapped: 0 })
    t.same(world.do({ type: 'rewrapBackupSecrets', items: [item('far', S3.secret)] }), { rewrapped: 1 })
    t.match(world.get(backupKeys.backupTarget('far')), { place: { ...S3, secret: Uint8Array.of(9) } })
    const many = Array.from({ length: BACKUP_TARGETS_MAX + 1 }, () => item('far', S3.secret))
    t.match(world.run({ type: 'rewrapBackupSecrets', items: many }), { code: 'invalid_argument' })
  })
})

t.test('backup schedules', async (t) => {
  t.test('precondition_failed: a target that is not there', async (t) => {
    const world = new MapWorld()
    t.match(world.run(setSchedule()), { code: 'precondition_failed', message: /no backup target "nas"/ })
  })

  t.test('invalid_argument: rules that keep nothing, or no whole number', async (t) => {
    const world = worldWithSchedule()
    const none = { last: 0, hourly: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 }
    t.match(world.run(setSchedule('other', { keep: none })), {
      code: 'invalid_argument',
      message: /keep no backup/,
    })
    for (const daily of [-1, 1.5, 1001, Number.NaN])
      t.match(world.run(setSchedule('other', { keep: { ...KEEP, daily } })), { code: 'invalid_argument' })
  })

  t.test('precondition_failed: another schedule keeps other numbers in the same target', async (t) => {
    const world = worldWithSchedule()
    const other = setSchedule('weekly', { keep: { ...KEEP, daily: 1 } })
    t.match(world.run(other), { code: 'precondition_failed', message: /"nightly" keeps other numbers/ })
    t.match(world.run(setSchedule('weekly', { keep: null })), { code: 'precondition_failed' })
    world.do(setSchedule('weekly'))
    world.do(setTarget('far'))
    world.do(setSchedule('monthly', { target: 'far', keep: { ...KEEP, daily: 1 } }))
  })

  t.test('quota_exceeded: too many', async (t) => {
    const world = worldWithSchedule()
    for (let n = 1; n < BACKUP_SCHEDULES_MAX; n++) world.do(setSchedule(`s${n}`))
    t.match(world.run(setSchedule('more')), { code: 'quota_exceeded' })
  })

  t.test('a plan that is set again keeps what ran, and deals with times up to now', async (t) => {
    const world = worldWithSchedule()
    world.do(start(world))
    world.do(end('op-1', 'finish'))
    world.do({ type: 'endScheduledBackup', name: 'nightly', operationId: 'op-1' })
    const { lastGood } = schedule(world)
    world.do(setSchedule('nightly', { when: '0 * * * *' }))
    t.match(schedule(world), { when: '0 * * * *', markAt: world.time, lastGood })
  })
})

t.test('startScheduledBackup', async (t) => {
  t.test('starts a backup to the target, and moves the mark in the same entry', async (t) => {
    const world = worldWithSchedule()
    const command = start(world)
    world.do(command)
    t.match(schedule(world), { markAt: command.slotAt, run: { operationId: 'op-1', slotAt: command.slotAt } })
    const operation = world.get(longOperationKeys.operation('op-1'))
    t.match(operation, {
      kind: 'backup',
      backup: { backupId: 'b-1', target: 'nas' },
      requestedBy: 'schedule nightly',
    })
  })

  t.test('precondition_failed: a run is under way, and its time is dealt with afterwards', async (t) => {
    const world = worldWithSchedule()
    const command = start(world)
    world.do(command)
    t.match(world.run(start(world, 2)), { code: 'precondition_failed', message: /under way/ })
    world.do(end('op-1', 'finish'))
    world.do({ type: 'endScheduledBackup', name: 'nightly', operationId: 'op-1' })
    t.match(world.run({ ...command, operationId: 'op-2' }), { message: /dealt with/ })
    t.equal(unfinishedOperations(world).length, 0)
  })

  t.test('precondition_failed: not before its time is confirmed', async (t) => {
    const world = worldWithSchedule()
    world.withheldMs = 60_000
    t.match(world.run(start(world)), { code: 'precondition_failed', message: /has not come/ })
    t.match(world.run(start(world, 1, { slotAt: world.time + 60_000 })), { message: /has not come/ })
  })

  t.test('precondition_failed: it was changed or paused', async (t) => {
    const world = worldWithSchedule()
    t.match(world.run(start(world, 1, { revision: 0 })), { message: /was changed/ })
    world.do(setSchedule('nightly', { isPaused: true }))
    t.match(world.run(start(world)), { message: /paused/ })
  })

  t.test('waits for a backup that somebody asked for, and runs then', async (t) => {
    const world = worldWithSchedule()
    const asked = {
      requestedBy: 'adm_1',
      reason: null,
      tenantId: null,
      bucket: null,
      node: null,
      maxBytesPerSecond: null,
    }
    const backup = { backupId: 'b0', target: 'nas' }
    world.do({ type: 'startOperation', operationId: 'op-0', kind: 'backup', ...asked, backup })
    const command = start(world)
    t.match(world.run(command), { code: 'precondition_failed', message: /"op-0" is unfinished/ })
    t.match(schedule(world), { run: null, failures: 0 })
    world.do(end('op-0', 'finish'))
    world.do(command)
  })
})

t.test('endScheduledBackup', async (t) => {
  const ended = (action: 'finish' | 'fail' | 'cancel', error: string | null = null) => {
    const world = worldWithSchedule()
    world.do(start(world))
    world.do(end('op-1', action, error))
    world.do({ type: 'endScheduledBackup', name: 'nightly', operationId: 'op-1' })
    return schedule(world)
  }

  t.test('keeps the outcome, and the last good one apart', async (t) => {
    t.match(ended('finish'), {
      run: null,
      failures: 0,
      last: { outcome: 'succeeded' },
      lastGood: { backupId: 'b-1' },
    })
    t.match(ended('fail', 'It is full'), {
      failures: 1,
      last: { outcome: 'failed', error: 'It is full' },
      lastGood: null,
    })
    t.match(ended('cancel'), { failures: 1, last: { outcome: 'cancelled' }, lastGood: null })
  })

  t.test('precondition_failed: the backup is under way', async (t) => {
    const world = worldWithSchedule()
    world.do(start(world))
    t.match(world.run({ type: 'endScheduledBackup', name: 'nightly', operationId: 'op-1' }), {
      code: 'precondition_failed',
    })
  })

  t.test('an operation that is not known any more is a failure; another run is left alone', async (t) => {
    const world = worldWithSchedule()
    world.do(start(world))
    world.rows.delete(longOperationKeys.operation('op-1'))
    world.do({ type: 'endScheduledBackup', name: 'nightly', operationId: 'op-9' })
    t.match(schedule(world), { run: { operationId: 'op-1' } })
    world.do({ type: 'endScheduledBackup', name: 'nightly', operationId: 'op-1' })
    t.match(schedule(world), { run: null, last: { outcome: 'failed', error: /not known/ } })
  })

  t.test('not_found: the schedule is gone; its backup continues', async (t) => {
    const world = worldWithSchedule()
    world.do(start(world))
    world.do({ type: 'deleteBackupSchedule', name: 'nightly' })
    t.match(world.run({ type: 'endScheduledBackup', name: 'nightly', operationId: 'op-1' }), {
      code: 'not_found',
    })
    t.match(world.get(longOperationKeys.operation('op-1')), { status: 'queued' })
  })
})

t.test(
  'alignBackupSchedule puts a mark back that lies behind the confirmed time, and never forward',
  async (t) => {
    const world = worldWithSchedule()
    const { markAt } = schedule(world)
    world.do({ type: 'alignBackupSchedule', name: 'nightly' })
    t.equal(schedule(world).markAt, markAt)
    world.withheldMs = 3_600_000
    world.do({ type: 'alignBackupSchedule', name: 'nightly' })
    t.equal(schedule(world).markAt, world.time - 3_600_000)
  },
)
