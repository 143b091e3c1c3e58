/**
 * Whether each command adds data, maintains the cluster or frees disk space.
 *
 * Owns: the table. Knows nothing of: disks, when a command is refused. Rules: a command that stores a client's data is `growth`; a
 * command that the cluster needs for itself, or an operator needs to run it, is `upkeep`; a command that removes something, or that
 * must pass before something can be removed, is `relief`, even if it writes a row of its own.
 */
import type { CommandType } from './commands.ts'

export type RoomNeed = 'growth' | 'upkeep' | 'relief'

export const ROOM_NEEDS: { readonly [T in CommandType]: RoomNeed } = {
  setClusterKey: 'upkeep',
  correctTime: 'upkeep',
  createTenant: 'growth',
  // A client that is to delete something may need a key first.
  createAccessKey: 'upkeep',
  rotateAccessKey: 'upkeep',
  revokeAccessKey: 'relief',
  createAccount: 'growth',
  noteUses: 'upkeep',
  createAdminToken: 'upkeep',
  revokeAdminToken: 'relief',
  createBucket: 'growth',
  deleteBucket: 'relief',
  setBucketVersioning: 'upkeep',
  setBucketObjectLock: 'upkeep',
  setBucketPolicy: 'growth',
  // A policy may deny a deletion.
  deleteBucketPolicy: 'relief',
  setBucketCors: 'growth',
  deleteBucketCors: 'relief',
  setBucketTags: 'growth',
  // Rules free space.
  setBucketLifecycle: 'relief',
  deleteBucketLifecycle: 'relief',
  applyLifecycleRule: 'relief',
  endLifecycleWalk: 'relief',
  setQuota: 'upkeep',
  setTenantLimits: 'upkeep',
  // What is approved may be what frees space.
  requestApproval: 'relief',
  approveChange: 'relief',
  rejectChange: 'relief',
  useApproval: 'relief',
  putObject: 'growth',
  deleteObject: 'relief',
  deleteObjects: 'relief',
  copyObject: 'growth',
  setObjectTags: 'growth',
  // A version can be removed once its lock has ended.
  setObjectRetention: 'relief',
  setObjectLegalHold: 'relief',
  createUpload: 'growth',
  putPart: 'growth',
  completeUpload: 'growth',
  abortUpload: 'relief',
  expire: 'relief',
  releaseDiscarded: 'relief',
  releaseDue: 'relief',
  setNotifications: 'growth',
  testHook: 'growth',
  redeliver: 'growth',
  recordAttempts: 'relief',
  forgetDeliveries: 'relief',
  rewrapHookSecrets: 'upkeep',
  addReplica: 'upkeep',
  addReplicas: 'upkeep',
  announceMasterKeys: 'upkeep',
  advanceClusterKey: 'upkeep',
  rewrapTenantKeys: 'upkeep',
  rewrapAccessKeys: 'upkeep',
  exchangeTenantKey: 'upkeep',
  // Each chunk is on the disks twice until its former copies are removed.
  resealBodies: 'upkeep',
  endKeyExchange: 'relief',
  disableTenant: 'relief',
  deleteTenant: 'relief',
  eraseTenant: 'relief',
  shredTenant: 'relief',
  dropReplicas: 'upkeep',
  planCopies: 'upkeep',
  endTasks: 'relief',
  dropsDone: 'relief',
  collectChunks: 'relief',
  haltCollection: 'upkeep',
  resumeCollection: 'relief',
  finishRecount: 'relief',
  setRepairRate: 'upkeep',
  startOperation: 'upkeep',
  reportShare: 'upkeep',
  advanceOperation: 'relief',
  setOperationStatus: 'relief',
  // Uploads end, and their chunks can be collected, only when their session closes.
  openSession: 'relief',
  advanceSession: 'relief',
  closeSession: 'relief',
  // Each refused request adds a row.
  shipAudit: 'upkeep',
  trimAudit: 'relief',
  // The rows take more space than the copies of the segment, and stay while those copies cannot be written.
  sealAudit: 'upkeep',
  setAuditKeys: 'upkeep',
  recordAuditExport: 'upkeep',
  // Adding a node with a larger disk resolves a full cluster.
  foundMembers: 'upkeep',
  introduceMember: 'relief',
  startMembership: 'relief',
  stepMembership: 'relief',
  undoMembership: 'relief',
  evacuateCopies: 'upkeep',
  recoverCluster: 'relief',
  skipEntry: 'relief',
}
