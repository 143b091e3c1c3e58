/**
 * What GetObjectAttributes asks for and answers. [AWS S3 API reference: GetObjectAttributes]
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { ObjectPartsPage } from '../../../operations/objects/get-object-parts.ts'
import type { DescribedPart } from '../../../operations/objects/object-parts.ts'
import type { ObjectRecord } from '../../../state-machine/versions/records.ts'
import { headerText } from '../../header-text.ts'
import { STORAGE_CLASS } from '../../native/object-view.ts'
import { checksumElements, objectChecksumElements } from './checksum-elements.ts'
import { S3Fault } from '../base/s3-errors.ts'
import { element, type XmlElement } from '../xml/write-xml.ts'

const NAMES = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const
type AttributeName = (typeof NAMES)[number]

export interface AskedAttributes {
  readonly names: ReadonlySet<AttributeName>
  readonly maxParts: number | undefined
  readonly partNumberMarker: number | undefined
}

/** Throws S3Fault InvalidArgument, InvalidRequest. */
export function readAttributes(headers: IncomingHttpHeaders): AskedAttributes {
  const given = (headerText(headers, 'x-amz-object-attributes') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (given.length === 0)
    throw new S3Fault(
      'InvalidRequest',
      `x-amz-object-attributes is missing: give some of ${NAMES.join(', ')}`,
    )
  const names = given.map((name) => {
    const known = NAMES.find((candidate) => candidate === name)
    if (known !== undefined) return known
    throw new S3Fault(
      'InvalidArgument',
      `x-amz-object-attributes has "${name.slice(0, 80)}", which is not one of ${NAMES.join(', ')}`,
    )
  })
  return {
    names: new Set(names),
    maxParts: numberIn(headers, 'x-amz-max-parts'),
    partNumberMarker: numberIn(headers, 'x-amz-part-number-marker'),
  }
}

function numberIn(headers: IncomingHttpHeaders, name: string): number | undefined {
  const text = headerText(headers, name)
  if (text === undefined) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new S3Fault('InvalidArgument', `${name} is "${text.slice(0, 80)}": expected a whole number`)
}

export function attributesElement(page: ObjectPartsPage, { names }: AskedAttributes): XmlElement {
  const { object } = page
  return element(
    'GetObjectAttributesResponse',
    names.has('ETag') && element('ETag', object.etag),
    names.has('Checksum') && checksumElement(object),
    names.has('ObjectParts') && page.partCount !== null && partsElement(page, page.partCount),
    names.has('StorageClass') && element('StorageClass', STORAGE_CLASS),
    names.has('ObjectSize') && element('ObjectSize', object.size),
  )
}

const checksumElement = (object: ObjectRecord): XmlElement =>
  element('Checksum', ...objectChecksumElements(object))

function partsElement(
  { parts, next, maxParts, partNumberMarker }: ObjectPartsPage,
  count: number,
): XmlElement {
  return element(
    'ObjectParts',
    element('PartsCount', count),
    element('PartNumberMarker', partNumberMarker),
    next !== null && element('NextPartNumberMarker', next),
    element('MaxParts', maxParts),
    element('IsTruncated', `${next !== null}`),
    ...parts.map(partElement),
  )
}

function partElement({ number, size, checksums }: DescribedPart): XmlElement {
  return element(
    'Part',
    ...checksumElements(checksums ?? {}),
    element('PartNumber', number),
    element('Size', size),
  )
}
