/**
 * Uploads and parts as S3 shows them. [AWS S3 API reference: MultipartUpload, Part]
 */
import type { Checksums, ChecksumType, PartRecord } from '../../state-machine/bodies/records.ts'
import type { UploadRecord } from '../../state-machine/objects/records.ts'
import type { ObjectRecord } from '../../state-machine/versions/records.ts'
import { timeText } from '../wire.ts'
import type { Encoding } from './listing-query.ts'
import { etagElement, STORAGE_CLASS } from './listing-view.ts'
import { ownerElement } from './service-routes.ts'
import { element, type XmlElement } from './xml/write-xml.ts'

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

/** Their values. */
export function checksumElements(checksums: Checksums): readonly XmlElement[] {
  return Object.entries(checksums).map(([algorithm, digest]) => element(`Checksum${algorithm}`, digest))
}

/** Values and type: an object has checksums of one type in S3. */
export function objectChecksumElements({
  checksums,
  composite,
}: Pick<ObjectRecord, 'checksums' | 'composite'>): readonly XmlElement[] {
  const type = (name: ChecksumType): XmlElement => element('ChecksumType', name)
  if (composite === undefined) return [...checksumElements(checksums), type('FULL_OBJECT')]
  return [element(`Checksum${composite.algorithm}`, composite.checksum), type('COMPOSITE')]
}

/** What an upload was created for. */
export function uploadChecksumElements({
  checksumAlg,
  checksumType,
}: Pick<UploadRecord, 'checksumAlg' | 'checksumType'>): readonly XmlElement[] {
  if (checksumAlg === null) return []
  const algorithm = element('ChecksumAlgorithm', checksumAlg)
  return checksumType === undefined ? [algorithm] : [algorithm, element('ChecksumType', checksumType)]
}
