/**
 * Objects, versions and common prefixes as the listings of S3 show them. [AWS S3 API reference: Object, ObjectVersion, DeleteMarkerEntry]
 *
 * Rule: the order of the elements is that of S3; clients that read a document as a stream rely on it.
 */
import { clientVersionId } from '../../../operations/objects/object-checks.ts'
import type { ListedObject, ListedVersion } from '../../../state-machine/versions/listed-version.ts'
import { timeText } from '../../wire.ts'
import type { Encoding } from './listing-query.ts'
import { element, leaf, type WrittenXml, type XmlElement, xmlText } from '../xml/write-xml.ts'

export const STORAGE_CLASS = 'STANDARD'

export const etagElement = (etag: string): XmlElement => element('ETag', `"${etag}"`)

export function prefixElements(prefixes: readonly string[], { text }: Encoding): WrittenXml {
  const lines = prefixes.map((prefix) => `<CommonPrefixes>${leaf('Prefix', text(prefix))}</CommonPrefixes>`)
  return { written: lines.join('') }
}

/** `owner`: null where the listing does not show it. */
export function contentsElements(
  objects: readonly ListedObject[],
  encoding: Encoding,
  owner: XmlElement | null,
): WrittenXml {
  const owned = owner === null ? '' : xmlText(owner)
  return { written: objects.map((object) => contentsText(object, encoding, owned)).join('') }
}

function contentsText(object: ListedObject, { text }: Encoding, owner: string): string {
  const place = `${leaf('Key', text(object.key))}<LastModified>${timeText(object.lastModified)}</LastModified>`
  const bytes = `${bytesText(object)}<Size>${object.size}</Size>`
  return `<Contents>${place}${bytes}${owner}<StorageClass>${STORAGE_CLASS}</StorageClass></Contents>`
}

export function versionElements(
  versions: readonly ListedVersion[],
  encoding: Encoding,
  owner: XmlElement,
): WrittenXml {
  const owned = xmlText(owner)
  return { written: versions.map((version) => versionText(version, encoding, owned)).join('') }
}

function versionText(version: ListedVersion, { text }: Encoding, owner: string): string {
  const ids = `<VersionId>${clientVersionId(version)}</VersionId><IsLatest>${version.isLatest}</IsLatest>`
  const place = `${leaf('Key', text(version.key))}${ids}<LastModified>${timeText(version.lastModified)}</LastModified>`
  if (version.kind === 'deleteMarker') return `<DeleteMarker>${place}${owner}</DeleteMarker>`
  const about = `<Size>${version.size}</Size><StorageClass>${STORAGE_CLASS}</StorageClass>`
  return `<Version>${place}${bytesText(version)}${about}${owner}</Version>`
}

/** Which checksums there are; their values come with the object. */
function bytesText({ etag, algorithms, isComposite }: ListedObject): string {
  let text = leaf('ETag', `"${etag}"`)
  for (const algorithm of algorithms) text += leaf('ChecksumAlgorithm', algorithm)
  return `${text}<ChecksumType>${isComposite ? 'COMPOSITE' : 'FULL_OBJECT'}</ChecksumType>`
}
