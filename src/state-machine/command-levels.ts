/**
 * The feature level from which each command may be in the log.
 *
 * Owns: the table. Knows nothing of: the level of the state. Rules: a row is never lowered or removed, because commands that a released
 * version wrote must stay readable forever; a new command, and a new meaning of an old one, gets a level that no release has had, and
 * `FEATURE_LEVEL` of cluster/node/base/feature-level.ts rises with it.
 */
import type { Command, CommandType } from './commands.ts'

export const COMMAND_LEVELS: { readonly [T in CommandType]: number } = {
  setClusterKey: 1,
  createTenant: 1,
  createAccessKey: 1,
  rotateAccessKey: 1,
  revokeAccessKey: 1,
  createAccount: 1,
  noteUses: 1,
  createAdminToken: 1,
  revokeAdminToken: 1,
  createBucket: 1,
  deleteBucket: 1,
  setBucketVersioning: 1,
  setBucketPolicy: 1,
  deleteBucketPolicy: 1,
  setBucketCors: 1,
  deleteBucketCors: 1,
  setQuota: 1,
  putObject: 1,
  deleteObject: 1,
  deleteObjects: 1,
  copyObject: 1,
  setObjectTags: 1,
  setObjectRetention: 1,
  setObjectLegalHold: 1,
  createUpload: 1,
  putPart: 1,
  completeUpload: 1,
  abortUpload: 1,
  expire: 1,
  releaseDiscarded: 1,
  setNotifications: 1,
  testHook: 1,
  redeliver: 1,
  recordAttempts: 1,
  forgetDeliveries: 1,
  rewrapHookSecrets: 1,
  addReplica: 1,
  announceMasterKeys: 1,
  advanceClusterKey: 1,
  rewrapTenantKeys: 1,
  rewrapAccessKeys: 1,
  disableTenant: 1,
  deleteTenant: 1,
  eraseTenant: 1,
  shredTenant: 1,
  dropReplicas: 1,
  planCopies: 1,
  endTasks: 1,
  dropsDone: 1,
  collectChunks: 1,
  haltCollection: 1,
  resumeCollection: 1,
  finishRecount: 1,
  setRepairRate: 1,
  startOperation: 1,
  reportShare: 1,
  advanceOperation: 1,
  setOperationStatus: 1,
  openSession: 1,
  advanceSession: 1,
  closeSession: 1,
  shipAudit: 1,
  trimAudit: 1,
  foundMembers: 2,
  introduceMember: 2,
  startMembership: 2,
  stepMembership: 2,
  undoMembership: 2,
  evacuateCopies: 2,
  recoverCluster: 2,
  correctTime: 3,
  releaseDue: 3,
  sealAudit: 3,
  addReplicas: 3,
  setAuditKeys: 3,
  setTenantLimits: 4,
  recordAuditExport: 4,
  requestApproval: 4,
  approveChange: 4,
  rejectChange: 4,
  useApproval: 4,
  setBucketObjectLock: 4,
  setBucketTags: 4,
  setBucketLifecycle: 6,
  deleteBucketLifecycle: 6,
  applyLifecycleRule: 6,
  endLifecycleWalk: 6,
  exchangeTenantKey: 7,
  resealBodies: 7,
  endKeyExchange: 7,
  restoreStep: 7,
  setBucketReplication: 7,
  deleteBucketReplication: 7,
  startResync: 7,
  retrySiteChanges: 7,
  recordSends: 7,
  queueExisting: 7,
  forgetSiteChanges: 7,
  rewrapSiteSecrets: 7,
  setTenantReplication: 7,
  deleteTenantReplication: 7,
  followTenant: 7,
  recordWaitingSite: 7,
  leaveTenant: 7,
  rewrapTenantSiteSecrets: 7,
  setBackupTarget: 7,
  deleteBackupTarget: 7,
  setBackupSchedule: 7,
  deleteBackupSchedule: 7,
  startScheduledBackup: 7,
  endScheduledBackup: 7,
  alignBackupSchedule: 7,
  rewrapBackupSecrets: 7,
  recordBackupCheck: 7,
  placeMember: 7,
  openAdminSession: 7,
  renewAdminSession: 7,
  endAdminSessions: 7,
  // The level does not matter: the command is never proposed.
  skipEntry: 3,
}

/** The level from which any command may carry its caller; below it the key is asked when a request begins, and no more. */
export const CALLER_LEVEL = 4

/** The level from which a command may say what its authorization rested on; below it each request passes a read barrier. */
export const BASIS_LEVEL = 5

/**
 * Of a member: the level of any value, or of the values that are listed; a value that is not listed needs none. Of a list: the members that
 * an item may have.
 */
type MemberLevel = number | Readonly<Record<string, number>>

/**
 * Optional members, and values of members, that a later level added to a command. Rule: a command without the member or value keeps its
 * old meaning; a command with it needs its level.
 */
const MEMBER_LEVELS: { readonly [T in CommandType]?: Readonly<Record<string, MemberLevel>> } = {
  createBucket: { replicaOf: 7 },
  setQuota: { maxVersions: 4, maxUploads: 4, maxMetadataBytes: 4 },
  putObject: { representation: 4, customerSeal: 7 },
  copyObject: { representation: 4, checksums: 4, customerSeal: 7, stored: 7 },
  putPart: { source: 4 },
  createUpload: { representation: 4, checksumType: 4, customerSeal: 7 },
  completeUpload: { composite: 4 },
  deleteObject: { bypassGovernance: 4, approval: 4, replicaOf: 7 },
  deleteObjects: { bypassGovernance: 4, items: { ifMatch: 4 } },
  setObjectRetention: { bypassGovernance: 4, approval: 4, retention: { null: 4 } },
  setNotifications: { bounds: 4 },
  createAccessKey: { boundTo: 4 },
  rotateAccessKey: { boundTo: 4 },
  deleteTenant: { approval: 4 },
  setBucketPolicy: { approval: 4 },
  deleteBucketPolicy: { approval: 4 },
  setObjectLegalHold: { approval: 4 },
  createAdminToken: { role: { auditor: 4 }, noKeys: 4, boundTo: 4 },
  startOperation: {
    kind: { backup: 7, backupPrune: 7, backupRestore: 7, backupVerify: 7 },
    backup: 7,
    prune: 7,
    restore: 7,
    verify: 7,
  },
}

/** The level that this command needs: that of its type, or of the newest member that it uses. */
export function commandLevel(command: Command): number {
  const given = command as Readonly<Record<string, unknown>>
  const members = Object.entries(MEMBER_LEVELS[command.type] ?? {})
  return Math.max(
    COMMAND_LEVELS[command.type],
    ...members.map(([name, level]) => valueLevel(given[name], level)),
  )
}

function valueLevel(value: unknown, level: MemberLevel): number {
  if (value === undefined) return 0
  if (typeof level === 'number') return level
  if (Array.isArray(value)) return itemsLevel(value, level)
  const name = typeof value === 'string' || value === null ? String(value) : ''
  return Object.hasOwn(level, name) ? (level[name] ?? 0) : 0
}

function itemsLevel(items: readonly object[], levels: Readonly<Record<string, number>>): number {
  return Object.entries(levels).reduce(
    (highest, [name, level]) => (items.some((item) => name in item) ? Math.max(highest, level) : highest),
    0,
  )
}
