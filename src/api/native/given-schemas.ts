/**
 * The schemas of what clients give in JSON bodies, with what the operations refuse. [decisions 0, 3, 5]
 */
import Type from 'typebox'
import { PRINTABLE_PATTERN } from '../../base/printable.ts'
import { BUCKET_NAME } from '../../operations/buckets/bucket-name.ts'
import {
  CONTENT_TYPE,
  CONTENT_TYPE_CHARACTERS_MAX,
  HEADER_TEXT_PATTERN,
  METADATA_NAME,
  REPRESENTATION_BYTES_MAX,
} from '../../operations/objects/description.ts'
import { TAG_NAME_CHARACTERS_MAX, TAG_VALUE_CHARACTERS_MAX, TAGS_MAX } from '../../operations/base/tags.ts'
import { documented } from '../documented.ts'

export const BucketName = Type.String(documented({ pattern: BUCKET_NAME }))
export const ObjectKey = Type.String(documented({ minLength: 1, maxLength: 1024, pattern: '^[^\\u0000]*$' }))
export const CONTENT_TYPE_FACTS = documented({
  minLength: 1,
  maxLength: CONTENT_TYPE_CHARACTERS_MAX,
  pattern: CONTENT_TYPE.source,
})
export const ContentType = Type.String(CONTENT_TYPE_FACTS)
/** A value of a header: no control characters, no spaces at its ends. */
export const HeaderText = Type.String(
  documented({ maxLength: REPRESENTATION_BYTES_MAX, pattern: HEADER_TEXT_PATTERN }),
)
export const Metadata = Type.Record(
  Type.String(),
  Type.String(documented({ pattern: HEADER_TEXT_PATTERN })),
  documented({
    propertyNames: { pattern: METADATA_NAME.source, not: { const: '__proto__' } },
    description: 'Names and values as headers carry them, 2 KiB in all',
  }),
)
export const Tags = Type.Record(
  Type.String(),
  Type.String(documented({ maxLength: TAG_VALUE_CHARACTERS_MAX, pattern: PRINTABLE_PATTERN })),
  documented({
    maxProperties: TAGS_MAX,
    propertyNames: {
      minLength: 1,
      maxLength: TAG_NAME_CHARACTERS_MAX,
      pattern: PRINTABLE_PATTERN,
      not: { const: '__proto__' },
    },
    description: `At most ${TAGS_MAX}; values of at most ${TAG_VALUE_CHARACTERS_MAX} characters`,
  }),
)
/** RFC 3339. */
export const GivenTime = Type.String(documented({ format: 'date-time' }))
