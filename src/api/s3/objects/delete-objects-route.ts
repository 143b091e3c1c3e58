/**
 * The route that deletes many objects at once in the S3 API. No rules here. [AWS S3 API reference: DeleteObjects]
 */
import { batchDeleteObjects, type ItemResult } from '../../../operations/objects/batch-delete-objects.ts'
import { clientVersionId } from '../../../operations/objects/object-checks.ts'
import { asksToBypass, BYPASS_HEADER } from './bypass-header.ts'
import { DELETION, readDeletion } from './delete-objects-body.ts'
import { s3CodeOf, S3Fault } from '../base/s3-errors.ts'
import { type S3Bytes, type S3Route, s3Route } from '../base/s3-route.ts'
import { xmlAnswer } from '../base/xml-answers.ts'
import { element, type XmlElement, xmlSafe } from '../xml/write-xml.ts'

export const deleteObjectsRoutes: readonly S3Route[] = [
  s3Route(
    batchDeleteObjects,
    {
      action: 'DeleteObjects',
      method: 'POST',
      level: 'bucket',
      marks: ['delete'],
      headers: [BYPASS_HEADER],
      body: DELETION,
      note: 'An object may be named with its ETag; with LastModifiedTime or Size it is refused.',
    },
    async (services, principal, { bucket, headers, xml, bytes }) => {
      requireDigest(bytes)
      const { objects, isQuiet } = readDeletion(xml)
      const bypassGovernance = asksToBypass(headers)
      const input = { bucket, objects, bypassGovernance }
      const { results } = await batchDeleteObjects(services, principal, input)
      const reported = isQuiet ? results.filter(({ outcome }) => 'code' in outcome) : results
      return xmlAnswer(element('DeleteResult', ...reported.map(resultElement)))
    },
  ),
]

/** A body that was changed in flight would delete other objects. Throws S3Fault InvalidRequest. */
function requireDigest({ claimed, trailing }: S3Bytes): void {
  if (claimed.size > 0 || trailing !== undefined) return
  throw new S3Fault(
    'InvalidRequest',
    'DeleteObjects needs a digest of its body: send Content-MD5 or x-amz-checksum-<algorithm>',
  )
}

function resultElement({ key, versionId, outcome }: ItemResult): XmlElement {
  const name = [element('Key', key), versionId !== undefined && element('VersionId', versionId)]
  if ('code' in outcome)
    return element(
      'Error',
      ...name,
      element('Code', s3CodeOf(outcome.code)),
      element('Message', xmlSafe(outcome.message)),
    )
  const { version } = outcome
  const marker =
    version?.kind === 'deleteMarker'
      ? [element('DeleteMarker', 'true'), element('DeleteMarkerVersionId', clientVersionId(version))]
      : []
  return element('Deleted', ...name, ...marker)
}
