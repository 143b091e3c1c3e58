/**
 * Copies of whole objects in the S3 API. No rules here. [AWS S3 API reference: CopyObject]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { copyObject } from '../../../operations/objects/copy-object.ts'
import { headerText } from '../../header-text.ts'
import { readPrecondition } from '../../native/precondition-headers.ts'
import { timeText } from '../../wire.ts'
import { COPY_SOURCE, readCopySource, readSourceConditions, SOURCE_HEADERS } from './copy-headers.ts'
import { etagElement } from '../listings/listing-view.ts'
import { objectChecksumElements } from './checksum-elements.ts'
import { encryptionHeaders, readS3Key, readS3SourceKey } from '../base/s3-encryption.ts'
import { s3VersionHeaders, sourceVersionHeaders } from './object-headers.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { LATE_NOTE, type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { NEW_OBJECT_HEADERS, readNewObject, wantedChecksum } from './upload-headers.ts'
import { element } from '../xml/write-xml.ts'

const OF_METADATA = 'x-amz-metadata-directive'
const OF_TAGS = 'x-amz-tagging-directive'

export const copyRoutes: readonly S3Route[] = [
  s3Route(
    copyObject,
    {
      action: 'CopyObject',
      method: 'PUT',
      level: 'object',
      markHeader: COPY_SOURCE,
      headers: [...NEW_OBJECT_HEADERS, ...SOURCE_HEADERS, OF_METADATA, OF_TAGS],
      isSlow: true,
      codes: { entity_too_large: 'InvalidRequest' },
      note: `A copy of an assembled object keeps its ETag and its parts. ${LATE_NOTE}`,
    },
    async (services, principal, { bucket, key, headers, inTurns, signal }) => {
      const { tags, retention, legalHold, ...replacement } = readNewObject(headers)
      const [algorithm] = wantedChecksum(headers)
      const customer = readS3Key(headers, principal)
      const customerKey = readS3SourceKey(headers, principal)?.key
      const copied = await copyObject(services, principal, {
        bucket,
        key,
        source: { ...readCopySource(headers), customerKey },
        customerKey: customer?.key,
        reading: { inTurns, signal },
        etag: 'md5',
        conditions: readSourceConditions(headers),
        replacement: isReplaced(headers, OF_METADATA) ? replacement : null,
        tags: isReplaced(headers, OF_TAGS) ? tags : null,
        retention,
        legalHold,
        ...(algorithm === undefined ? {} : { digest: { algorithm, inTurns, signal } }),
        precondition: readPrecondition(headers),
      })
      const { object } = copied
      return xmlAnswer(
        element(
          'CopyObjectResult',
          element('LastModified', timeText(object.lastModified)),
          etagElement(object.etag),
          ...objectChecksumElements(object),
        ),
        {
          ...encryptionHeaders(customer),
          ...s3VersionHeaders(copied.bucket, object),
          ...sourceVersionHeaders(copied.source),
        },
      )
    },
  ),
]

/** COPY, as if nothing were said, ignores what the request says of the object. Throws S3Fault InvalidArgument. */
function isReplaced(headers: IncomingHttpHeaders, name: string): boolean {
  const directive = headerText(headers, name) ?? 'COPY'
  if (directive === 'REPLACE') return true
  if (directive === 'COPY') return false
  const shown = directive.slice(0, 80)
  const elements = { ArgumentName: name, ArgumentValue: shown }
  throw new S3Fault('InvalidArgument', `${name} is "${shown}": give COPY or REPLACE`, { elements })
}
