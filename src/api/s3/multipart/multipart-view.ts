/**
 * Uploads and parts as S3 shows them. [AWS S3 API reference: MultipartUpload, Part]
 */
import type { PartRecord } from '../../../state-machine/bodies/records.ts'
import type { UploadRecord } from '../../../state-machine/objects/records.ts'
import { timeText } from '../../wire.ts'
import { checksumElements, uploadChecksumElements } from '../objects/checksum-elements.ts'
import type { Encoding } from '../listings/listing-query.ts'
import { etagElement, STORAGE_CLASS } from '../listings/listing-view.ts'
import { ownerElement } from '../base/xml-answers.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

export function uploadElement(upload: UploadRecord, { text }: Encoding, tenantId: string): XmlElement {
  const { key, uploadId, createdAt } = upload
  return element(
    'Upload',
    element('Key', text(key)),
    element('UploadId', uploadId),
    ownerElement('Initiator', tenantId),
    ownerElement('Owner', tenantId),
    element('StorageClass', STORAGE_CLASS),
    element('Initiated', timeText(createdAt)),
    ...uploadChecksumElements(upload),
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
