/**
 * Preconditions of a write on the current object, decided atomically with the write. [RFC 9110 13.1]
 *
 * Rule: entity tags are compared with the strong comparison; `*` matches any object. A delete marker is not an object.
 */
import type { WritePrecondition } from './commands.ts'
import type { ObjectRecord } from '../versions/records.ts'
import { type Refused, refuse } from '../base/reply.ts'

/** Null: the precondition holds. */
export function preconditionFault(
  { ifMatch, ifNoneMatch }: WritePrecondition,
  current: ObjectRecord | undefined,
): Refused | null {
  if (ifMatch !== null && !names(ifMatch, current)) {
    const held = current === undefined ? 'there is no such object' : `it has the etag "${current.etag}"`
    return refuse('precondition_failed', `The object does not match: ${held}`)
  }
  if (ifNoneMatch !== null && current !== undefined && names(ifNoneMatch, current))
    return refuse('precondition_failed', `An object with the etag "${current.etag}" exists already`)
  return null
}

function names(tags: readonly string[], object: ObjectRecord | undefined): boolean {
  return object !== undefined && (tags.includes('*') || tags.includes(object.etag))
}
