/**
 * Digests of objects, parts and uploads as elements. [AWS S3 API reference: Checksum]
 */
import type { Checksums, ChecksumType } from '../../../state-machine/bodies/records.ts'
import type { UploadRecord } from '../../../state-machine/objects/records.ts'
import type { ObjectRecord } from '../../../state-machine/versions/records.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

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
