/**
 * Whether a new policy of a bucket, or none, denies less than the present one.
 *
 * Owns: the comparison. Rule: a denial is kept only by an equal statement; whether another one denies as much is not judged, so the answer
 * errs on the side of asking for an approval. Statements that allow are not looked at: a policy widens no scope.
 */
import { isDeepStrictEqual } from 'node:util'
import type { PolicyPlace } from '../../access/policies/bucket-policy.ts'
import type { View } from '../../state-machine/base/view.ts'
import { bucketPolicyOf } from '../../state-machine/buckets/bucket-policies.ts'

/** `after` null: the policy is removed. */
export function liftsDenials(state: View, { tenantId, bucket }: PolicyPlace, after: object | null): boolean {
  const present = bucketPolicyOf(state, tenantId, bucket)
  if (present === undefined) return false
  const kept = after === null ? [] : denialsOf(after)
  return denialsOf(JSON.parse(present.policy)).some(
    (denial) => !kept.some((other) => isDeepStrictEqual(denial, other)),
  )
}

function denialsOf(policy: unknown): readonly unknown[] {
  const statements = memberOf(policy, 'Statement')
  return (Array.isArray(statements) ? statements : []).filter((one) => memberOf(one, 'Effect') === 'Deny')
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
