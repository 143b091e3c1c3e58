/**
 * What the audit row of each command holds beyond the request: the tenant, the version that it made, the details of the change.
 *
 * Owns: one describer for each command; a missing one does not compile. Rule: never a secret, a sealed key, the hash of a
 * token or the bytes of an object. Times are in ms, as in records.
 */
import type { ApprovalRecord } from './approvals/records.ts'
import type { AuditDetails } from './audit/records.ts'
import type { Command, CommandType, Reply, ReplyValues } from './commands.ts'
import type { Deleted, ItemRefused } from './objects/commands.ts'
import type { CallerBinding } from './tenants/records.ts'
import { limitsOf } from './usage/quota.ts'
import type { ObjectRecord, VersionRecord } from './versions/records.ts'

/** Members replace those of the request. */
interface AuditedChange {
  /** Of a change beside the one that the request asks for. */
  readonly operation?: string
  readonly tenantId?: string
  readonly bucket?: string
  readonly key?: string
  readonly versionId?: string
  readonly details?: AuditDetails
}

type Of<T extends CommandType> = Extract<Command, { type: T }>

/** `value`: the reply of the command; null when it was refused. */
type Describer<T extends CommandType> = (command: Of<T>, value: ReplyValues[T] | null) => AuditedChange

/** For commands that no request asks for: nodes propose them by themselves. */
const nothing = (): AuditedChange => ({})

const DESCRIBERS: { readonly [T in CommandType]: Describer<T> } = {
  setClusterKey: nothing,
  correctTime: ({ correction, reason }, value) => ({ details: { ...correction, reason, ...value } }),
  createTenant: ({ id, name }) => ({ tenantId: id, details: { name } }),
  createAccessKey: ({ tenantId, accessKeyId, accountId, name, scopes, expiresAt, boundTo }) => ({
    tenantId,
    details: { accessKeyId, accountId, name, scopes, expiresAt, ...boundOf(boundTo) },
  }),
  rotateAccessKey: ({ tenantId, accessKeyId, boundTo }, value) => ({
    tenantId,
    details: {
      accessKeyId,
      ...(value === null ? {} : { scopes: value.scopes, version: value.version }),
      ...boundOf(boundTo),
    },
  }),
  revokeAccessKey: ({ tenantId, accessKeyId }) => ({ tenantId, details: { accessKeyId } }),
  createAccount: ({ tenantId, name }, value) => ({
    tenantId,
    details: { name, ...(value === null ? {} : { accountId: value.accountId }) },
  }),
  noteUses: nothing,
  createAdminToken: ({ tokenId, name, role, tenantId, expiresAt, noKeys, boundTo }) => ({
    details: {
      tokenId,
      name,
      role,
      limitedTo: tenantId,
      expiresAt,
      ...(noKeys === undefined ? {} : { noKeys }),
      ...boundOf(boundTo),
    },
  }),
  revokeAdminToken: ({ tokenId }) => ({ details: { tokenId } }),
  openAdminSession: ({ tokenId, name, role, tenantId, noKeys, user, endsAt }) => ({
    details: {
      tokenId,
      name,
      role,
      limitedTo: tenantId,
      ...(noKeys === undefined ? {} : { noKeys }),
      issuer: user.issuer,
      subject: user.subject,
      endsAt,
    },
  }),
  renewAdminSession: ({ tokenId }) => ({ details: { tokenId } }),
  endAdminSessions: ({ tokenId }, value) => ({
    details: { tokenId, everywhere: tokenId === null, ended: value?.ended ?? 0 },
  }),
  createBucket: ({ tenantId, name, versioning, objectLockEnabled }) => ({
    tenantId,
    bucket: name,
    details: { versioning, objectLockEnabled },
  }),
  deleteBucket: ({ tenantId, name }) => ({ tenantId, bucket: name }),
  setBucketVersioning: ({ tenantId, name, versioning }) => ({
    tenantId,
    bucket: name,
    details: { versioning },
  }),
  setBucketObjectLock: ({ tenantId, name, defaultRetention }) => ({
    tenantId,
    bucket: name,
    details: { objectLockEnabled: true, defaultRetention },
  }),
  setBucketPolicy: ({ tenantId, name, policy }) => ({ tenantId, bucket: name, details: { policy } }),
  deleteBucketPolicy: ({ tenantId, name }) => ({ tenantId, bucket: name }),
  setBucketCors: ({ tenantId, name, rules }) => ({
    tenantId,
    bucket: name,
    details: { rules: rules.length },
  }),
  setBucketTags: ({ tenantId, name, tags }) => ({ tenantId, bucket: name, details: { tags } }),
  deleteBucketCors: ({ tenantId, name }) => ({ tenantId, bucket: name }),
  setBucketLifecycle: ({ tenantId, name, rules }) => ({ tenantId, bucket: name, details: { rules } }),
  deleteBucketLifecycle: ({ tenantId, name }) => ({ tenantId, bucket: name }),
  applyLifecycleRule: ({ ruleId }, value) => ({
    details: { ruleId, ...(value === null ? {} : { done: value.done, kept: value.kept }) },
  }),
  endLifecycleWalk: nothing,
  setBucketReplication: ({ tenantId, name, target, rules, existing }) => ({
    tenantId,
    bucket: name,
    details: { target, rules, existing },
  }),
  deleteBucketReplication: ({ tenantId, name }) => ({ tenantId, bucket: name }),
  startResync: ({ tenantId, name }) => ({ tenantId, bucket: name }),
  retrySiteChanges: ({ tenantId, name, changeIds }) => ({
    tenantId,
    bucket: name,
    details: { changes: changeIds.length },
  }),
  recordSends: nothing,
  queueExisting: nothing,
  forgetSiteChanges: nothing,
  rewrapSiteSecrets: nothing,
  setTenantReplication: ({ tenantId, target, rules, createsBuckets, existing }) => ({
    tenantId,
    details: { target, rules, createsBuckets, existing },
  }),
  deleteTenantReplication: ({ tenantId }) => ({ tenantId }),
  followTenant: ({ tenantId, name, targetBucket }) => ({ tenantId, bucket: name, details: { targetBucket } }),
  recordWaitingSite: nothing,
  leaveTenant: ({ tenantId, names }) => ({ tenantId, details: { buckets: [...names] } }),
  rewrapTenantSiteSecrets: nothing,
  // Only the ids: the URL of a hook may contain a secret.
  setNotifications: ({ tenantId, bucket, configs }) => ({
    tenantId,
    bucket,
    details: { configs: configs.map(({ id }) => id) },
  }),
  testHook: ({ tenantId, bucket, configId }) => ({ tenantId, bucket, details: { configId } }),
  redeliver: ({ tenantId, bucket, hookId, eventId }) => ({
    tenantId,
    bucket,
    details: { hookId, eventId },
  }),
  recordAttempts: nothing,
  forgetDeliveries: nothing,
  rewrapHookSecrets: nothing,
  setQuota: (command) => ({ tenantId: command.tenantId, details: { ...limitsOf(command) } }),
  setTenantLimits: ({ tenantId, limits }) => ({ tenantId, details: { limits } }),
  requestApproval: ({ approvalId, operation, tenantId, change }) => ({
    operation: 'requestApproval',
    ...(tenantId === null ? {} : { tenantId }),
    details: { approvalId, operation, change },
  }),
  approveChange: ({ approvalId }, value) => ({ ...approved(value), details: about(approvalId, value) }),
  rejectChange: ({ approvalId }, value) => ({ ...approved(value), details: about(approvalId, value) }),
  useApproval: ({ change }) => ({ operation: 'useApproval', details: { change } }),
  putObject: (command, value) => ({
    ...made(value?.object ?? null),
    details: { size: command.size, ...(value?.replayed === true ? { replayed: true } : {}) },
  }),
  deleteObject: (command, value) => ({
    ...made(value?.version ?? null),
    details: { ...deletion(value), ...bypassing(command) },
  }),
  deleteObjects: (command, value) => ({
    details: { ...batchDeletion(command.items, value), ...bypassing(command) },
  }),
  copyObject: ({ source }, value) => ({
    ...made(value),
    details: { source, ...(value === null ? {} : { size: value.size }) },
  }),
  setObjectTags: ({ tags }, value) => ({ ...made(value), details: { tags } }),
  setObjectRetention: ({ retention, bypassGovernance }, value) => ({
    ...made(value),
    details: {
      mode: retention?.mode ?? null,
      retainUntil: retention?.until ?? null,
      ...bypassing({ bypassGovernance }),
    },
  }),
  setObjectLegalHold: ({ legalHold }, value) => ({ ...made(value), details: { legalHold } }),
  createUpload: (_, value) => (value === null ? {} : { details: { uploadId: value.uploadId } }),
  putPart: ({ uploadId, partNumber, size, source }) => ({
    details: { uploadId, partNumber, size, ...(source === undefined ? {} : { source }) },
  }),
  completeUpload: ({ uploadId, parts }, value) => ({
    ...made(value),
    details: { uploadId, parts: parts.length, ...(value === null ? {} : { size: value.size }) },
  }),
  abortUpload: ({ uploadId }) => ({ details: { uploadId } }),
  expire: nothing,
  releaseDiscarded: nothing,
  releaseDue: nothing,
  addReplica: nothing,
  addReplicas: nothing,
  announceMasterKeys: nothing,
  advanceClusterKey: nothing,
  rewrapTenantKeys: nothing,
  rewrapAccessKeys: nothing,
  exchangeTenantKey: ({ tenantId, operationId, from, maxBytesPerSecond }) => ({
    tenantId,
    details: { operationId, formerVersion: from, maxBytesPerSecond },
  }),
  resealBodies: nothing,
  endKeyExchange: nothing,
  restoreStep: nothing,
  disableTenant: ({ tenantId }, value) => ({
    tenantId,
    details: { accessKeyIds: value?.revoked ?? [] },
  }),
  deleteTenant: ({ tenantId, operationId }) => ({ tenantId, details: { operationId } }),
  eraseTenant: nothing,
  shredTenant: nothing,
  dropReplicas: nothing,
  planCopies: nothing,
  endTasks: nothing,
  dropsDone: nothing,
  collectChunks: nothing,
  haltCollection: nothing,
  resumeCollection: nothing,
  finishRecount: nothing,
  setRepairRate: ({ bytesPerSecond }) => ({ details: { bytesPerSecond } }),
  startOperation: ({ operationId, kind, tenantId, bucket, node, maxBytesPerSecond, restore }) => ({
    ...(tenantId === null ? {} : { tenantId }),
    ...(bucket === null ? {} : { bucket }),
    details: { operationId, kind, node, maxBytesPerSecond, ...(restore === undefined ? {} : { restore }) },
  }),
  setBackupTarget: ({ name, place }) => ({ details: { name, ...shownPlace(place) } }),
  deleteBackupTarget: ({ name }) => ({ details: { name } }),
  setBackupSchedule: ({ name, plan }) => ({ details: { name, ...plan } }),
  deleteBackupSchedule: ({ name }) => ({ details: { name } }),
  startScheduledBackup: ({ name, slotAt, operationId, backupId }, value) => ({
    ...(value?.tenantId === undefined ? {} : { tenantId: value.tenantId }),
    details: {
      name,
      slotAt,
      operationId,
      backupId,
      // Its operation was refused, and that time of the schedule is dealt with.
      ...(value === null || value.run !== null ? {} : { failed: value.last?.error ?? null }),
    },
  }),
  endScheduledBackup: nothing,
  alignBackupSchedule: nothing,
  rewrapBackupSecrets: nothing,
  recordBackupCheck: nothing,
  reportShare: nothing,
  advanceOperation: nothing,
  setOperationStatus: ({ operationId, action }) => ({ details: { operationId, action } }),
  openSession: nothing,
  advanceSession: nothing,
  closeSession: nothing,
  shipAudit: nothing,
  trimAudit: nothing,
  sealAudit: nothing,
  setAuditKeys: nothing,
  recordAuditExport: nothing,
  foundMembers: nothing,
  introduceMember: nothing,
  placeMember: ({ nodeId, zone, weight }, value) => ({
    details: {
      nodeId,
      zone,
      weight,
      ...(value === null ? {} : { configIndex: value.configIndex }),
    },
  }),
  startMembership: ({ operationId, kind, nodeId, newcomer, seen }, value) => ({
    details: {
      operationId,
      kind,
      nodeId,
      newcomer: newcomer?.nodeId ?? null,
      seen,
      ...(value === null ? {} : { configIndex: value.configIndex }),
    },
  }),
  stepMembership: ({ operationId, from, to, phase }) => ({ details: { operationId, from, to, phase } }),
  undoMembership: ({ operationId }) => ({ details: { operationId } }),
  evacuateCopies: nothing,
  recoverCluster: (
    { planId, epoch, winner, survivors, voters, dead, certainThrough, mayMissAfter, loss },
    value,
  ) => ({
    details: {
      planId,
      epoch,
      winner,
      survivors,
      voters,
      dead,
      certainThrough,
      mayMissAfter,
      loss,
      ...(value === null ? {} : { index: value.index }),
    },
  }),
  skipEntry: ({ planId, entryIndex, entryTerm, digest, why, carried, carriedCount }) => ({
    details: { planId, entryIndex, entryTerm, digest, why, carried, carriedCount },
  }),
}

export function auditedChangeOf<T extends CommandType>(command: Of<T>, reply: Reply<T>): AuditedChange {
  const change = DESCRIBERS[command.type as T](command, reply.ok ? reply.value : null)
  if (!('approval' in command) || command.approval === undefined) return change
  const { approvalId, approvedBy } = command.approval
  return { ...change, details: { ...change.details, approvalId, approvedBy } }
}

/** Without the secret. */
function shownPlace(place: Of<'setBackupTarget'>['place']): AuditDetails {
  if (place.kind === 'directory') return { kind: place.kind, folder: place.folder }
  const { kind, endpoint, bucket, prefix, region, accessKeyId } = place
  return { kind, endpoint, bucket, prefix, region, accessKeyId }
}

function approved(value: ApprovalRecord | null): Pick<AuditedChange, 'tenantId'> {
  return value === null || value.tenantId === null ? {} : { tenantId: value.tenantId }
}

function about(approvalId: string, value: ApprovalRecord | null): AuditDetails {
  if (value === null) return { approvalId }
  const { operation, change, requestedBy } = value
  return { approvalId, operation, change, requestedBy: requestedBy.id }
}

/** From feature level 4 on, so that the rows of earlier commands are what they were. */
function boundOf(boundTo: CallerBinding | undefined): AuditDetails {
  if (boundTo === undefined) return {}
  return { allowedAddresses: boundTo.addresses, clientCertificates: boundTo.certificates }
}

function bypassing({ bypassGovernance }: { readonly bypassGovernance?: true | undefined }): AuditDetails {
  return bypassGovernance === undefined ? {} : { bypassGovernance }
}

function made(version: VersionRecord | ObjectRecord | null): AuditedChange {
  return version === null ? {} : { versionId: nameOf(version) }
}

/** The version id that clients see. */
function nameOf({ isNull, versionId }: VersionRecord): string {
  return isNull ? 'null' : versionId
}

function deletion(value: Deleted | null): AuditDetails {
  if (value === null) return {}
  return { existed: value.existed, ...(value.isMade ? { deleteMarker: true } : {}) }
}

/** Every key of the batch is in one of the two lists of keys; `versions` describes each deleted one. */
function batchDeletion(
  items: Of<'deleteObjects'>['items'],
  value: readonly (Deleted | ItemRefused)[] | null,
): AuditDetails {
  const deletedKeys: string[] = []
  const versions: (AuditDetails | null)[] = []
  const refusedKeys: AuditDetails[] = []
  for (const [n, { key, versionId }] of items.entries()) {
    const result = value?.[n] ?? null
    if (result === null || 'code' in result) {
      const code = result === null ? {} : { code: result.code }
      refusedKeys.push({ key, ...(versionId === null ? {} : { versionId }), ...code })
    } else {
      deletedKeys.push(key)
      versions.push(result.version === null ? null : { versionId: nameOf(result.version), ...marked(result) })
    }
  }
  return { deletedKeys, versions, refusedKeys }
}

function marked({ isMade }: Deleted): AuditDetails {
  return isMade ? { deleteMarker: true } : {}
}
