/** The three states of versioning, in any case of letters. [decisions 2] */
import { Refusal } from '../../base/refusal.ts'
import type { BucketRecord } from '../../state-machine/buckets/records.ts'

export const VERSIONING_STATES = [
  'Unversioned',
  'Enabled',
  'Suspended',
] as const satisfies readonly BucketRecord['versioning'][]

/** Throws Refusal invalid_request. */
export function versioningState(text: string): BucketRecord['versioning'] {
  const state = VERSIONING_STATES.find((name) => name.toLowerCase() === text.toLowerCase())
  if (state !== undefined) return state
  throw new Refusal(
    'invalid_request',
    `"${text.slice(0, 40)}" is no state of versioning: give one of ${VERSIONING_STATES.join(', ')}`,
  )
}
