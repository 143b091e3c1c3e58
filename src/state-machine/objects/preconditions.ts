/**
 * Conditions of a write on what its key holds, decided where nothing can come between. [RFC 9110 13.1]
 *
 * Rule: tags are compared as strong ones; `*` stands for any object. A delete marker is no object.
 */
import type { WritePrecondition } from './commands.ts'
import type { ObjectRecord } from '../versions/records.ts'
import { type Refused, refuse } from '../base/reply.ts'

/** Null when it holds. */
export function preconditionFault(
  { ifMatch, ifNoneMatch }: WritePrecondition,
  current: ObjectRecord | undefined,
): Refused | null {
  if (ifMatch !== null && !names(ifMatch, current)) {
    const held = current === undefined ? 'there is no such object' : `it has the etag "${current.etag}"`
    return refuse('precondition_failed', `The object does not match: ${held}`)
  }
  if (ifNoneMatch !== null && current !== undefined && names(ifNoneMatch, current))
    return refuse('precondition_failed', `There is an object already, with the etag "${current.etag}"`)
  return null
}

function names(tags: readonly string[], object: ObjectRecord | undefined): boolean {
  return object !== undefined && (tags.includes('*') || tags.includes(object.etag))
}
