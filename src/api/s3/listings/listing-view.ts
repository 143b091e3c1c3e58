/**
 * Objects, versions and common prefixes as the listings of S3 show them. [AWS S3 API reference: Object, ObjectVersion, DeleteMarkerEntry]
 *
 * Rule: the order of the elements is that of S3; clients that read a document as a stream rely on it.
 */
import { clientVersionId } from '../../../operations/objects/object-checks.ts'
import type { ObjectRecord, VersionRecord } from '../../../state-machine/versions/records.ts'
import { timeText } from '../../wire.ts'
import type { Encoding } from './listing-query.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

export const STORAGE_CLASS = 'STANDARD'

export const etagElement = (etag: string): XmlElement => element('ETag', `"${etag}"`)

export function prefixElements(prefixes: readonly string[], { text }: Encoding): readonly XmlElement[] {
  return prefixes.map((prefix) => element('CommonPrefixes', element('Prefix', text(prefix))))
}

/** `owner`: null where the listing does not show it. */
export function contentsElement(
  object: ObjectRecord,
  { text }: Encoding,
  owner: XmlElement | null,
): XmlElement {
  return element(
    'Contents',
    element('Key', text(object.key)),
    element('LastModified', timeText(object.lastModified)),
    etagElement(object.etag),
    ...checksumNames(object),
    element('Size', object.size),
    owner,
    element('StorageClass', STORAGE_CLASS),
  )
}

export function versionElement(version: VersionRecord, { text }: Encoding, owner: XmlElement): XmlElement {
  const isObject = version.kind === 'object'
  return element(
    isObject ? 'Version' : 'DeleteMarker',
    element('Key', text(version.key)),
    element('VersionId', clientVersionId(version)),
    element('IsLatest', `${version.newer === null}`),
    element('LastModified', timeText(version.lastModified)),
    ...(isObject ? bytesElements(version) : []),
    owner,
  )
}

function bytesElements(object: ObjectRecord): readonly XmlElement[] {
  const about = [element('Size', object.size), element('StorageClass', STORAGE_CLASS)]
  return [etagElement(object.etag), ...checksumNames(object), ...about]
}

/** Which there are; their values come with the object. */
function checksumNames({ checksums, composite }: ObjectRecord): readonly XmlElement[] {
  const names = composite === undefined ? Object.keys(checksums) : [composite.algorithm]
  const type = element('ChecksumType', composite === undefined ? 'FULL_OBJECT' : 'COMPOSITE')
  return [...names.map((name) => element('ChecksumAlgorithm', name)), type]
}
