/**
 * Asks the policy of the bucket that a request aims at.
 *
 * Owns: the question that is put to it. Knows nothing of: scopes, which are decided before.
 * Rules: the stored policy is read anew for every decision, from the state behind the request's own barrier, so that a policy
 * that was set anywhere is in force at the next request everywhere; one that this build cannot read denies everything.
 */
import assert from 'node:assert/strict'
import type { TenantId } from '../../state-machine/base/record-ids.ts'
import type { BucketPolicyRecord } from '../../state-machine/buckets/records.ts'
import type { DataOperationId } from '../base/operation-ids.ts'
import type { AccessKeyPrincipal } from '../base/principal.ts'
import { addressAttribute, type Attributes } from './conditions.ts'
import { denies } from './evaluation.ts'
import { storedPolicy } from './remembered-policies.ts'
import { namesOf, S3_ACTIONS } from './s3-actions.ts'

/** Nothing has so long a name, so nothing is missed; to compare it could take long. */
const KEY_CHARS_MAX = 1024

/** The policies of buckets as they are now. */
export interface BucketPolicies {
  /** Undefined: it has none, or does not exist. */
  bucketPolicy(tenant: TenantId, bucket: string): BucketPolicyRecord | undefined
}

interface Aim {
  readonly bucket?: string
  readonly key?: string
  readonly versionId?: string | undefined
  readonly delimiter?: string | undefined
}

export function isDenied(
  principal: AccessKeyPrincipal,
  operationId: DataOperationId,
  aim: Aim,
  policies: BucketPolicies,
): boolean {
  const action = S3_ACTIONS[operationId]
  if (action === null) return false
  const { accessKeyId, tenantId } = principal
  const { bucket, key, versionId, delimiter } = aim
  assert(bucket !== undefined, 'an action on a bucket names it')
  const stored = policies.bucketPolicy(tenantId, bucket)
  if (stored === undefined) return false
  const policy = storedPolicy(stored.policy, { tenantId, bucket })
  if (policy === null || (key !== undefined && key.length > KEY_CHARS_MAX)) return true
  assert(action.on === 'bucket' || key !== undefined, 'an action on an object names its key')
  return denies(policy, {
    accessKeyId,
    actions: namesOf(action, versionId !== undefined),
    key: action.on === 'bucket' ? null : (key ?? null),
    attributes: {
      ...attributesOf(principal),
      's3:prefix': action.isListing ? key : undefined,
      's3:delimiter': action.isListing ? delimiter : undefined,
      's3:VersionId': versionId,
    },
  })
}

function attributesOf({ accessKeyId, circumstances }: AccessKeyPrincipal): Attributes {
  return {
    'aws:SourceIp': addressAttribute(circumstances.address),
    'aws:username': accessKeyId,
    'aws:SecureTransport': `${circumstances.isSecure}`,
    'aws:CurrentTime': `${circumstances.at}`,
  }
}
