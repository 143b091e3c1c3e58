/**
 * What answers of the S3 API have in common: a document, an owner; and numbers in queries.
 */
import type { Answer } from '../../route.ts'
import { S3Fault } from './s3-errors.ts'
import { element, type XmlElement, xmlDocument } from '../xml/write-xml.ts'

/** The tenant owns all that is in it. */
export function ownerElement(name: 'Owner' | 'Initiator', tenantId: string): XmlElement {
  return element(name, element('ID', tenantId), element('DisplayName', tenantId))
}

export function xmlAnswer(root: XmlElement, headers: Readonly<Record<string, string>> = {}): Answer {
  return { kind: 'ready', contentType: 'application/xml', bytes: xmlDocument(root), headers }
}

/** Undefined: the query does not have it. Throws S3Fault InvalidArgument. */
export function wholeNumber(query: Readonly<Record<string, string>>, name: string): number | undefined {
  const text = query[name]
  if (text === undefined || text === '') return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new S3Fault(
    'InvalidArgument',
    `The parameter ${name} is "${text.slice(0, 80)}": expected a whole number from 0 to 2147483647`,
  )
}
