/**
 * Which digests an assembled object can have: over all its bytes, or over the digests of its parts. [AWS S3 API reference: CreateMultipartUpload]
 */
import { Refusal } from '../../base/refusal.ts'
import type { ChecksumAlgorithm, ChecksumType } from '../../state-machine/bodies/records.ts'

/** The first is what S3 takes where a client does not say. Only CRCs of parts combine to that of the whole. */
const TYPES: Readonly<Record<ChecksumAlgorithm, readonly [ChecksumType, ...ChecksumType[]]>> = {
  CRC32: ['COMPOSITE', 'FULL_OBJECT'],
  CRC32C: ['COMPOSITE', 'FULL_OBJECT'],
  CRC64NVME: ['FULL_OBJECT'],
  SHA1: ['COMPOSITE'],
  SHA256: ['COMPOSITE'],
}

export function defaultChecksumType(algorithm: ChecksumAlgorithm): ChecksumType {
  return TYPES[algorithm][0]
}

/** Throws Refusal invalid_request. */
export function checkChecksumType(algorithm: ChecksumAlgorithm | null, type: ChecksumType): void {
  if (algorithm === null)
    throw new Refusal('invalid_request', `The checksum type ${type} needs a checksum algorithm beside it`)
  if (TYPES[algorithm].includes(type)) return
  throw new Refusal(
    'invalid_request',
    `The checksum type ${type} cannot be used with ${algorithm}: use ${TYPES[algorithm].join(' or ')}`,
  )
}
