/**
 * The secret of the access key of the store that a bucket is replicated to, sealed for this bucket.
 */
import type { BucketId } from '../state-machine/base/record-ids.ts'
import type { MasterKey } from './master-key.ts'
import { siteSecret } from './sealing-contexts.ts'

export interface SiteSecrets {
  readonly seal: (bucketId: BucketId, secretKey: string) => Uint8Array
  /** Throws where no key of this node opens it. */
  readonly open: (bucketId: BucketId, sealed: Uint8Array) => string
}

export function siteSecretsOf(masterKey: Pick<MasterKey, 'open' | 'seal'>): SiteSecrets {
  return {
    seal: (bucketId, secretKey) => masterKey.seal(Buffer.from(secretKey), siteSecret(bucketId)),
    open: (bucketId, sealed) => Buffer.from(masterKey.open(sealed, siteSecret(bucketId))).toString('utf8'),
  }
}
