/**
 * A call of every operation of the admin plane; a missing one does not compile.
 */
import type { AdminOperationId } from '../../access/operation-ids.ts'
import type { Example } from './example.ts'

const TENANT = { id: 'acme' }
const KEY = { ...TENANT, keyId: '{createTenantKey.accessKeyId}' }
const OPERATION = { id: '{rebalance.operationId}' }

export const adminExamples = {
  adminHealthz: {},
  adminReadyz: {},
  getAdminOpenAPI: {},
  getMetrics: {},

  listTenants: { query: { limit: '100' } },
  createTenant: { body: { id: 'acme', name: 'Acme Inc.' } },
  getTenant: { params: TENANT },
  getTenantUsage: { params: TENANT },

  listTenantKeys: { params: TENANT, query: { limit: '100' } },
  createTenantKey: {
    params: TENANT,
    body: { name: 'uploader', scopes: 'read,write,delete', expiresAt: '2099-01-31T12:00:00Z' },
  },
  rotateTenantKey: { params: KEY, body: { scopes: 'read' } },
  revokeTenantKey: { params: KEY, body: { reason: 'The uploader was retired' } },

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
  resumeCollection: { query: { dryRun: 'true' }, body: { reason: 'The difference was understood' } },
} satisfies Record<AdminOperationId, Example>
