/**
 * Conditions of writes in headers. [native: Upload rules 4]
 *
 * Rule: a condition that is not carried out here is refused by name. One that is ignored in silence is a lost update.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { strongTags, weakTags } from '../../operations/objects/entity-tags.ts'
import { Refusal } from '../../base/refusal.ts'
import type { WritePrecondition } from '../../state-machine/objects/commands.ts'
import { headerText } from '../header-text.ts'
import type { HeaderNote } from '../route.ts'

/** A tag or a star, at least one. */
export const ENTITY_TAGS = { pattern: '^[^,]*[^\\s,"]' } as const

export const IF_MATCH: HeaderNote = {
  name: 'If-Match',
  description: 'Answer 412 unless the etag is one of these',
  schema: ENTITY_TAGS,
}
export const WRITE_CONDITIONS: readonly HeaderNote[] = [
  IF_MATCH,
  {
    name: 'If-None-Match',
    description: 'Answer 412 when the etag is one of these; *: when there is an object',
    schema: ENTITY_TAGS,
  },
]

export function readPrecondition(headers: IncomingHttpHeaders): WritePrecondition {
  refuseAny(headers, ['If-Modified-Since', 'If-Unmodified-Since'])
  const ifNoneMatch = headerText(headers, 'if-none-match')
  return {
    ifMatch: readIfMatch(headers),
    ifNoneMatch: ifNoneMatch === undefined ? null : weakTags(ifNoneMatch),
  }
}

/** For a delete. */
export function readIfMatchAlone(headers: IncomingHttpHeaders): readonly string[] | null {
  refuseAny(headers, ['If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'])
  return readIfMatch(headers)
}

function readIfMatch(headers: IncomingHttpHeaders): readonly string[] | null {
  const ifMatch = headerText(headers, 'if-match')
  return ifMatch === undefined ? null : strongTags(ifMatch)
}

function refuseAny(headers: IncomingHttpHeaders, names: readonly string[]): void {
  const name = names.find((candidate) => headers[candidate.toLowerCase()] !== undefined)
  if (name !== undefined)
    throw new Refusal(
      'not_implemented',
      `The header ${name} is not supported here; it is refused rather than ignored`,
    )
}
