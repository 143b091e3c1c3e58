/**
 * The XML or JSON body of a request of the S3 API: proved as any body, bounded, and read once it is whole.
 *
 * Rule: nothing of a body is looked at before its digests and its signature are right.
 */
import { Readable } from 'node:stream'
import { Refusal } from '../../../base/refusal.ts'
import { joinClaims } from '../../../content/checksums.ts'
import { readJsonBody, verifyBody } from '../../json-body.ts'
import { S3Fault } from '../base/s3-errors.ts'
import type { S3Bytes, S3Route } from '../base/s3-route.ts'
import { type ReadElement, readXml } from '../xml/read-xml.ts'

/** S3 nests no document deeper than this. */
const DEPTH_MAX = 16

type XmlBody = Extract<S3Route['body'], { readonly kind: 'xml' }>
type JsonBody = Extract<S3Route['body'], { readonly kind: 'json' }>

/** Null: there is no body. Throws S3Fault, MalformedXmlError, Refusal, SignatureFault. */
export async function readXmlBody(
  bytes: S3Bytes,
  { root, isRequired, bytesMax, elementsMax }: XmlBody,
): Promise<ReadElement | null> {
  const body = await readWholeBody(bytes, bytesMax)
  if (body.length === 0) {
    if (!isRequired) return null
    throw new S3Fault('MalformedXML', `The body is empty: expected a document <${root}>`)
  }
  const element = await readXml(Readable.from([body]), { bytesMax, elementsMax, depthMax: DEPTH_MAX })
  if (element.name === root) return element
  throw new S3Fault(
    'MalformedXML',
    `The body is a document <${element.name.slice(0, 80)}>: expected <${root}>`,
  )
}

/** Undefined: there is no body. Throws S3Fault, Refusal, SignatureFault. */
export async function readJson(bytes: S3Bytes, { bytesMax, namesMax }: JsonBody): Promise<unknown> {
  const body = await readWholeBody(bytes, bytesMax)
  const names = { schema: null, namesMax }
  return readJsonBody(Readable.from([body]), { bytesMax, claims: new Map(), names, trailers: () => ({}) })
}

/** Proved, and as it was claimed. Throws S3Fault, Refusal, SignatureFault. */
async function readWholeBody(
  { source, length, claimed, trailing }: S3Bytes,
  bytesMax: number,
): Promise<Buffer> {
  if (length !== null && length > bytesMax) throw tooLarge(bytesMax)
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of source) {
    bytes += piece.length
    if (bytes > bytesMax) throw tooLarge(bytesMax)
    // The piece is given back when the next one is asked for.
    pieces.push(Buffer.from(piece))
  }
  if (length !== null && bytes < length)
    throw new S3Fault('IncompleteBody', `The body ended after ${bytes} of ${length} bytes`)
  const body = Buffer.concat(pieces)
  verifyBody(body, trailing === undefined ? claimed : joinClaims(claimed, trailing.read()))
  return body
}

function tooLarge(bytesMax: number): Refusal {
  return new Refusal('entity_too_large', `The body is larger than the ${bytesMax} bytes of this request`)
}
