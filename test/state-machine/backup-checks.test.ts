/** What the cluster keeps of verifications of backups. [docs/adr/0095-parts-of-backups.md] */
import t from 'tap'
import { checksOf } from '../../src/state-machine/backup-plans/checks.ts'
import { BACKUP_CHECKS_MAX, type BackupCheck } from '../../src/state-machine/backup-plans/records.ts'
import { MapWorld, startOperation } from './map-world.ts'

const FOUND: Omit<BackupCheck, 'operationId' | 'checkedAt'> = {
  target: 'nas',
  tenantId: null,
  backupId: 'b-1',
  cutAt: 5,
  chunks: 3,
  damageCount: 0,
}

/** Starts a verification, which records this, and ends it. */
function verified(world: MapWorld, id: string, more: Partial<typeof FOUND> = {}): BackupCheck {
  const check = { ...FOUND, ...more }
  const { target, backupId } = check
  world.do({ ...startOperation(id), kind: 'backupVerify', verify: { target, backupId } })
  const recorded = world.do({ type: 'recordBackupCheck', operationId: id, check })
  world.do({ type: 'setOperationStatus', operationId: id, action: 'finish', error: null })
  return recorded
}

t.test('recordBackupCheck', async (t) => {
  t.test('keeps the last one of each target and scope, a bounded number of them', async (t) => {
    const world = new MapWorld()
    verified(world, 'op-1')
    verified(world, 'op-2', { tenantId: 'acme', damageCount: 2 })
    const last = verified(world, 'op-3', { backupId: 'b-2', damageCount: 1 })
    t.match(last, { operationId: 'op-3', checkedAt: Number })
    t.match(checksOf(world), [
      { tenantId: 'acme', damageCount: 2 },
      { tenantId: null, backupId: 'b-2', damageCount: 1 },
    ])
    for (let n = 0; n < BACKUP_CHECKS_MAX + 3; n++) verified(world, `op-t${n}`, { target: `directory:t${n}` })
    t.equal(checksOf(world).length, BACKUP_CHECKS_MAX)
    t.equal(checksOf(world).at(-1)?.target, `directory:t${BACKUP_CHECKS_MAX + 2}`)
  })

  t.test('is refused for what is not under way, or verifies another backup', async (t) => {
    const world = new MapWorld()
    verified(world, 'op-1')
    const late = {
      type: 'recordBackupCheck',
      operationId: 'op-1',
      check: { ...FOUND, damageCount: 9 },
    } as const
    t.match(world.run(late), { ok: false, code: 'precondition_failed' })
    t.match(world.run({ ...late, operationId: 'op-0' }), { ok: false, code: 'not_found' })
    world.do({ ...startOperation('op-2'), kind: 'backupVerify', verify: { target: 'nas', backupId: 'b-9' } })
    t.match(world.run({ ...late, operationId: 'op-2' }), { ok: false, code: 'invalid_argument' })
    t.match(checksOf(world), [{ damageCount: 0 }])
  })

  t.test(
    'belongs to a verification alone; one is under way at a time, beside backups and prunes',
    async (t) => {
      const world = new MapWorld()
      const verify = { target: 'nas', backupId: 'b-1' }
      t.match(world.run({ ...startOperation('op-1'), kind: 'backupVerify' }), {
        ok: false,
        code: 'invalid_argument',
      })
      t.match(world.run({ ...startOperation('op-1'), kind: 'scrub', verify }), {
        ok: false,
        code: 'invalid_argument',
      })
      const backup = { backupId: 'b-2', target: 'nas' }
      world.do({ ...startOperation('op-b'), kind: 'backup', backup })
      world.do({ ...startOperation('op-1'), kind: 'backupVerify', verify })
      t.match(world.run({ ...startOperation('op-2'), kind: 'backupVerify', verify }), {
        ok: false,
        code: 'precondition_failed',
      })
    },
  )
})
