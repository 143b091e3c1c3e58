/**
 * Uploads and parts as S3 shows them. [AWS S3 API reference: MultipartUpload, Part]
 */
import type { Checksums, PartRecord } from '../../state-machine/bodies/records.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import { timeText } from '../wire.ts'
import type { Encoding } from './listing-query.ts'
import { etagElement, STORAGE_CLASS } from './listing-view.ts'
import { ownerElement } from './service-routes.ts'
import { element, type XmlElement } from './xml/write-xml.ts'

export function uploadElement(
  { key, uploadId, createdAt, checksumAlg }: UploadRecord,
  { text }: Encoding,
  tenantId: string,
): XmlElement {
  return element(
    'Upload',
    element('Key', text(key)),
    element('UploadId', uploadId),
    ownerElement('Initiator', tenantId),
    ownerElement('Owner', tenantId),
    element('StorageClass', STORAGE_CLASS),
    element('Initiated', timeText(createdAt)),
    checksumAlg !== null && element('ChecksumAlgorithm', checksumAlg),
  )
}

export function partElement({ partNumber, lastModified, etag, size, checksums }: PartRecord): XmlElement {
  return element(
    'Part',
    element('PartNumber', partNumber),
    element('LastModified', timeText(lastModified)),
    etagElement(etag),
    element('Size', size),
    ...checksumElements(checksums),
  )
}

/** Their values. */
export function checksumElements(checksums: Checksums): readonly XmlElement[] {
  return Object.entries(checksums).map(([algorithm, digest]) => element(`Checksum${algorithm}`, digest))
}
