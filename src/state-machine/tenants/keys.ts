/**
 * Row keys of tenants, and the ranges that listings read.
 */
import type {
  AccessKeyRecord,
  AccountRecord,
  AdminSessionsRecord,
  AdminTokenRecord,
  ClusterKeyRecord,
  SealedRecord,
  TenantAccessRecord,
  TenantRecord,
} from './records.ts'
import { join, type KeyRange, rangeOf, type RowKey } from '../base/row-key.ts'
import type { AccessKeyId, AccountId, TenantId } from '../base/record-ids.ts'

export const tenantKeys = {
  tenant: (id: TenantId): RowKey<TenantRecord> => join('tenant', id),
  accessKey: (id: AccessKeyId): RowKey<AccessKeyRecord> => join('accessKey', id),
  tenantAccessKey: (tenant: TenantId, id: AccessKeyId): RowKey<{ readonly accessKeyId: AccessKeyId }> =>
    join('tenantAccessKey', tenant, id),
  account: (tenant: TenantId, id: AccountId): RowKey<AccountRecord> => join('account', tenant, id),
  accountName: (tenant: TenantId, name: string): RowKey<{ readonly accountId: AccountId }> =>
    join('accountName', tenant, name),
  tenantAccess: (tenant: TenantId): RowKey<TenantAccessRecord> => join('tenantAccess', tenant),
  adminToken: (tokenId: string): RowKey<AdminTokenRecord> => join('adminToken', tokenId),
  adminTokenHash: (sha256: string): RowKey<{ readonly tokenId: string }> => join('adminTokenHash', sha256),
  adminSessions: (): RowKey<AdminSessionsRecord> => join('adminSessions'),
  sealed: (tenant: TenantId): RowKey<SealedRecord> => join('sealed', tenant),
  clusterKey: (): RowKey<ClusterKeyRecord> => join('clusterKey'),
} as const

export const tenantRanges = {
  tenants: (): KeyRange<TenantRecord> => rangeOf('tenant'),
  tenantAccessKeys: (tenant: TenantId): KeyRange<{ readonly accessKeyId: AccessKeyId }> =>
    rangeOf('tenantAccessKey', tenant),
  accounts: (tenant: TenantId): KeyRange<AccountRecord> => rangeOf('account', tenant),
  adminTokens: (): KeyRange<AdminTokenRecord> => rangeOf('adminToken'),
} as const
