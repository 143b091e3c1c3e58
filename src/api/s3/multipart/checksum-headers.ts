/**
 * Headers that say how the digest of an assembled object is made, and what it is claimed to be. [AWS S3 API reference: CreateMultipartUpload,
 * CompleteMultipartUpload]
 */
import type { IncomingHttpHeaders } from 'node:http'
import { parseAlgorithm } from '../../../content/checksums.ts'
import { parseDigestOfParts } from '../../../content/composite-checksum.ts'
import { defaultChecksumType } from '../../../operations/multipart/checksum-type.ts'
import type { ChecksumAlgorithm, ChecksumType } from '../../../state-machine/bodies/records.ts'
import type { UploadRecord } from '../../../state-machine/objects/records.ts'
import { headerText } from '../../header-text.ts'
import { claimedChecksums } from '../base/s3-bytes.ts'
import { S3Fault } from '../base/s3-errors.ts'

export const CHECKSUM_TYPE = 'x-amz-checksum-type'
const TYPES = ['COMPOSITE', 'FULL_OBJECT'] as const satisfies readonly ChecksumType[]

/** Of an upload that starts. Throws S3Fault InvalidRequest, Refusal checksum_unsupported. */
export function readUploadChecksum(headers: IncomingHttpHeaders): {
  readonly checksumAlg: ChecksumAlgorithm | null
  readonly checksumType?: ChecksumType
} {
  const name = headerText(headers, 'x-amz-checksum-algorithm')
  const given = readType(headers)
  if (name === undefined)
    return given === null ? { checksumAlg: null } : { checksumAlg: null, checksumType: given }
  const checksumAlg = parseAlgorithm(name)
  return { checksumAlg, checksumType: given ?? defaultChecksumType(checksumAlg) }
}

/** Of an object of so many parts. Throws S3Fault InvalidRequest, Refusal checksum_malformed, checksum_mismatch, checksum_unsupported. */
export function readClaimsOfWhole(
  headers: IncomingHttpHeaders,
  partCount: number,
): {
  readonly claimed: ReadonlyMap<ChecksumAlgorithm, Uint8Array>
  readonly checksumType: ChecksumType | null
} {
  let checksumType = readType(headers)
  const claimed = new Map<ChecksumAlgorithm, Uint8Array>()
  for (const [name, text] of claimedChecksums(headers)) {
    const algorithm = parseAlgorithm(name)
    const { digest, isComposite } = parseDigestOfParts(algorithm, text, partCount)
    claimed.set(algorithm, digest)
    if (isComposite) checksumType ??= 'COMPOSITE'
  }
  return { claimed, checksumType }
}

/** What an upload was created for. */
export function uploadChecksumHeaders({
  checksumAlg,
  checksumType,
}: Pick<UploadRecord, 'checksumAlg' | 'checksumType'>): Record<string, string> {
  return {
    ...(checksumAlg === null ? {} : { 'x-amz-checksum-algorithm': checksumAlg }),
    ...(checksumType === undefined ? {} : { [CHECKSUM_TYPE]: checksumType }),
  }
}

/** Null: it is not given. */
function readType(headers: IncomingHttpHeaders): ChecksumType | null {
  const text = headerText(headers, CHECKSUM_TYPE)
  if (text === undefined) return null
  const type = TYPES.find((one) => one === text.toUpperCase())
  if (type !== undefined) return type
  throw new S3Fault(
    'InvalidRequest',
    `${CHECKSUM_TYPE} is "${text.slice(0, 80)}": give ${TYPES.join(' or ')}`,
  )
}
