/** Schedules of backups over a real store: what the node on duty starts, and when. */
import t from 'tap'
import { auditHead } from '../../src/state-machine/audit/append.ts'
import { auditRowKeys } from '../../src/state-machine/audit/keys.ts'
import { backupKeys } from '../../src/state-machine/backup-plans/keys.ts'
import { unfinishedOperations } from '../../src/state-machine/long-operations/operations.ts'
import { scheduleStatus } from '../../src/backup/schedules/schedule-status.ts'
import { BackupSchedules } from '../../src/workers/backup-schedules.ts'
import { SILENT } from '../helpers/loggers.ts'
import { exchange } from '../state-machine/key-exchange-samples.ts'
import { StoreWorld, type Teardown } from '../store/store-world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PLAN = {
  target: 'nas',
  when: '0 * * * *',
  keep: null,
  isPaused: false,
  maxBytesPerSecond: null,
} as const

async function bench(t: Teardown, more: { readonly isPaused?: boolean } = {}) {
  const world = await StoreWorld.withBucket(t)
  const { reader: state } = world.store
  const duty = { isOn: true }
  /** How far this node's clock is ahead of the log. */
  const clock = { aheadMs: 0 }
  // The begin of an hour, so that a test reads as its times.
  world.later(DAY_MS - (world.time % DAY_MS))
  await world.propose({
    type: 'setBackupTarget',
    name: 'nas',
    place: { kind: 'directory', folder: '' },
    markerId: 'm',
  })
  await world.propose({ type: 'setBackupSchedule', name: 'hourly', plan: { ...PLAN, ...more } })
  const parts = {
    cluster: { isJobRunner: () => duty.isOn, nodeId: 'n1' },
    state,
    propose: world.propose,
    confirmedTime: () => world.time + clock.aheadMs,
    logger: SILENT,
  }
  const nodes = [new BackupSchedules(parts), new BackupSchedules(parts)] as const
  const running = () => unfinishedOperations(state).map(({ operationId }) => operationId)
  const schedule = () => state.get(backupKeys.backupSchedule('hourly'))
  const round = () => nodes[0].round()
  const end = async (action: 'finish' | 'fail' = 'finish') => {
    for (const operationId of running())
      await world.propose({ type: 'setOperationStatus', operationId, action, error: null })
    await round()
  }
  const value = (name: string) =>
    nodes[0].metrics().find((one) => one.name === `holdfast_backup_${name}`)?.value
  /** Rows of the audit log. */
  const audited = (): readonly Record<string, unknown>[] =>
    state.cut((view) => {
      const { first, next } = auditHead(view)
      const links = Array.from({ length: next - first }, (_, n) =>
        view.get(auditRowKeys.auditLink(first + n)),
      )
      return links.map((link) => JSON.parse(link?.text ?? '{}') as Record<string, unknown>)
    })
  const status = () => {
    const present = schedule()
    return present === undefined ? null : scheduleStatus(present, unfinishedOperations(state), world.time)
  }
  return { world, duty, clock, nodes, running, schedule, status, round, end, value, audited }
}

t.test('a schedule', async (t) => {
  t.test('starts one backup at its time, however many nodes believe to be on duty', async (t) => {
    const { world, nodes, running, round, schedule } = await bench(t)
    await round()
    t.same(running(), [])
    world.later(HOUR_MS)
    for (const node of [...nodes, ...nodes]) await node.round()
    t.equal(running().length, 1)
    t.match(schedule(), { run: { operationId: running()[0] } })
  })

  t.test('is left to the node on duty', async (t) => {
    const { world, duty, running, round } = await bench(t)
    duty.isOn = false
    world.later(HOUR_MS)
    await round()
    t.same(running(), [])
  })

  t.test('after ten days without a cluster makes up for one time, not for 240', async (t) => {
    const { world, running, round, end, schedule } = await bench(t)
    await round()
    world.later(10 * DAY_MS)
    let runs = 0
    for (let n = 0; n < 20; n++) {
      await round()
      runs += running().length
      await end()
    }
    t.equal(runs, 1)
    t.match(schedule(), { run: null, failures: 0, lastGood: { outcome: 'succeeded' } })
  })

  t.test('does not start by the clock of one node that is a year ahead', async (t) => {
    const { clock, running, round, schedule } = await bench(t)
    clock.aheadMs = 365 * DAY_MS
    await round()
    t.same(running(), [])
    t.match(schedule(), { run: null, last: null })
  })

  t.test('counts failures in a row, and a good one ends them', async (t) => {
    const { world, round, end, value } = await bench(t)
    for (const [action, failures] of [
      ['fail', 1],
      ['fail', 2],
      ['finish', 0],
    ] as const) {
      world.later(HOUR_MS)
      await round()
      t.equal(value('running'), 1)
      await end(action)
      t.equal(value('failures'), failures)
    }
    t.equal(value('last_good_timestamp_seconds'), Math.floor(world.time / HOUR_MS) * 3600)
  })

  t.test('is late when its last time but one passed without a good backup', async (t) => {
    const { world, duty, value, round, end } = await bench(t)
    duty.isOn = false
    world.later(HOUR_MS + 60_000)
    t.equal(value('schedules_late'), 0, 'one time may still be under way')
    world.later(HOUR_MS)
    t.equal(value('schedules_late'), 1)
    duty.isOn = true
    await round()
    await end()
    t.equal(value('schedules_late'), 0)
    t.equal(value('schedules'), 1)
  })

  t.test('that is paused starts nothing and is not late', async (t) => {
    const { world, running, round, value } = await bench(t, { isPaused: true })
    world.later(10 * DAY_MS)
    await round()
    t.same(running(), [])
    t.equal(value('schedules_late'), 0)
    t.equal(value('schedules'), 0)
    t.equal(value('paused'), 1)
  })

  t.test('is audited as internal when it starts a backup, with its name', async (t) => {
    const { world, round, running, audited } = await bench(t)
    world.later(HOUR_MS)
    await round()
    t.match(audited(), [
      {
        api: 'internal',
        operation: 'startScheduledBackup',
        actor: { type: 'system', id: null },
        status: 202,
        code: null,
        reason: 'schedule hourly',
        details: { name: 'hourly', operationId: running()[0] },
      },
    ])
  })

  t.test('waits for an exchange that is paused: it says so, and is not refused each second', async (t) => {
    const { world, status, running, round, value, audited, schedule } = await bench(t)
    t.match(await world.propose(exchange('x1')), { ok: true })
    const pause = { type: 'setOperationStatus', operationId: 'x1', action: 'pause', error: null } as const
    t.match(await world.propose(pause), { ok: true })
    t.equal(value('waiting'), 0, 'its time has not come')
    world.later(HOUR_MS)
    for (let n = 0; n < 10; n++) await round()
    t.same(running(), ['x1'])
    t.equal(value('waiting'), 1)
    t.match(schedule(), { run: null, failures: 0 })
    t.same(audited(), [])
    t.match(status(), { waitsFor: { operationId: 'x1', kind: 'keyExchange', status: 'paused' } })
  })
})
