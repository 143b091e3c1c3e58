/**
 * Configurations of a bucket that nothing here has: the truth about each is that there is none, as S3 says it. Setting one is refused by its name.
 */
import { getBucket } from '../../../operations/buckets/bucket-lookups.ts'
import type { S3Code } from '../base/s3-codes.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { element } from '../xml/write-xml.ts'

const NOTE = 'Answers that there is none.'

/** Without a configuration S3 answers an error of its own. */
const MISSING: readonly (readonly [action: string, mark: string, code: S3Code])[] = [
  ['GetBucketWebsite', 'website', 'NoSuchWebsiteConfiguration'],
]

/** Without a configuration S3 answers an empty one. */
const EMPTY: readonly (readonly [action: string, mark: string, root: string])[] = [
  ['GetBucketLogging', 'logging', 'BucketLoggingStatus'],
  ['GetBucketAccelerateConfiguration', 'accelerate', 'AccelerateConfiguration'],
]

export const absentRoutes: readonly S3Route[] = [
  ...MISSING.map(([action, mark, code]) =>
    s3Route(
      getBucket,
      { action, method: 'GET', level: 'bucket', marks: [mark], note: NOTE },
      async (services, principal, { bucket }) => {
        await getBucket(services, principal, { bucket })
        throw new S3Fault(code, `Bucket "${bucket}" has no configuration of this kind`)
      },
    ),
  ),
  ...EMPTY.map(([action, mark, root]) =>
    s3Route(
      getBucket,
      { action, method: 'GET', level: 'bucket', marks: [mark], note: NOTE },
      async (services, principal, { bucket }) => {
        await getBucket(services, principal, { bucket })
        return xmlAnswer(element(root))
      },
    ),
  ),
]
