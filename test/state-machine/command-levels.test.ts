/**
 * Every command has a level, and the level of a released command never changes.
 *
 * Rule: each list below names the commands that one released version could apply. It is written when that level is released and never
 * changed afterwards.
 */
import t from 'tap'
import { FEATURE_LEVEL, FIRST_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { CALLER_LEVEL, COMMAND_LEVELS, commandLevel } from '../../src/state-machine/command-levels.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { AdminRole } from '../../src/state-machine/base/origin.ts'
import { isCommandType } from '../../src/state-machine/state-machine.ts'

const RELEASED: Readonly<Record<number, string>> = {
  1: `
    abortUpload addReplica advanceClusterKey advanceOperation advanceSession announceMasterKeys closeSession
    collectChunks completeUpload copyObject createAccessKey createAccount createAdminToken createBucket
    createTenant createUpload deleteBucket deleteBucketCors deleteBucketPolicy deleteObject deleteObjects
    deleteTenant disableTenant dropReplicas dropsDone endTasks eraseTenant expire finishRecount
    forgetDeliveries haltCollection noteUses openSession planCopies putObject putPart recordAttempts redeliver
    releaseDiscarded reportShare resumeCollection revokeAccessKey revokeAdminToken rewrapAccessKeys
    rewrapHookSecrets rewrapTenantKeys rotateAccessKey setBucketCors setBucketPolicy setBucketVersioning
    setClusterKey setNotifications setObjectLegalHold setObjectRetention setObjectTags setOperationStatus
    setQuota setRepairRate shipAudit shredTenant startOperation testHook trimAudit`,
  2: `
    evacuateCopies foundMembers introduceMember recoverCluster startMembership stepMembership undoMembership`,
  3: `addReplicas correctTime releaseDue sealAudit setAuditKeys skipEntry`,
  4: `
    approveChange recordAuditExport rejectChange requestApproval setBucketObjectLock setBucketTags setTenantLimits useApproval`,
  6: `applyLifecycleRule deleteBucketLifecycle endLifecycleWalk setBucketLifecycle`,
}

const released = Object.entries(RELEASED).flatMap(([level, names]) =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => [name, Number(level)] as const),
)

t.test('the level of a command', async (t) => {
  t.test('is permanently the one with which it was released', async (t) => {
    for (const [name, level] of released) {
      t.ok(isCommandType(name), `${name} is still applied: it may be in a log`)
      t.equal(COMMAND_LEVELS[name as keyof typeof COMMAND_LEVELS], level, name)
    }
  })

  t.test('of a command in no list is above every closed list', async (t) => {
    const known = new Map<string, number>(released)
    for (const [name, level] of Object.entries(COMMAND_LEVELS))
      t.ok(known.has(name) || level === FEATURE_LEVEL, `${name} needs the highest level, or a row above`)
  })

  t.test('is that of the newest member or value that it uses', async (t) => {
    const token = { tokenId: 'adm_1', name: 'n', tenantId: null, expiresAt: null, sha256: 's' } as const
    const level = (more: { readonly role: AdminRole; readonly noKeys?: true }) =>
      commandLevel({ type: 'createAdminToken', ...token, ...more })
    t.equal(level({ role: 'owner' }), 1)
    t.equal(level({ role: 'auditor' }), 4)
    t.equal(level({ role: 'operator', noKeys: true }), 4)
    const configs = { type: 'setNotifications', tenantId: 'acme', bucket: 'photos', configs: [] } as const
    const bounds = { configsMax: 1, configsOfOriginMax: 1, origins: [] }
    t.same([commandLevel(configs), commandLevel({ ...configs, bounds })], [1, 4])
    const name = { tenantId: 'acme', bucket: 'photos' } as const
    const items = (...items: Extract<Command, { type: 'deleteObjects' }>['items']) =>
      commandLevel({ type: 'deleteObjects', ...name, items })
    const item = { key: 'k', versionId: null }
    t.same([items(), items(item, item), items(item, { ...item, ifMatch: [] })], [1, 1, 4], 'of any item')
    const retain = { type: 'setObjectRetention', ...name, ...item } as const
    t.equal(commandLevel({ ...retain, retention: { mode: 'GOVERNANCE', until: 1 } }), 1)
    t.equal(commandLevel({ ...retain, retention: null }), 4, 'no retention is a value')
  })

  t.test('of the caller that a command may carry is the one that brought it', async (t) => {
    t.equal(CALLER_LEVEL, 4)
  })

  t.test('is one that this version reaches', async (t) => {
    for (const [name, level] of Object.entries(COMMAND_LEVELS))
      t.ok(level >= FIRST_LEVEL && level <= FEATURE_LEVEL, `${name} at ${level}`)
  })
})
