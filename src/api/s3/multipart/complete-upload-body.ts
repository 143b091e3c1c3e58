/**
 * The body of CompleteMultipartUpload: which parts, in which order. [AWS S3 API reference: CompletedMultipartUpload]
 *
 * Rule: only its form is read here; whether the parts are those that were uploaded is known to the operation.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseClaims } from '../../../content/checksums.ts'
import type { NamedPart } from '../../../operations/multipart/named-parts.ts'
import { MalformedXmlError, type ReadElement } from '../xml/read-xml.ts'

/** 10,000 parts, each with its number, its tag and all checksums that S3 knows. */
export const COMPLETION = {
  kind: 'xml',
  root: 'CompleteMultipartUpload',
  isRequired: true,
  bytesMax: 8 * 1024 * 1024,
  elementsMax: 100_000,
} as const

const CHECKSUM = 'Checksum'

/** Read in one turn of the event loop: a millisecond or two. */
const PARTS_PER_TURN = 200

/** Throws MalformedXmlError, Refusal checksum_malformed, checksum_unsupported. */
export async function readCompletedParts(root: ReadElement | null): Promise<readonly NamedPart[]> {
  const parts: NamedPart[] = []
  for (const part of root?.childrenNamed('Part') ?? []) {
    parts.push({
      partNumber: numberOf(part.needed('PartNumber').text),
      etag: part.needed('ETag').text.trim(),
      claimed: parseClaims(claimsIn(part)),
    })
    if (parts.length % PARTS_PER_TURN === 0) await nextTurn()
  }
  if (parts.length > 0) return parts
  throw new MalformedXmlError('CompleteMultipartUpload has no Part: name those that make the object')
}

/** Such as ChecksumCRC32. */
function claimsIn({ children }: ReadElement): readonly (readonly [algorithm: string, digest: string])[] {
  return children
    .filter(({ name }) => name.startsWith(CHECKSUM))
    .map(({ name, text }) => [name.slice(CHECKSUM.length), text.trim()] as const)
}

function numberOf(text: string): number {
  if (/^\s*\d{1,9}\s*$/.test(text)) return Number(text)
  throw new MalformedXmlError(`The PartNumber "${text.slice(0, 40)}" is no whole number`)
}
