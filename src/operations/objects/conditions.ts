/**
 * Conditions on an object that is read or copied. [RFC 9110 13.2.2] [decisions 14]
 *
 * Owns: their order and what they mean. Knows nothing of: headers and fields, how a refusal is answered.
 * Rules: If-Match beats If-Unmodified-Since, If-None-Match beats If-Modified-Since. A time given in whole seconds, as in
 * every HTTP date, is compared with the whole seconds of the object.
 */
import type { ObjectRecord } from '../../state-machine/versions/records.ts'

/** Null: no such condition. Entity tags without quotes, or `*`; times in milliseconds. */
export interface ReadConditions {
  readonly ifMatch: readonly string[] | null
  readonly ifNoneMatch: readonly string[] | null
  readonly ifModifiedSince: number | null
  readonly ifUnmodifiedSince: number | null
}

/** Which kind of condition fails first: that the object is the one meant, or that it is new to the caller. Null: all hold. */
export function failedCondition(
  { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince }: ReadConditions,
  object: ObjectRecord,
): 'isMeant' | 'isNew' | null {
  const isMeant =
    ifMatch === null
      ? ifUnmodifiedSince === null || modifiedAt(object, ifUnmodifiedSince) <= ifUnmodifiedSince
      : names(ifMatch, object)
  if (!isMeant) return 'isMeant'
  const isNew =
    ifNoneMatch === null
      ? ifModifiedSince === null || modifiedAt(object, ifModifiedSince) > ifModifiedSince
      : !names(ifNoneMatch, object)
  return isNew ? null : 'isNew'
}

/** As precisely as the time it is compared with. */
export function modifiedAt({ lastModified }: ObjectRecord, given: number): number {
  return given % 1000 === 0 ? Math.floor(lastModified / 1000) * 1000 : lastModified
}

function names(tags: readonly string[], { etag }: ObjectRecord): boolean {
  return tags.includes('*') || tags.includes(etag)
}
