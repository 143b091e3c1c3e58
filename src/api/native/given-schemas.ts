/**
 * The schemas of what clients give in JSON bodies, with what the operations refuse. [decisions 0, 3, 5]
 */
import Type from 'typebox'
import { BUCKET_NAME } from '../../operations/buckets/bucket-name.ts'
import { documented } from '../documented.ts'

export const BucketName = Type.String(documented({ pattern: BUCKET_NAME }))
export const ObjectKey = Type.String(documented({ minLength: 1, maxLength: 1024, pattern: '^[^\\u0000]*$' }))
export const ContentType = Type.String(
  documented({ minLength: 1, maxLength: 256, pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$' }),
)
/** A value of a header: no control characters, no spaces at its ends. */
export const HeaderText = Type.String(
  documented({
    maxLength: 2048,
    pattern: '^([^\\s\\u0000-\\u001f\\u007f-\\u009f](.*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?)?$',
  }),
)
export const Metadata = Type.Record(
  Type.String(),
  Type.String(),
  documented({
    propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
    description: 'Names and values as headers carry them, 2 KiB in all',
  }),
)
export const Tags = Type.Record(
  Type.String(),
  Type.String(),
  documented({
    maxProperties: 10,
    propertyNames: { minLength: 1, maxLength: 128, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' },
    description: 'At most 10; values of at most 256 characters',
  }),
)
/** RFC 3339. */
export const GivenTime = Type.String(documented({ format: 'date-time' }))
