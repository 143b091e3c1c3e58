/**
 * Asks the policy of the bucket that a request aims at.
 *
 * Owns: the question that is put to it. Knows nothing of: scopes, which are decided before.
 * Rules: the stored policy is read again for every decision, from the state behind the request's own barrier, so that a policy
 * that was set anywhere is in force at the next request everywhere; one that this build cannot read denies everything.
 */
import assert from 'node:assert/strict'
import type { View } from '../../state-machine/base/view.ts'
import { bucketPolicyOf } from '../../state-machine/buckets/bucket-policies.ts'
import { comparableAddress } from '../../base/network-address.ts'
import type { AccessKeyPrincipal } from '../base/principal.ts'
import type { PolicyPlace } from './bucket-policy.ts'
import type { Attributes } from './conditions.ts'
import { denyingStatement } from './evaluation.ts'
import { storedPolicy } from './remembered-policies.ts'
import { namesOf, type S3Action } from './s3-actions.ts'

/** Nothing has so long a name, so nothing is missed; to compare it could take long. */
const KEY_CHARS_MAX = 1024
const DAY_MS = 86_400_000

interface Aim {
  readonly bucket?: string
  readonly key?: string
  readonly versionId?: string | undefined
  readonly delimiter?: string | undefined
  readonly retainUntil?: number | undefined
}

/** What denies a request. */
export interface Denial {
  /** The place of the statement in the policy, from 0. Null: the whole policy denies, because this build cannot read it or the key is too long. */
  readonly statement: number | null
}

/** Null: nothing denies. */
export function denialOf(
  principal: AccessKeyPrincipal,
  action: S3Action,
  aim: Aim,
  state: View,
): Denial | null {
  const { accessKeyId, tenantId } = principal
  const { bucket, key, versionId, delimiter, retainUntil } = aim
  assert(bucket !== undefined, 'an action on a bucket names it')
  const stored = bucketPolicyOf(state, tenantId, bucket)
  if (stored === undefined) return null
  const policy = storedPolicy(stored.policy, { tenantId, bucket })
  if (policy === null || (key !== undefined && key.length > KEY_CHARS_MAX)) return { statement: null }
  assert(action.on === 'bucket' || key !== undefined, 'an action on an object names its key')
  const statement = denyingStatement(policy, {
    accessKeyId,
    actions: namesOf(action, versionId !== undefined),
    key: action.on === 'bucket' ? null : (key ?? null),
    attributes: {
      ...attributesOf(principal),
      's3:prefix': action.isListing ? key : undefined,
      's3:delimiter': action.isListing ? delimiter : undefined,
      's3:VersionId': versionId,
      's3:object-lock-remaining-retention-days': daysUntil(retainUntil, principal),
    },
  })
  return statement === -1 ? null : { statement }
}

/** Whether a denial of the policy of this bucket depends on the address of the caller. */
export function asksForAddress({ tenantId, bucket }: PolicyPlace, state: View): boolean {
  const stored = bucketPolicyOf(state, tenantId, bucket)
  const policy = stored === undefined ? null : storedPolicy(stored.policy, { tenantId, bucket })
  return (policy?.statements ?? []).some(
    ({ effect, conditions }) => effect === 'Deny' && conditions.some(({ key }) => key === 'aws:SourceIp'),
  )
}

/** A started day counts, so that a date in exactly 30 days is 30 when the request arrives. [S3 Object Lock] */
function daysUntil(until: number | undefined, { circumstances }: AccessKeyPrincipal): string | undefined {
  return until === undefined ? undefined : `${Math.ceil((until - circumstances.at) / DAY_MS)}`
}

function attributesOf({ accessKeyId, circumstances }: AccessKeyPrincipal): Attributes {
  return {
    'aws:SourceIp': comparableAddress(circumstances.address),
    'aws:username': accessKeyId,
    'aws:SecureTransport': `${circumstances.isSecure}`,
    'aws:CurrentTime': `${circumstances.at}`,
  }
}
