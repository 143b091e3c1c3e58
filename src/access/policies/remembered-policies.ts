/**
 * Policies that were read lately: reading one takes longer than asking it, and each request asks.
 *
 * Rule: what is remembered is found by the whole text and by whose it is, so it can never be an older policy; how many there are
 * has a bound.
 */
import { Refusal } from '../../base/refusal.ts'
import { type BucketPolicy, type PolicyPlace, readBucketPolicy } from './bucket-policy.ts'

const POLICIES_MAX = 64
/** In the order of last use, longest ago first. */
const REMEMBERED = new Map<string, BucketPolicy | null>()

/** Null: this build cannot read it. It was accepted by a newer one. */
export function storedPolicy(text: string, place: PolicyPlace): BucketPolicy | null {
  const name = `${place.tenantId}/${place.bucket}/${text}`
  const known = REMEMBERED.get(name)
  const policy = known === undefined ? readStored(text, place) : known
  REMEMBERED.delete(name)
  REMEMBERED.set(name, policy)
  const [oldest] = REMEMBERED.keys()
  if (REMEMBERED.size > POLICIES_MAX && oldest !== undefined) REMEMBERED.delete(oldest)
  return policy
}

function readStored(text: string, place: PolicyPlace): BucketPolicy | null {
  try {
    return readBucketPolicy(JSON.parse(text), place)
  } catch (error) {
    if (error instanceof Refusal || error instanceof SyntaxError) return null
    throw error
  }
}
