/**
 * Counts the configurations of a bucket in the metadata of its tenant.
 *
 * Owns: `configBytes` in the row of the bucket. Rule: it changes in the entry that sets or removes the configuration, and goes with the bucket.
 */
import { bucketKeys } from './keys.ts'
import { assert } from '../base/assert.ts'
import type { Draft } from '../base/draft.ts'
import { countTenant } from '../usage/usage.ts'
import type { BucketConfig, BucketRecord } from './records.ts'

/** How much more it counts than the present one. */
export function configGrowth({ configBytes }: BucketRecord, config: BucketConfig, bytes: number): number {
  return bytes - (configBytes?.[config] ?? 0)
}

/** `bytes` 0: there is none now, or it counts nothing. Reads the bucket from the draft; call it after other changes of its row. */
export function countConfig(
  draft: Draft,
  { tenantId, name }: Pick<BucketRecord, 'tenantId' | 'name'>,
  config: BucketConfig,
  bytes: number,
): void {
  const present = draft.get(bucketKeys.bucket(tenantId, name))
  assert(present !== undefined, 'a bucket is there while it is configured')
  const metadataBytes = configGrowth(present, config, bytes)
  if (metadataBytes === 0) return
  const { configBytes, ...bucket } = present
  const { [config]: _, ...others } = configBytes ?? {}
  const counted = bytes === 0 ? others : { ...others, [config]: bytes }
  const isAny = Object.keys(counted).length > 0
  draft.put(bucketKeys.bucket(tenantId, name), isAny ? { ...bucket, configBytes: counted } : bucket)
  countTenant(draft, tenantId, { metadataBytes })
}
