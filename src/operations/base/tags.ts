/**
 * The tags that an object or a bucket may have. [decisions 5] [AWS S3 API: PutBucketTagging]
 */
import { UNPRINTABLE } from '../../base/printable.ts'
import { Refusal } from '../../base/refusal.ts'
import type { Tags } from '../../state-machine/versions/records.ts'

export const TAGS_MAX = 10
/** Of a bucket. */
export const BUCKET_TAGS_MAX = 50
export const TAG_NAME_CHARACTERS_MAX = 128
export const TAG_VALUE_CHARACTERS_MAX = 256

/** Throws Refusal invalid_tag. */
export function checkTags(entries: Iterable<readonly [name: string, value: string]>): Tags {
  const tags = validTags(entries)
  const count = Object.keys(tags).length
  if (count <= TAGS_MAX) return tags
  throw new Refusal('invalid_tag', `An object has at most ${TAGS_MAX} tags, these are ${count}`)
}

/** The same for a bucket; names that begin with "aws:" belong to AWS there. Throws Refusal invalid_tag. */
export function checkBucketTags(entries: Iterable<readonly [name: string, value: string]>): Tags {
  const tags = validTags(entries)
  const names = Object.keys(tags)
  const reserved = names.find((name) => name.toLowerCase().startsWith('aws:'))
  if (reserved !== undefined)
    throw new Refusal(
      'invalid_tag',
      `Tag "${reserved}" is not accepted: names that begin with "aws:" are reserved`,
    )
  if (names.length <= BUCKET_TAGS_MAX) return tags
  throw new Refusal('invalid_tag', `A bucket has at most ${BUCKET_TAGS_MAX} tags, these are ${names.length}`)
}

function validTags(entries: Iterable<readonly [name: string, value: string]>): Tags {
  const tags = new Map<string, string>()
  for (const [name, value] of entries) {
    const fault = tagFault(name, value)
    if (fault !== null)
      throw new Refusal('invalid_tag', `Tag "${name.slice(0, 140)}" is not accepted: ${fault}`)
    if (tags.has(name)) throw new Refusal('invalid_tag', `Tag "${name}" is given more than once`)
    tags.set(name, value)
  }
  return Object.fromEntries(tags)
}

function tagFault(name: string, value: string): string | null {
  // "__proto__" means something to every object it is put into, here and in the clients that read it back.
  if (name === '' || name === '__proto__') return 'this is no name'
  if (charactersOf(name) > TAG_NAME_CHARACTERS_MAX)
    return `a name has at most ${TAG_NAME_CHARACTERS_MAX} characters`
  if (charactersOf(value) > TAG_VALUE_CHARACTERS_MAX)
    return `a value has at most ${TAG_VALUE_CHARACTERS_MAX} characters`
  return UNPRINTABLE.test(name + value) ? 'it holds control characters' : null
}

const charactersOf = (text: string): number => Array.from(text).length
