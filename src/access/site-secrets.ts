/**
 * The secret of the access key of the store that a bucket is replicated to, sealed for this bucket, or for the tenant whose buckets all go there.
 */
import type { BucketId, TenantId } from '../state-machine/base/record-ids.ts'
import type { MasterKey } from './master-key.ts'
import { siteSecret, tenantSiteSecret } from './sealing-contexts.ts'

export interface SiteSecrets {
  readonly seal: (bucketId: BucketId, secretKey: string) => Uint8Array
  /** Throws where no key of this node opens it. */
  readonly open: (bucketId: BucketId, sealed: Uint8Array) => string
  readonly sealForTenant: (tenantId: TenantId, secretKey: string) => Uint8Array
  /** Throws as `open`. */
  readonly openOfTenant: (tenantId: TenantId, sealed: Uint8Array) => string
}

export function siteSecretsOf(masterKey: Pick<MasterKey, 'open' | 'seal'>): SiteSecrets {
  const seal = (secretKey: string, context: string) => masterKey.seal(Buffer.from(secretKey), context)
  const open = (sealed: Uint8Array, context: string) =>
    Buffer.from(masterKey.open(sealed, context)).toString('utf8')
  return {
    seal: (bucketId, secretKey) => seal(secretKey, siteSecret(bucketId)),
    open: (bucketId, sealed) => open(sealed, siteSecret(bucketId)),
    sealForTenant: (tenantId, secretKey) => seal(secretKey, tenantSiteSecret(tenantId)),
    openOfTenant: (tenantId, sealed) => open(sealed, tenantSiteSecret(tenantId)),
  }
}
