/**
 * The error document of another S3 store. [AWS S3 API reference: Error responses]
 *
 * Owns: its members, and the code of an answer without one. Rules: what cannot be read has no members, because a proxy in front of a store answers
 * with its own page; at most ERROR_BYTES_MAX of an answer are read.
 */
import { MalformedXmlError, readXml } from '../api/s3/xml/read-xml.ts'

export const ERROR_BYTES_MAX: number = 64 * 1024

/** Members of an error document that are used; null: it has none. */
export interface ErrorDocument {
  readonly code: string | null
  readonly message: string | null
  readonly region: string | null
  readonly endpoint: string | null
}

/** HEAD has no body, and a proxy in front of the store answers with its own page. */
const CODE_OF_STATUS: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  307: 'TemporaryRedirect',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  405: 'MethodNotAllowed',
  412: 'PreconditionFailed',
  416: 'InvalidRange',
  501: 'NotImplemented',
}

/** The code of the document; without one it is made of the status. */
export const s3CodeOf = ({ code }: ErrorDocument, status: number): string =>
  code ?? CODE_OF_STATUS[status] ?? `Status${status}`

export async function errorDocument(body: Uint8Array): Promise<ErrorDocument> {
  try {
    const root = await readXml([body], { bytesMax: ERROR_BYTES_MAX, elementsMax: 100, depthMax: 8 })
    const error = root.name === 'Error' ? root : (root.child('Error') ?? root)
    const textOf = (name: string): string | null => error.textOf(name)?.trim() || null
    return {
      code: textOf('Code'),
      message: textOf('Message'),
      region: textOf('Region'),
      endpoint: textOf('Endpoint'),
    }
  } catch (cause) {
    if (!(cause instanceof MalformedXmlError)) throw cause
    return { code: null, message: null, region: null, endpoint: null }
  }
}

/** The first bytes of an answer, and no more: a page of a proxy may be of any size. */
export async function errorBytes(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= ERROR_BYTES_MAX) break
  }
  return Buffer.concat(pieces).subarray(0, ERROR_BYTES_MAX)
}
