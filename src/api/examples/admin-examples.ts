/**
 * A call of every operation of the admin plane; a missing one does not compile.
 */
import type { AdminOperationId } from '../../access/base/operation-ids.ts'
import type { Example, FurtherExample } from './example.ts'

const TENANT = { id: 'acme' }
/** Of whom nothing else tells. */
const LEAVING = { id: 'former' }
const KEY = { ...TENANT, keyId: '{createTenantKey.accessKeyId}' }
const BUCKET = { ...TENANT, bucket: 'photos' }
const MEMBER = { params: { nodeId: 'n3' } }
const OPERATION = { id: '{rebalance.operationId}' }

export const adminExamples = {
  adminHealthz: {},
  adminReadyz: {},
  getAdminOpenAPI: {},
  getMetrics: {},

  listTenants: { query: { limit: '100' } },
  createTenant: { body: { id: 'acme', name: 'Acme Inc.' } },
  getTenant: { params: TENANT },
  disableTenant: { params: LEAVING, body: { reason: 'The contract has ended' } },
  deleteTenant: { params: LEAVING, body: { reason: 'The contract has ended', confirm: 'former' } },
  getTenantQuota: { params: TENANT },
  setTenantQuota: {
    params: TENANT,
    body: { maxBytes: 1_099_511_627_776, maxObjects: null, maxBuckets: 100 },
  },
  deleteTenantQuota: { params: TENANT },
  getTenantUsage: { params: TENANT },

  listTenantAccounts: { params: TENANT, query: { limit: '100' } },
  createTenantAccount: {
    params: TENANT,
    body: { name: 'ci', description: 'Uploads what the builds make' },
  },
  listTenantKeys: { params: TENANT, query: { limit: '100' } },
  createTenantKey: {
    params: TENANT,
    body: {
      accountId: '{createTenantAccount.id}',
      name: 'gallery',
      scopes: 'read,write,delete,admin',
      expiresAt: '2099-01-31T12:00:00Z',
    },
  },
  rotateTenantKey: { params: KEY, body: { scopes: 'read' } },
  revokeTenantKey: { params: KEY, body: { reason: 'The gallery was closed' } },

  getTenantBucketPolicy: { params: BUCKET },
  setTenantBucketPolicy: {
    params: BUCKET,
    body: {
      Version: '2012-10-17',
      Statement: [
        {
          Sid: 'KeepTheOriginals',
          Effect: 'Deny',
          Principal: '*',
          Action: 's3:DeleteObject*',
          Resource: 'arn:aws:s3:::photos/originals/*',
        },
      ],
    },
  },
  deleteTenantBucketPolicy: { params: BUCKET },

  rebalance: {
    body: { tenantId: 'acme', bucket: 'photos', maxBytesPerSecond: 50_000_000, reason: 'A disk was added' },
  },
  listOperations: { query: { limit: '100' } },
  getOperation: { params: OPERATION },
  cancelOperation: { params: OPERATION },
  pauseOperation: { params: OPERATION },
  resumeOperation: { params: OPERATION, query: { wait: '1ms' } },
  getRepair: {},
  setRepair: { body: { maxBytesPerSecond: 100_000_000 } },
  scrub: { body: { reason: 'After a power cut' } },
  recount: { body: { reason: 'After an upgrade' } },
  getClusterTime: {},
  confirmClusterTime: {
    query: { dryRun: 'true' },
    body: { withheldMs: 864_000_000, reason: 'It was switched off for ten days' },
  },
  setBackClusterTime: {
    query: { dryRun: 'true' },
    body: { majorityTime: '2026-11-23T12:00:00.000Z', reason: 'All clocks were ahead for an hour' },
  },
  resumeCollection: { query: { dryRun: 'true' }, body: { reason: 'The difference was understood' } },
  queryAuditLog: {
    query: { tenant: 'acme', bucket: 'photos', operation: 'deleteObject', since: '24h', limit: '100' },
  },

  getClusterMembership: {},
  joinVoter: {
    query: { dryRun: 'true' },
    body: { nodeId: 'n4', peerAddress: '10.0.0.4:9002', zone: 'rack-2', reason: 'More room' },
  },
  demoteVoter: { ...MEMBER, query: { dryRun: 'true' }, body: { reason: 'Its disk is worn' } },
  markVoterLost: {
    ...MEMBER,
    query: { dryRun: 'true' },
    body: { reason: 'The machine burned', confirm: 'n3' },
  },
  removeMember: { ...MEMBER, query: { dryRun: 'true' }, body: { reason: 'It is empty', confirm: 'n3' } },
  replaceVoter: {
    ...MEMBER,
    query: { dryRun: 'true' },
    body: {
      replacement: { nodeId: 'n4', peerAddress: '10.0.0.4:9002' },
      reason: 'The machine burned',
      confirm: 'n3',
    },
  },
  transferLeadership: { query: { dryRun: 'true' }, body: { reason: 'The leader is patched next' } },
} satisfies Record<AdminOperationId, Example>

export const furtherAdminExamples = {
  createLeavingTenant: { of: 'createTenant', body: { ...LEAVING, name: 'Former Ltd.' } },
} satisfies Record<string, FurtherExample>
