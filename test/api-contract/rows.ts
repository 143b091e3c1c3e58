/**
 * Every line of the contract by area: a row of a built area must have a test that is named after it.
 *
 * Owns: which areas there are and which are built. Rule: an area is set to built together with its rows and their tests.
 */
import type { ContractArea } from '../../scripts/checks/contract.ts'
import { adminConfigRows } from './admin-config-rows.ts'
import { adminKeysRows } from './admin-keys-rows.ts'
import { adminQuotaRows } from './admin-quota-rows.ts'
import { adminTenantRows } from './admin-tenants-rows.ts'
import { tlsRows } from './admin-tls-rows.ts'
import { approvalRows } from './approval-rows.ts'
import { auditRows } from './audit-rows.ts'
import { customerKeyRows } from './customer-key-rows.ts'
import { bucketRows, listingRows, versionRows } from './bucket-rows.ts'
import { adminLimitRows, callerLimitRows } from './caller-limit-rows.ts'
import { corsRows } from './cors-rows.ts'
import { encryptionRows } from './encryption-rows.ts'
import { errorRows, limitRows } from './error-rows.ts'
import { backupRows } from './backup-rows.ts'
import { lifecycleRows } from './lifecycle-rows.ts'
import { replicationRows } from './replication-rows.ts'
import { membershipRows } from './membership-rows.ts'
import { notificationRows } from './notification-rows.ts'
import { multipartRows } from './multipart-rows.ts'
import { batchDeleteRows, copyRows, idempotencyRows, objectRows } from './object-rows.ts'
import { policyRows, tokenRows } from './access-rows.ts'
import { sessionRows } from './session-rows.ts'
import { signedUrlRows } from './signed-url-rows.ts'
import { legalHoldRows, retentionRows, tagRows } from './version-part-rows.ts'

export const CONTRACT: readonly ContractArea[] = [
  { name: 'buckets', built: true, rows: bucketRows },
  { name: 'objects', built: true, rows: { ...objectRows, ...copyRows, ...batchDeleteRows } },
  { name: 'customer-keys', built: true, rows: customerKeyRows },
  { name: 'versions', built: true, rows: versionRows },
  { name: 'tags', built: true, rows: tagRows },
  { name: 'retention', built: true, rows: retentionRows },
  { name: 'legal-hold', built: true, rows: legalHoldRows },
  { name: 'multipart', built: true, rows: multipartRows },
  { name: 'listing', built: true, rows: listingRows },
  { name: 'limits', built: true, rows: { ...limitRows, ...callerLimitRows } },
  { name: 'idempotency', built: true, rows: idempotencyRows },
  { name: 'errors', built: true, rows: errorRows },
  { name: 'tokens', built: true, rows: tokenRows },
  { name: 'policies', built: true, rows: policyRows },
  { name: 'signed-urls', built: true, rows: signedUrlRows },
  { name: 'cors', built: true, rows: corsRows },
  { name: 'lifecycle', built: true, rows: lifecycleRows },
  { name: 'replication', built: true, rows: replicationRows },
  { name: 'backups', built: true, rows: backupRows },
  { name: 'notifications', built: true, rows: notificationRows },
  { name: 'audit', built: true, rows: auditRows },
  {
    name: 'admin',
    built: true,
    rows: {
      ...adminTenantRows,
      ...encryptionRows,
      ...adminKeysRows,
      ...adminQuotaRows,
      ...adminLimitRows,
      ...adminConfigRows,
      ...approvalRows,
      ...sessionRows,
    },
  },
  { name: 'tls', built: true, rows: tlsRows },
  { name: 'membership', built: true, rows: membershipRows },
]
