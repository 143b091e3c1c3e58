/**
 * When lifecycle rules will act on an object, for answers that show it. Changes nothing and promises nothing: rules and tags may change.
 */
import type { BucketRecord } from '../../state-machine/buckets/records.ts'
import { firstDue } from '../../state-machine/lifecycle/due.ts'
import { lifecycleOf } from '../../state-machine/lifecycle/rules.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import type { Services } from '../base/services.ts'

export interface ObjectExpiry {
  readonly ruleId: string
  /** ms since 1970 */
  readonly at: number
}

/** Null: no rule in force acts on it, or it is no current version. A bucket without rules costs no read. */
export function objectExpiry(
  { state }: Pick<Services, 'state'>,
  bucket: BucketRecord,
  version: ObjectRecord,
): ObjectExpiry | null {
  const record = version.newer === null ? lifecycleOf(state, bucket) : undefined
  const first = record === undefined ? null : firstDue(record.rules, { kind: 'current', version })
  return first === null ? null : { ruleId: first.rule.id, at: first.at }
}
