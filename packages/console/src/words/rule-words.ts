/**
 * Rules of a bucket as sentences. Pure.
 */
import type { DataOperations } from '../../../client/src/index.ts'
import { bytes } from './format.ts'
import { LIFECYCLE, REPLICATION, RULES } from './rule-strings.ts'

type LifecycleRule = DataOperations['getBucketLifecycle']['answer']['rules'][number]
type ReplicationRule = DataOperations['getBucketReplication']['answer']['rules'][number]

/** Its own name, or its place in the list (`at` from 0). */
export const ruleName = ({ id }: { readonly id?: string }, at: number): string => id ?? RULES.nth(at + 1)

/** What a filter names, as "objects below logs/ with the tag kind=temporary". */
export function filterInWords(filter: LifecycleRule['filter'] = {}): string {
  const { prefix = '', tags = {}, sizeGreaterThan, sizeLessThan } = filter
  const pairs = Object.entries(tags).map(([name, value]) => `${name}=${value}`)
  return [
    prefix === '' ? RULES.allObjects : RULES.below(prefix),
    ...(pairs.length === 0 ? [] : [RULES.withTags(pairs)]),
    ...(sizeGreaterThan === undefined ? [] : [RULES.largerThan(bytes(sizeGreaterThan))]),
    ...(sizeLessThan === undefined ? [] : [RULES.smallerThan(bytes(sizeLessThan))]),
  ].join(', ')
}

/** What the rule does, a sentence for each of its actions. */
export function lifecycleInWords(rule: LifecycleRule): readonly string[] {
  const { expiration, noncurrentVersionExpiration: noncurrent, abortIncompleteMultipartUpload: abort } = rule
  const kept = noncurrent?.newerNoncurrentVersions
  return [
    ...(expiration?.days === undefined ? [] : [LIFECYCLE.byDays(expiration.days)]),
    ...(expiration?.date === undefined ? [] : [LIFECYCLE.byDate(expiration.date.slice(0, 10))]),
    ...(expiration?.expiredObjectDeleteMarker === true ? [LIFECYCLE.byMarker] : []),
    ...(noncurrent === undefined ? [] : [LIFECYCLE.noncurrent(noncurrent.noncurrentDays, kept ?? 0)]),
    ...(abort === undefined ? [] : [LIFECYCLE.abort(abort.daysAfterInitiation)]),
  ]
}

export function replicationInWords({ filter, deletes, status }: ReplicationRule): string {
  const usual = Object.keys(filter?.tags ?? {}).length > 0 ? 'none' : 'markers'
  const what = `${filterInWords(filter)}; ${REPLICATION.deletions[deletes ?? usual]}`
  return status === 'Disabled' ? `${what} (${RULES.disabled})` : what
}
