/**
 * Lists of entity tags as clients write them: quoted or bare, joined by commas, or `*`. [RFC 9110 8.8.3] [decisions 0: ETag]
 *
 * Rule: a weak tag never names an object where tags are compared as strong ones; it keeps its `W/`, which no tag of ours has.
 */
import { Refusal } from '../../base/refusal.ts'

/** For If-Match. Throws Refusal invalid_argument when the list is empty. */
export function strongTags(text: string): readonly string[] {
  const tags = text
    .split(',')
    .map((tag) => tag.trim().replace(/^"(.*)"$/, '$1'))
    .filter((tag) => tag !== '')
  if (tags.length > 0) return tags
  throw new Refusal('invalid_argument', 'A condition names no entity tag: give one, or "*"')
}

/** For If-None-Match, where an intermediary may have weakened the tag that it hands back. [RFC 9110 13.1.2] */
export function weakTags(text: string): readonly string[] {
  return strongTags(text.replaceAll('W/"', '"'))
}
