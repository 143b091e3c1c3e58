/**
 * What each command needs room on the disks for.
 *
 * Owns: the table. Knows nothing of: disks, what is refused when. Rules: a command that stores what a client brings is `growth`; what
 * the cluster does by itself, and what an operator does to run it, is `upkeep`; what removes anything, or has to pass for something to
 * be removed, is `relief`, also where it writes a row of its own.
 */
import type { CommandType } from './commands.ts'

export type RoomNeed = 'growth' | 'upkeep' | 'relief'

export const ROOM_NEEDS: { readonly [T in CommandType]: RoomNeed } = {
  setClusterKey: 'upkeep',
  correctTime: 'upkeep',
  createTenant: 'growth',
  // Whoever is to delete something may have to be given a key for it first.
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
  setBucketPolicy: 'growth',
  // A policy may stand in the way of a deletion.
  deleteBucketPolicy: 'relief',
  setBucketCors: 'growth',
  deleteBucketCors: 'relief',
  setQuota: 'upkeep',
  putObject: 'growth',
  deleteObject: 'relief',
  deleteObjects: 'relief',
  copyObject: 'growth',
  setObjectTags: 'growth',
  // A lock that ends lets a version go.
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
  // No upload ends before its session is closed, and nothing is collected before.
  openSession: 'relief',
  advanceSession: 'relief',
  closeSession: 'relief',
  // Each refused request is one more row.
  shipAudit: 'upkeep',
  trimAudit: 'relief',
  // Its rows take more room than its copies, and stay where those cannot be written.
  sealAudit: 'upkeep',
  setAuditKeys: 'upkeep',
  // A node with a larger disk is a way out.
  foundMembers: 'upkeep',
  introduceMember: 'relief',
  startMembership: 'relief',
  stepMembership: 'relief',
  undoMembership: 'relief',
  evacuateCopies: 'upkeep',
  recoverCluster: 'relief',
  skipEntry: 'relief',
}
