/**
 * The body of DeleteObjects: which keys and versions. [AWS S3 API reference: Delete]
 *
 * Rules: only its form is read here; what is no key fails by itself. A condition of an item that is not carried out is refused by name: one
 * that is ignored in silence is a lost object.
 */
import { strongTags } from '../../../operations/objects/entity-tags.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { MalformedXmlError, type ReadElement } from '../xml/read-xml.ts'

/** 1,000 keys of 1,024 bytes, however they are escaped. */
export const DELETION = {
  kind: 'xml',
  root: 'Delete',
  isRequired: true,
  bytesMax: 8 * 1024 * 1024,
  elementsMax: 10_000,
} as const
const OBJECTS_MAX = 1000
const UNSUPPORTED = ['LastModifiedTime', 'Size']

export interface ItemToDelete {
  readonly key: string
  readonly versionId?: string
  /** Etags of the version that is to go. */
  readonly ifMatch?: readonly string[]
}

export interface Deletion {
  readonly objects: readonly ItemToDelete[]
  /** Only what was refused is answered. */
  readonly isQuiet: boolean
}

/** Throws MalformedXmlError, S3Fault NotImplemented, Refusal invalid_argument. */
export function readDeletion(root: ReadElement | null): Deletion {
  const objects = (root?.childrenNamed('Object') ?? []).map(itemOf)
  if (objects.length < 1 || objects.length > OBJECTS_MAX)
    throw new MalformedXmlError(`Delete has ${objects.length} objects: name 1 to ${OBJECTS_MAX}`)
  return { objects, isQuiet: root?.textOf('Quiet')?.trim().toLowerCase() === 'true' }
}

function itemOf(object: ReadElement): ItemToDelete {
  const condition = UNSUPPORTED.find((name) => object.child(name) !== null)
  if (condition !== undefined)
    throw new S3Fault('NotImplemented', `The condition ${condition} of an object to delete is not supported`)
  const versionId = object.textOf('VersionId')?.trim() ?? ''
  const etag = object.textOf('ETag')
  return {
    key: object.needed('Key').text,
    ...(versionId === '' ? {} : { versionId }),
    ...(etag === null ? {} : { ifMatch: strongTags(etag) }),
  }
}
